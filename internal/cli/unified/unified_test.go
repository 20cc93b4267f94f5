package unified

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// channels returns channels with the same entries, as templates have them.
func channels(names []string, entries int) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("- entries:\n")
		for i := range entries {
			fmt.Fprintf(&b, "  - name: op.v1.%d.0\n    replaces: op.v1.%d.0\n", i+1, i)
		}
		fmt.Fprintf(&b, "  name: %s\n", name)
	}
	return b.String()
}

// Entries that several channels repeat stay out of a difference that only adds lines.
func TestRepeatedLines(t *testing.T) {
	before := channels([]string{"stable", "stable-1.8", "stable-1.9"}, 20) + "- image: quay.io/example/op:v1\n" + channels([]string{"stable-1.10"}, 20)
	after := strings.ReplaceAll(before, "  name: stable\n", "  - name: op.v1.21.0\n    replaces: op.v1.20.0\n  name: stable\n")
	after = strings.ReplaceAll(after, "  name: stable-1.10\n", "  - name: op.v1.21.0\n    replaces: op.v1.20.0\n  name: stable-1.10\n")
	after = strings.ReplaceAll(after, "- image: quay.io/example/op:v1\n", "- image: quay.io/example/op:v1\n- image: quay.io/example/op:v2\n")
	text := string(Diff("a/t.yaml", []byte(before), "b/t.yaml", []byte(after)))
	if _, hunks, _ := strings.Cut(text, "\n@@"); strings.Contains(hunks, "\n-") {
		t.Errorf("a line is removed:\n%s", text)
	}
	if n := strings.Count(text, "\n+  - name: op.v1.21.0\n"); n != 2 || strings.Count(text, "\n+") != 2*2+2 {
		t.Errorf("%d of 2 entries are added:\n%s", n, text)
	}
	if Diff("a", []byte(before), "b", []byte(before)) != nil {
		t.Error("equal texts differ")
	}
}

// git apply turns the old text into the new one, for any texts.
func TestApplies(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	word := func() string {
		return []string{"a\n", "b\n", "c\n", "d\n", "- x\n", "+ y\n", "@@ -1,2 +3,4 @@\n", "e\r\n"}[r.IntN(8)]
	}
	dir := t.TempDir()
	for i := range 60 {
		var before, after []string
		for range r.IntN(60) {
			before = append(before, word())
		}
		for _, line := range before {
			switch r.IntN(8) {
			case 0:
			case 1:
				after = append(after, line, word())
			default:
				after = append(after, line)
			}
		}
		end := []string{"", "last"}[r.IntN(2)]
		old, now := strings.Join(before, "")+end, strings.Join(after, "")+end
		if old == now || old == "" || now == "" {
			continue
		}
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		text := Diff("a/"+filepath.Base(file), []byte(old), "b/"+filepath.Base(file), []byte(now))
		apply := exec.Command("git", "apply", "--unsafe-paths", "--whitespace=nowarn", "-")
		apply.Dir, apply.Stdin = dir, strings.NewReader(string(text))
		if out, err := apply.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, text)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != now {
			t.Fatalf("git apply gives\n%q\nwant\n%q\nof\n%q by\n%s", got, now, old, text)
		}
	}
}
