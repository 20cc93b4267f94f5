package internal_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// images lists the images of a release, by digest.
var images = []string{"ghcr.io/olmgraft/graft@sha256:" + strings.Repeat("a", 64), "ghcr.io/olmgraft/graft-controller@sha256:" + strings.Repeat("b", 64), "ghcr.io/olmgraft/graft-relay@sha256:" + strings.Repeat("c", 64)}

// pointed lists by file the lines that a release changes, before and after.
var pointed = map[string][]string{
	"action.yml":                             {"  image: Dockerfile\n", "  image: docker://" + images[0] + "\n"},
	"deploy/tekton/graft-publish.yaml":       {"default: ghcr.io/olmgraft/graft:latest\n", "default: " + images[0] + "\n"},
	"deploy/controller/base/controller.yaml": {"image: ghcr.io/olmgraft/graft-controller:latest ", "image: " + images[1] + " "},
	"deploy/relay/base/relay.yaml":           {"image: ghcr.io/olmgraft/graft-relay:latest ", "image: " + images[2] + " "},
}

// A release points actions and manifests at its own files and images only.
func TestPoint(t *testing.T) {
	sum := strings.Repeat("0", 64)
	var sums, all string
	for _, platform := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"} {
		sums += sum + "  graft_1.2.3_" + platform + ".tar.gz\n"
		all += sum + "  graft-relay_1.2.3_" + platform + ".tar.gz\n" + sum + "  graft_1.2.3_" + platform + ".tar.gz\n" + sum + "  graft_1.2.3_" + platform + ".tar.gz.sbom.json\n"
	}
	for _, tt := range []struct{ version, sums, image, refusal string }{
		{"1.2.3", all + sum + "  graft_1.2.3_windows_amd64.zip\n", images[0], ""},
		{"v1.2.3", all, images[0], "is no version"},
		{"1.2", all, images[0], "is no version"},
		{"1.2.3", all, "ghcr.io/olmgraft/graft:1.2.3", "not named by its digest"},
		{"1.2.3", all, images[0][:80], "not named by its digest"},
		{"1.2.3", all, "graft|e id|@sha256:" + strings.Repeat("a", 64), "not named by its digest"},
		{"1.2.4", all, images[0], "has no graft_1.2.4_darwin_amd64.tar.gz"},
		{"1.2.3", strings.ReplaceAll(all, "graft_1.2.3_linux_arm64.tar.gz\n", "\n"), images[0], "has no graft_1.2.3_linux_arm64.tar.gz"},
		{"1.2.3", strings.ReplaceAll(all, ".", "x"), images[0], "has no graft_1.2.3_darwin_amd64.tar.gz"},
	} {
		dir, want := t.TempDir(), map[string]string{}
		for _, name := range append(slices.Collect(maps.Keys(pointed)), "setup/checksums.txt", ".ci/point") {
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
			want[name] = string(text)
			if tt.refusal == "" {
				want[name] = strings.NewReplacer(pointed[name]...).Replace(string(text))
				if pointed[name] != nil && strings.Count(want[name], "sha256:") != 1 {
					t.Errorf("%s has not one line for its image", name)
				}
			}
		}
		file := filepath.Join(dir, "sums")
		if err := os.WriteFile(file, []byte(tt.sums), 0o600); err != nil {
			t.Fatal(err)
		}
		point := func() (string, error) {
			out, err := exec.Command("sh", filepath.Join(dir, ".ci/point"), tt.version, file, tt.image, images[1], images[2]).CombinedOutput()
			return string(out), err
		}
		out, err := point()
		if (err == nil) != (tt.refusal == "") || !strings.Contains(out, tt.refusal) {
			t.Errorf("%s %s: %v %q, want %q", tt.version, tt.image, err, out, tt.refusal)
		}
		if tt.refusal == "" {
			want["setup/checksums.txt"] = sums
			if again, err := point(); err == nil || !strings.Contains(again, "action.yml does not have one line") {
				t.Errorf("a second time: %v %s", err, again)
			}
		}
		for name, text := range want {
			if after, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(after) != text {
				t.Errorf("%s %s: %s is %v\n%s", tt.version, tt.image, name, err, after)
			}
		}
	}
}

// docs/action.md has each input, output and failure of the setup action, and no other.
func TestSetupPage(t *testing.T) {
	var read [3]string
	for i, name := range []string{"../setup/action.yml", "../setup/install.sh", "../docs/action.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		read[i] = string(text)
	}
	_, section, _ := strings.Cut(read[2], "\n## Without docker\n")
	section, _, _ = strings.Cut(section, "\n## ")
	want, got := map[string]bool{}, map[string]bool{}
	inputs, outputs, _ := strings.Cut(read[0], "\noutputs:\n")
	outputs, _, _ = strings.Cut(outputs, "\nruns:\n")
	_, inputs, _ = strings.Cut(inputs, "\ninputs:\n")
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(inputs, -1) {
		want[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`\bfail ([a-z-]+) `).FindAllStringSubmatch(read[1], -1) {
		want[m[1]] = true
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		got[m[1]] = true
	}
	if !maps.Equal(got, want) || len(want) < 8 {
		t.Errorf("the tables have %v, want %v", got, want)
	}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(outputs, -1) {
		if !strings.Contains(section, "`"+m[1]+"`") {
			t.Errorf("the output %s is missing", m[1])
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
