package cli

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
)

// rooms maps a package or file below internal to the verbs that can show its remedies. The longest path counts.
// If a remedy names a flag, all of these verbs must have it, or the remedy must name the verb. A file that
// defines verbs needs no entry: those verbs show its remedies.
var rooms = map[string][]string{
	"atomicfile":                    {"insert", "remove", "edges", "deprecate", "pin", "render", "convert", "init", "image build", "operand add", "catalogsource resolve", "catalogsource convert"},
	"bundle":                        {"insert", "publish", "render", "verify"},
	"catalogimage":                  {"image push"},
	"cli/catalogs":                  {"verify", "diff", "graph", "path", "operand resolve", "operand images"},
	"cli/catalogs/skips.go":         {"verify", "diff", "graph", "path", "render", "convert", "publish", "operand resolve", "operand images"},
	"cli/catalogs/verify.go":        {"verify", "image build", "image push"},
	"cli/edit.go":                   {"insert", "remove", "edges", "deprecate"},
	"cli/facts.go":                  {"insert"},
	"cli/image/draft.go":            {"image build", "image push"},
	"cli/bundledir.go":              {"render"},
	"cli/files":                     {"insert", "remove", "edges", "deprecate"},
	"cli/graph_serve.go":            {"graph"},
	"cli/path_output.go":            {"path"},
	"cli/pin_files.go":              {"pin"},
	"cli/publish":                   {"publish"},
	"cli/registry":                  {"insert", "publish", "render", "verify", "diff", "graph", "path", "image build", "image push", "pin"},
	"cli/render_images.go":          {"render"},
	"cli/init_prove.go":             {"init"},
	"cli/verify.go":                 {"verify"},
	"cli/operand/operand.go":        {"operand resolve"},
	"action":                        {"publish"},
	"gitrepo":                       {"publish"},
	"graph/finding.go":              {"verify", "image build", "image push"},
	"graph/place.go":                {"insert", "publish"},
	"oci":                           {"insert", "publish", "render", "verify", "diff", "graph", "path", "image build", "image push", "image inspect", "pin", "operand images", "catalogsource resolve"},
	"oci/base.go":                   {"image build", "image push"},
	"oci/write.go":                  {"image build"},
	"operand/add.go":                {"operand add"},
	"operand/lock.go":               {"pin"},
	"operand/output.go":             {"operand resolve"},
	"operand/resolve.go":            {"operand resolve", "operand images"},
	"operand/variables.go":          {"operand resolve"},
	"plan":                          {"publish"},
	"publish":                       {"publish"},
	"template/composite":            {"insert", "render", "publish"},
	"template/documents":            {"insert", "remove", "edges", "deprecate", "publish"},
	"template/documents/file.go":    {"insert", "publish"},
	"template/documents/replace.go": {"insert", "publish"},
	"template/edits.go":             {"remove", "publish"},
	"template/goodstuff/order.go":   {"insert", "publish"},
	"template/kind/image.go":        {"insert", "publish"},
	"template/kind/remove.go":       {"remove", "publish"},
	"template/raw":                  {"insert"},
	"template/semver/place.go":      {"insert", "publish"},
	"template/template.go":          {"insert", "publish"},
}

// ofCodes lists the verbs that can fail with a code whose general remedy names a flag.
var ofCodes = map[failure.Code][]string{
	failure.BundleConflict: {"insert", "publish"}, failure.BranchEdited: {"publish"},
}

// Every remedy names verbs, flags, pages and variables that exist, and is a sentence.
func TestRemedies(t *testing.T) {
	texts := remedies(t)
	if len(texts) < 500 {
		t.Errorf("only %d remedies were found", len(texts))
	}
	tree := verbTree()
	flagged := 0
	for _, r := range texts {
		if fault := notSentence(r.text); fault != "" {
			t.Errorf("%s: %s: %q", r.place, fault, r.text)
		}
		flagged += strings.Count(r.text, "--")
		if err := tree.holds(r.text, r.verbs); err != nil {
			t.Errorf("%s: %v: %q", r.place, err, r.text)
		}
	}
	if flagged < 100 {
		t.Errorf("only %d flags were found", flagged)
	}
	for _, e := range failure.Table {
		if err := tree.holds(e.Remedy, ofCodes[e.Code]); err != nil || notSentence(e.Remedy) != "" {
			t.Errorf("%s: %v%s: %q", e.Class, err, notSentence(e.Remedy), e.Remedy)
		}
	}
	for _, r := range graph.Rules {
		if err := tree.holds(r.Remedy, nil); err != nil || notSentence(r.Remedy) != "" {
			t.Errorf("%s: %v%s: %q", r.ID, err, notSentence(r.Remedy), r.Remedy)
		}
	}
}

