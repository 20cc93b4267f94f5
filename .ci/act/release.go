package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/olmgraft/graft/internal/testkit/wire"
)

// version is the version of the rehearsed release.
const version = "0.0.0-act"

// release pushes the image, serves the archives, and points a copy of the actions at both. The image in
// action.yml must be the one with the release's tag in the registry.
func (s *session) release() (*http.Server, error) {
	s.released = filepath.Join(s.work, "released")
	if err := os.CopyFS(s.released, os.DirFS(s.built)); err != nil {
		return nil, err
	}
	image, written := s.Registry.Addr+"/olmgraft/graft", filepath.Join(s.work, "digest")
	if err := command("podman", "push", "-q", "--tls-verify=false", "--digestfile", written, "localhost/graft", "docker://"+image+":"+version); err != nil {
		return nil, err
	}
	digest, err := os.ReadFile(written)
	if err != nil {
		return nil, err
	}
	if err := command("sh", filepath.Join(s.released, ".ci", "point"), version, filepath.Join(s.dist, "checksums.txt"),
		image+"@"+string(digest), image+"-controller@"+string(digest), image+"-relay@"+string(digest)); err != nil {
		return nil, err
	}
	answer, err := http.Head("http://" + s.Registry.Addr + "/v2/olmgraft/graft/manifests/" + version) //nolint:noctx // it is here
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	text, err := os.ReadFile(filepath.Join(s.released, "action.yml"))
	if pinned := "\n  image: docker://" + image + "@" + answer.Header.Get("Docker-Content-Digest") + "\n"; err != nil || !strings.Contains(string(text), pinned) {
		return nil, errors.Join(err, fmt.Errorf("action.yml does not name what was pushed,%s", pinned))
	}
	addr, mirror, err := wire.Serve(http.StripPrefix("/v"+version+"/", http.FileServer(http.Dir(s.dist))))
	if err != nil {
		return nil, err
	}
	mirror.Addr = addr
	return mirror, nil
}

func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput() //nolint:noctx // it ends by itself
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

var (
	usesOwn      = regexp.MustCompile(`olmgraft/graft@[0-9a-f]{40}`)
	usesCheckout = regexp.MustCompile(`actions/checkout@[0-9a-f]{40}`)
	usesSetup    = regexp.MustCompile(`(- uses: olmgraft/graft/setup@[0-9a-f]{40} .*)\n`)
	yamlBlock    = regexp.MustCompile("(?s)```yaml\n(.*?)```")
)

// workflows returns the example that graft init writes and the one with setup in docs/action.md, unchanged
// except for an id, the addresses here, and a last step that stores the outputs. There is no gh here.
func (s *session) workflows(mirror string) (map[string]string, error) {
	example, err := os.ReadFile(filepath.Join(".github", "workflows", "graft.yml"))
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join("docs", "action.md"))
	if err != nil {
		return nil, err
	}
	s.usesOwn, s.usesCheckout = usesOwn.FindString(string(example)), usesCheckout.FindString(string(example))
	const keep = "      - if: always()\n        shell: sh\n        env:\n          OUTPUTS: ${{ toJSON(steps.graft.outputs) }}\n        run: printf '%s' \"$OUTPUTS\" >\"$OUTPUTS_FILE\"\n"
	all := map[string]string{"graft.yml": strings.Replace(string(example), "- uses: "+s.usesOwn, "- id: graft\n        uses: "+s.usesOwn, 1) + keep}
	for _, block := range yamlBlock.FindAllStringSubmatch(string(page), -1) {
		if !usesSetup.MatchString(block[1]) || all["setup.yml"] != "" {
			continue
		}
		text := usesSetup.ReplaceAllString(block[1], "$1\n        with: {url: \""+mirror+"\", attestation: false}\n")
		all["setup.yml"] = strings.ReplaceAll(text, "quay.io/example/*", s.Registry.Addr+"/example/*") + keep
	}
	for name, text := range all {
		if s.usesOwn == "" || !strings.Contains(text, s.usesCheckout) || strings.Count(text, "id: graft\n") != 1 {
			return nil, fmt.Errorf("%s does not check out and use Graft once", name)
		}
	}
	if len(all) != 2 {
		return nil, errors.New("docs/action.md has no workflow with setup")
	}
	return all, nil
}
