package runner

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/olmgraft/graft/internal/failure"
)

// Log is a program's output for people. On a runner it defuses each line. On a terminal it escapes what a person
// does not see, because a terminal obeys escape sequences. Output that is redirected into a file, and a pipe
// elsewhere than on a runner, stays unchanged. Only this package can make one.
type Log struct {
	mu    sync.Mutex
	to    io.Writer
	on    bool
	quiet bool
	shown bool // the last line is a status
	state state
}

// NewLog returns a Log for a writer. onRunner applies unless the writer is a file.
func NewLog(to io.Writer, onRunner bool) *Log {
	l := &Log{to: to}
	info, ok := l.stat()
	l.on = onRunner && (!ok || !info.Mode().IsRegular())
	l.state.terminal = !l.on && l.IsTerminal()
	return l
}

// Write accepts text from any source. An incomplete character, or a possible half of a line's end, is written
// together with the text after it.
func (l *Log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quiet {
		return len(text), nil
	}
	if err := l.clear(); err != nil {
		return 0, err
	}
	if !l.on && !l.state.terminal {
		return l.to.Write(text)
	}
	if _, err := l.to.Write(l.state.defuse(text, false)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Quiet drops all output until it is turned off.
func (l *Log) Quiet(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet = on
}

// Status shows one line on a terminal and replaces the previous status. "" removes it, and so does the next text.
func (l *Log) Status(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quiet || l.clear() != nil || line == "" {
		return
	}
	// A longer line would continue on the next one, which cannot be removed.
	width := 80
	if f, ok := l.to.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			width = columns
		}
	}
	_, err := io.WriteString(l.to, fitted(line, width-1))
	l.shown = err == nil
}

// fitted returns the beginning of a line that fits into columns, with a question mark for each character that a
// person does not see. Characters of East Asian scripts take two columns.
func fitted(line string, columns int) string {
	var out strings.Builder
	for _, r := range line {
		if hidden(r) || r == '\n' || r == '\t' {
			r = '?'
		}
		if columns--; r >= '\u1100' {
			columns--
		}
		if columns < 0 {
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}

// clear removes the status.
func (l *Log) clear() error {
	if !l.shown {
		return nil
	}
	l.shown = false
	_, err := io.WriteString(l.to, "\r\x1b[K")
	return err
}

// IsTerminal reports whether the output is a terminal.
func (l *Log) IsTerminal() bool {
	f, ok := l.to.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (l *Log) stat() (info os.FileInfo, ok bool) {
	f, ok := l.to.(*os.File)
	if !ok {
		return nil, false
	}
	info, err := f.Stat()
	return info, err == nil
}

// ToRunner returns the writer for commands to the runner, one per call. Only internal/action uses it.
func (l *Log) ToRunner() io.Writer { return commands{l} }

type commands struct{ log *Log }

// issued matches the commands that Graft sends, as a line.
var issued = regexp.MustCompile(`^(::(error|warning|notice|group|endgroup|add-mask)( [^\r\n]*?)?::)([^\r\n]*)\r?\n$`)

// Write defuses all of a command except its name. The text of a mask stays, because a changed one would mask
// something else; it is never foreign text and never shown.
func (c commands) Write(line []byte) (int, error) {
	m := issued.FindSubmatch(line)
	if m == nil {
		return 0, failure.New(failure.Internal, "telling the runner: this is none of the commands that Graft gives, or more than one")
	}
	l := c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []byte
	if l.state.begun || l.state.rest != nil {
		out = []byte("\n") // a command must start a line
	}
	l.state = state{}
	out = append(out, "::"...)
	if string(m[2]) == "add-mask" {
		out = append(out, line[2:]...)
	} else {
		out = append(out, Defuse(string(line[2:]))...)
	}
	if _, err := l.to.Write(out); err != nil {
		return 0, err
	}
	return len(line), nil
}

// Documents returns the writer for output that programs read: a catalog, a template, a picture. It is written
// unchanged. On a runner, a line with a command is refused.
func (l *Log) Documents() io.Writer {
	if !l.on {
		return l.to
	}
	return &documents{log: l}
}

type documents struct {
	log  *Log
	line []byte // the present line so far
}

var (
	// atStart and anywhere match commands of any name, because runners learn new ones.
	atStart  = regexp.MustCompile(`^::[A-Za-z-]+( .*)?::`)
	anywhere = regexp.MustCompile(`##\[[A-Za-z-]+( [^\]]*)?\]`)
	lineEnd  = regexp.MustCompile("[\r\n\v\f\u0085\u2028\u2029]")
)

// Write stops before the part of a line that completes a command.
func (d *documents) Write(text []byte) (int, error) {
	line := slices.Concat(d.line, text)
	for {
		end := len(line)
		at := lineEnd.FindIndex(line)
		if at != nil {
			end = at[0]
		}
		if command, found := commandIn(string(line[:end])); found {
			return 0, failure.New(failure.Usage, "printing a document: a runner would obey %q in it", command).
				Fix("Redirect the output into a file.")
		}
		if at == nil {
			d.line = line
			return d.log.to.Write(text)
		}
		line = line[at[1]:]
	}
}