// holds and notSentence find wrong remedies.
func TestRemediesAreHeld(t *testing.T) {
	tree := verbTree()
	for text, verbs := range map[string][]string{
		"Run graft explian.":                         {"publish"},
		"Give --promote.":                            {"insert", "publish"},
		"Run graft edges --promote.":                 {"insert"},
		"Give --image.":                              nil,
		"Read docs/nothing.md.":                      {"publish"},
		"Set graft.yaml's allowedRepository.":        {"publish"},
		"Set GITHUB_NOTHING.":                        {"publish"},
		"Run graft-relay --nothing.":                 {"publish"},
		"Give queue.nowhere a file.":                 {"graft-relay"},
		"Set dropped: true for the catalog.":         {"publish"},
		"Run graft publish --dry-run --promote now.": {"insert"},
	} {
		if tree.holds(text, verbs) == nil {
			t.Errorf("nothing is wrong with %q", text)
		}
	}
	for _, text := range []string{"give it.", "Give it", "Give it. ", "Gives --x twice..", ""} {
		if notSentence(text) == "" {
			t.Errorf("%q is a sentence", text)
		}
	}
}

// RemedyFault finds wrong remedies in the output of graft.
func TestRemedyFault(t *testing.T) {
	for remedy, sound := range map[string]bool{
		"Give --promote.": false, "Run graft insert --promote.": true, "Give --rebuild replace.": true, "Run graft explian.": false,
	} {
		if err := RemedyFault([]string{"publish", "op"}, "graft: note\ngraft: why (bundle-conflict, 30)\n       "+remedy+"\n"); (err == nil) != sound {
			t.Errorf("%s: %v", remedy, err)
		}
	}
}

// notSentence returns the reason if a remedy is not a sentence.
func notSentence(text string) string {
	text = strings.TrimPrefix(text, "%s") // Did you mean ...?
	switch {
	case text == "" || strings.TrimSpace(text) != text:
		return "it is empty, or has blanks around it"
	case !regexp.MustCompile(`^[A-Z%]`).MatchString(text):
		return "it does not begin with a capital"
	case !regexp.MustCompile(`[^.]\.$|%s$`).MatchString(text):
		return "it does not end with one full stop"
	}
	return ""
}

// tree holds the names that a text may use.
type tree struct {
	verbs   map[string]*cobra.Command
	others  map[string]bool // flags of the other programs, as PROGRAM --FLAG
	sources string
}

// RemedyFault returns an error if a remedy in graft's output names a flag that the verb does not have, unless
// the remedy names another verb.
func RemedyFault(args []string, printed string) error {
	tr := &tree{verbs: verbsOf(root(&command.App{Env: func(string) (string, bool) { return "", false }}))}
	verb := strings.Join(args[:min(2, len(args))], " ")
	if tr.verb(verb) == "" {
		return nil
	}
	for _, m := range regexp.MustCompile(`(?m)\((?:[a-z-]+), \d+\)\n {7}(\S.*)$`).FindAllStringSubmatch(printed, -1) {
		if err := tr.hasAll(m[1], []string{tr.verb(verb)}); err != nil {
			return fmt.Errorf("%w: %s", err, m[1])
		}
	}
	return nil
}

func verbsOf(root *cobra.Command) map[string]*cobra.Command {
	verbs := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			verbs[strings.TrimPrefix(sub.CommandPath(), "graft ")] = sub
			walk(sub)
		}
	}
	walk(root)
	return verbs
}

func verbTree() *tree {
	tr := &tree{verbs: verbsOf(root(&command.App{Env: func(string) (string, bool) { return "", false }})), others: map[string]bool{}}
	for program, dir := range map[string]string{"graft-relay": "internal/relay", "graft-demo": "internal/demo", "graft-controller": "internal/controller"} {
		for _, file := range goFiles(dir) {
			src, _ := os.ReadFile(file)
			for _, m := range regexp.MustCompile(`\.(?:String|Bool|Int|Duration|StringSlice)VarP?\(&[^,]+, "([a-z-]+)"`).FindAllSubmatch(src, -1) {
				tr.others[program+" --"+string(m[1])] = true
			}
		}
	}
	tr.sources = sources()
	return tr
}

var (
	verbNamed    = regexp.MustCompile(`\bgraft(-[a-z]+)? ([a-z][a-z-]*(?: [a-z]+)?)((?: [^-\s]\S*)*)`)
	otherProgram = regexp.MustCompile(`\b(git|docker|podman|opm|kubectl|openssl) [a-z]`)
	flagNamed    = regexp.MustCompile(`(?:^|[\s(])--([a-z][a-z-]*)`)
	pageNamed    = regexp.MustCompile(`\b((?:docs|deploy|internal)/[a-zA-Z0-9_./-]*[a-zA-Z0-9])`)
	envNamed     = regexp.MustCompile(`\b[A-Z][A-Z0-9]*_[A-Z_]+\b`)
	keyNamed     = regexp.MustCompile(`\b([a-z]+[A-Z][A-Za-z]*|[a-z]+_[a-z_]+|[a-z]+(?:\.[a-zA-Z]+)+)\b|\b([a-zA-Z]+): [a-z]`)
)

