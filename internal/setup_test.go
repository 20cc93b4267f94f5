package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The steps of the setup action break no rule of workflows, and only its script changes the PATH of later
// steps. The commit fixes what it installs: no input names a version or a checksum.
func TestSetupAction(t *testing.T) {
	text, err := os.ReadFile("../setup/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]any `yaml:"inputs"`
		Runs   struct {
			Using string `yaml:"using"`
			Steps []step `yaml:"steps"`
		} `yaml:"runs"`
	}
	if err := yaml.Unmarshal(text, &action); err != nil || action.Runs.Using != "composite" || len(action.Runs.Steps) != 1 {
		t.Fatalf("%v, %+v", err, action)
	}
	for _, s := range action.Runs.Steps {
		if all := s.breaches(true); len(all) > 0 || s.Run != `sh "$GITHUB_ACTION_PATH/install.sh"` {
			t.Errorf("%q: %v", s.Run, all)
		}
	}
	for name := range action.Inputs {
		if name != "url" && name != "attestation" {
			t.Errorf("the input %s", name)
		}
	}
	script, err := os.ReadFile("../setup/install.sh")
	if all := (step{Run: string(script)}).breaches(true); err != nil || len(all) != 1 || all[0] != "it changes the environment of later steps" {
		t.Errorf("install.sh: %v, %v", all, err)
	}
}

// A release points both actions at its own files and images only.
func TestPoint(t *testing.T) {
	digest := "ghcr.io/olmgraft/graft@sha256:" + strings.Repeat("a", 64)
	sum := strings.Repeat("0", 64)
	var sums, all string
	for _, platform := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"} {
		sums += sum + "  graft_1.2.3_" + platform + ".tar.gz\n"
		all += sum + "  graft-relay_1.2.3_" + platform + ".tar.gz\n" + sum + "  graft_1.2.3_" + platform + ".tar.gz\n" + sum + "  graft_1.2.3_" + platform + ".tar.gz.sbom.json\n"
	}
	for _, tt := range []struct{ version, image, sums, refusal string }{
		{"1.2.3", digest, all + sum + "  graft_1.2.3_windows_amd64.zip\n", ""},
		{"v1.2.3", digest, all, "is no version"},
		{"1.2", digest, all, "is no version"},
		{"1.2.3", "ghcr.io/olmgraft/graft:1.2.3", all, "not named by its digest"},
		{"1.2.3", digest[:90], all, "not named by its digest"},
		{"1.2.3", "graft|e id|@sha256:" + strings.Repeat("a", 64), all, "not named by its digest"},
		{"1.2.4", digest, all, "has no graft_1.2.4_darwin_amd64.tar.gz"},
		{"1.2.3", digest, strings.ReplaceAll(all, "graft_1.2.3_linux_arm64.tar.gz\n", "\n"), "has no graft_1.2.3_linux_arm64.tar.gz"},
		{"1.2.3", digest, strings.ReplaceAll(all, ".", "x"), "has no graft_1.2.3_darwin_amd64.tar.gz"},
	} {
		dir := t.TempDir()
		before := map[string]string{}
		for _, name := range []string{"action.yml", "setup/checksums.txt", ".ci/point"} {
			text, err := os.ReadFile(filepath.Join("..", name))
			if err == nil {
				err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			before[name] = string(text)
		}
		file := filepath.Join(dir, "sums")
		if err := os.WriteFile(file, []byte(tt.sums), 0o600); err != nil {
			t.Fatal(err)
		}
		point := func() (string, error) {
			out, err := exec.Command("sh", filepath.Join(dir, ".ci/point"), tt.version, tt.image, file).CombinedOutput()
			return string(out), err
		}
		want := before
		out, err := point()
		if tt.refusal == "" {
			want = map[string]string{
				"action.yml":          strings.Replace(before["action.yml"], "\n  image: Dockerfile\n", "\n  image: docker://"+digest+"\n", 1),
				"setup/checksums.txt": sums, ".ci/point": before[".ci/point"],
			}
			if again, err := point(); err == nil || !strings.Contains(again, "does not build the Dockerfile") {
				t.Errorf("what is pointed is pointed again: %v %s", err, again)
			}
		}
		if (err == nil) != (tt.refusal == "") || !strings.Contains(out, tt.refusal) {
			t.Errorf("%s %s: %v %q, want %q", tt.version, tt.image, err, out, tt.refusal)
		}
		for name, text := range want {
			if after, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(after) != text {
				t.Errorf("%s %s: %s is %v\n%s", tt.version, tt.image, name, err, after)
			}
		}
	}
}

// The images that ours are built from are named by digest.
func TestBases(t *testing.T) {
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	bases := regexp.MustCompile(`(?m)^ARG (\w+_IMAGE)=(.*)$`).FindAllStringSubmatch(string(text), -1)
	known := "build"
	for _, b := range bases {
		if known += " ${" + b[1] + "}"; !byDigest.MatchString(b[2]) {
			t.Errorf("%s is not named by digest", b[2])
		}
	}
	for _, from := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(" "+known+" ", " "+from[1]+" ") {
			t.Errorf("FROM %s is no base that is named by digest", from[1])
		}
	}
	if len(bases) != 2 {
		t.Errorf("there are the bases %v", bases)
	}
}
