package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A manifest list is listed with its images, and an image alone.
func TestOperandImagesExpanded(t *testing.T) {
	s, index, _, members := etcdRegistry(t)
	catalog := filepath.Join(t.TempDir(), "catalog.yaml")
	writeFile(t, catalog, "schema: olm.bundle\nname: op.v1\npackage: op\nimage: "+s.Addr+"/op:v1\nproperties: []\nrelatedImages:\n"+
		"- {name: '', image: "+s.Addr+"/etcd:v3}\n- {name: '', image: "+s.Addr+"/etcd@"+index.Digest+"}\n")
	code, stdout, stderr := runGraft(t, "operand", "images", catalog)
	if want := s.Addr + "/etcd:v3\n" + s.Addr + "/etcd@" + index.Digest + "\n" + s.Addr + "/op:v1\n"; code != 0 || stdout != want || s.Count() != 0 {
		t.Errorf("exit code %d, %d requests: %s%s", code, s.Count(), stdout, stderr)
	}
	code, stdout, stderr = runGraft(t, "operand", "images", "--expand", catalog)
	want := []string{s.Addr + "/etcd:v3", s.Addr + "/etcd@" + index.Digest, s.Addr + "/op:v1"}
	for _, m := range members {
		want = append(want, s.Addr+"/etcd@"+m.Digest)
	}
	slices.Sort(want)
	if code != 0 || stdout != strings.Join(want, "\n")+"\n" {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	writeFile(t, catalog, "schema: olm.bundle\nname: op.v2\npackage: op\nimage: "+s.Addr+"/op:v2\nproperties: []\n")
	if code, _, stderr = runGraft(t, "operand", "images", "--expand", catalog); code != 20 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// The page shows the output of its command for the files on the page.
func TestOperandsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/operands.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	files := regexp.MustCompile("(?s)```yaml\n(# (\\S+)\n.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, m := range files {
		writeFile(t, m[2], m[1])
	}
	shown := regexp.MustCompile("(?s)```\n\\$ graft ([^\n]*)\n(.*?)```").FindStringSubmatch(string(text))
	if len(files) != 2 || shown == nil {
		t.Fatalf("docs/operands.md has %d files, and the command %q", len(files), shown)
	}
	if code, stdout, stderr := runGraft(t, strings.Fields(shown[1])...); code != 0 || stdout != shown[2] {
		t.Errorf("exit code %d: %s%s\nwant\n%s", code, stdout, stderr, shown[2])
	}
}