// holds returns an error if a text uses a name that does not exist. All of verbs must have a flag in the text,
// unless the text names the verb before the flag.
func (tr *tree) holds(text string, verbs []string) error {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "%[1]s", "X"), "%s", "X")
	if err := tr.hasAll(text, verbs); err != nil {
		return err
	}
	for _, m := range pageNamed.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(envNamed.FindAllString(text, -1), keys(text)) {
		if !tr.knows(name) {
			return fmt.Errorf("nothing is named %s", name)
		}
	}
	return nil
}

// hasAll returns an error if a text names a verb, a program or a flag that does not exist.
func (tr *tree) hasAll(text string, verbs []string) error {
	for _, sentence := range regexp.MustCompile(`[.:,;]\s|, or | or (?:run )?`).Split(text, -1) {
		at := verbs
		if m := verbNamed.FindStringSubmatch(sentence); m != nil {
			verb := tr.verb(m[2])
			switch {
			case m[1] != "" && !tr.program("graft"+m[1]):
				return fmt.Errorf("there is no program graft%s", m[1])
			case m[1] == "" && verb == "":
				return fmt.Errorf("there is no verb %s", m[2])
			case m[1] == "":
				at = []string{verb}
			default:
				at = []string{"graft" + m[1]}
			}
		} else if m := regexp.MustCompile(`\bgraft-(relay|demo|controller) `).FindStringSubmatch(sentence); m != nil {
			at = []string{"graft-" + m[1]}
		}
		if otherProgram.MatchString(sentence) {
			continue
		}
		for _, m := range flagNamed.FindAllStringSubmatch(sentence, -1) {
			if err := tr.hasFlag(at, m[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// knows reports whether the sources define a name.
func (tr *tree) knows(name string) bool {
	return strings.Contains(tr.sources, `"`+name+`"`) || strings.Contains(tr.sources, name+":") || slices.Contains(ofOthers, name)
}

// ofOthers lists names from other programs in remedies.
var ofOthers = []string{"SSL_CERT_FILE", "GITHUB_STEP_SUMMARY", "contents", "workflows"}

// keys returns the words of a text that look like keys. A path with dots gives each of its parts.
func keys(text string) (all []string) {
	text = regexp.MustCompile(`\S*(://|/|@)\S*|\bop\.v\S+|\{[^}]*\}|[A-Za-z.-]+\.(yaml|yml|json|jsonl|md|lock|sum|conf|crt|key|tar|png|io)\b|"[^"]*"|\S*X\S*`).ReplaceAllString(text, "")
	for _, m := range keyNamed.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Split(m[1]+m[2], ".")...)
	}
	return all
}

func (tr *tree) verb(words string) string {
	if _, ok := tr.verbs[words]; ok {
		return words
	}
	first, _, _ := strings.Cut(words, " ")
	if _, ok := tr.verbs[first]; ok {
		return first
	}
	return ""
}

func (tr *tree) program(name string) bool {
	return slices.Contains([]string{"graft-relay", "graft-demo", "graft-controller"}, name)
}

func (tr *tree) hasFlag(verbs []string, flag string) error {
	if flag == "help" {
		return nil
	}
	if len(verbs) == 0 {
		return fmt.Errorf("which verb has the flag --%s? Name it, or say in rooms who shows this", flag)
	}
	for _, v := range verbs {
		if tr.program(v) && tr.others[v+" --"+flag] {
			continue
		}
		if c := tr.verbs[v]; c == nil || c.Flag(flag) == nil {
			return fmt.Errorf("%s has no flag --%s", v, flag)
		}
	}
	return nil
}

// roomOf returns the verbs that show the remedies of a file: its own, or those of its room.
func roomOf(file string, uses []string) []string {
	switch dir := strings.TrimPrefix(file, "internal/"); {
	case strings.HasPrefix(dir, "relay/"):
		return []string{"graft-relay"}
	case strings.HasPrefix(dir, "controller/client"):
		return []string{"catalogsource resolve"}
	case strings.HasPrefix(dir, "controller/"):
		return []string{"graft-controller"}
	case strings.HasPrefix(dir, "demo/"):
		return []string{"graft-demo"}
	case len(uses) > 0:
		return uses
	default:
		for ; dir != "."; dir = path.Dir(dir) {
			if verbs, ok := rooms[dir]; ok {
				return verbs
			}
		}
	}
	return nil
}
