package cli

import (
	"path/filepath"
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
