package scratch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"github.com/olmgraft/graft/internal/failure"
)

const (
	mostOutput = 64 << 10 // of one command, in bytes
	mostLine   = 500      // of what it prints, in characters
)

// run runs one command in a shell. All processes that it started end with it.
func run(ctx context.Context, command, dir, home string, log func(line string)) error {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return failure.New(failure.Usage, "running %s: there is no shell here", printable(command)).
			Fix("Run Graft where the programs of the commands are installed: as a binary, or in your own image on top of Graft's.")
	}
	out := &output{}
	cmd := exec.CommandContext(ctx, shell, "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=" + cmp.Or(os.Getenv("LANG"), "C.UTF-8")}
	cmd.WaitDelay = 2 * time.Second
	together(cmd)
	err = cmd.Run()
	apart(cmd)
	lines := out.lines()
	for _, line := range lines {
		log(line)
	}
	switch {
	case ctx.Err() != nil:
		return failure.New(failure.Interrupted, "running %s: %w", printable(command), ctx.Err())
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	last := ""
	if len(lines) > 0 {
		last = ": " + lines[len(lines)-1]
	}
	return failure.New(failure.EditRefused, "running %s: %w%s", printable(command), err, last).Fix("Correct the command. Its output is above.")
}

// output keeps the first bytes written to it and counts the rest.
type output struct {
	text bytes.Buffer
	more int
}

func (o *output) Write(text []byte) (int, error) {
	n := min(len(text), mostOutput-o.text.Len())
	o.text.Write(text[:n])
	o.more += len(text) - n
	return len(text), nil
}

func (o *output) lines() (all []string) {
	for line := range strings.Lines(o.text.String()) {
		if line = printable(strings.TrimRight(line, "\r\n")); line != "" {
			all = append(all, line)
		}
	}
	if o.more > 0 {
		all = append(all, "(output beyond 64 KiB is left out)")
	}
	return all
}

// printable returns the line without control characters for a terminal. The log defuses workflow commands itself.
func printable(line string) string {
	line = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || !unicode.IsGraphic(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(line, "?"))
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > mostLine {
		line = string(runes[:mostLine]) + " ..."
	}
	return line
}
