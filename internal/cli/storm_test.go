package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// counted counts the requests to the git remote by kind.
func counted(w *servers.Servers) func(gitremote.Kind) int {
	var mu sync.Mutex
	kinds := map[gitremote.Kind]int{}
	w.Git.SetScript(func(r gitremote.Request) gitremote.Fault {
		mu.Lock()
		defer mu.Unlock()
		kinds[r.Kind]++
		return gitremote.Fault{}
	})
	return func(k gitremote.Kind) int {
		mu.Lock()
		defer mu.Unlock()
		return kinds[k]
	}
}

// stormTown has packages with several bundles each. The repository has only the first of each package.
func stormTown(t *testing.T, packages, bundles int) (w *town, images []string) {
	t.Helper()
	w = newTown(t, 0)
	files := map[string]string{".github/graft.yaml": "targets:\n- template: templates/{package}.yaml\n  channels: [stable]\n  catalogs:\n  - path: catalogs/v4.20/{package}/catalog.yaml\n    create: true\npullRequest:\n  strategy: package\n  branch: graft/{package}/rolling\n"}
	for p := range packages {
		pkg := fmt.Sprintf("op%d", p)
		files["templates/"+pkg+".yaml"] = strings.NewReplacer("REGISTRY", w.Registry.Addr, "/op:", "/"+pkg+":", "name: op", "name: "+pkg, "package: op", "package: "+pkg).Replace(raceTemplate)
		for n := range bundles + 1 {
			version := fmt.Sprintf("1.%d.0", n)
			if _, err := w.Registry.Push(pkg+":v"+version, registry.Small(pkg, pkg+".v"+version, version), registry.Form{}); err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				images = append(images, w.Registry.Addr+"/"+pkg+":v"+version)
			}
		}
	}
	if _, err := w.Repo.Commit(gitremote.DefaultBranch, gitremote.Change{Message: "Packages", Files: files}); err != nil {
		t.Fatal(err)
	}
	return w, images
}

// Two hundred bundles of ten packages in one event lead to one commit, push and pull request for each package.
func TestManyBundlesInOneEvent(t *testing.T) {
	t.Parallel()
	packages, bundles := effort.Of(t, 3, 10, 10), effort.Of(t, 4, 20, 20)
	w, images := stormTown(t, packages, bundles)
	payload := map[string]any{"client_payload": map[string]any{"image": images[0], "images": images[1:]}}
	body, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	count, calls := counted(w.Servers), len(w.Forge.Requests())
	w.Registry.Reset()
	if out, err := w.process(context.Background(), t.TempDir(), "publish", "--repository", servers.Repository, "--event", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	pushes, asked := count(gitremote.Push), len(w.Forge.Requests())-calls
	t.Logf("%d bundles: %d pushes, %d requests to git in all, %d calls of the forge, %d requests to the registry", len(images), pushes,
		pushes+count(gitremote.PushRefs)+count(gitremote.Fetch)+count(gitremote.FetchRefs), asked, w.Registry.Count())
	if pushes != packages || len(w.PullRequests()) != packages {
		t.Errorf("%d pushes and %d pull requests for %d packages", pushes, len(w.PullRequests()), packages)
	}
	if asked > 6*packages {
		t.Errorf("%d calls of the forge for %d packages", asked, packages)
	}
	for p := range packages {
		text, err := w.Repo.Read(fmt.Sprintf("graft/op%d/rolling", p), fmt.Sprintf("templates/op%d.yaml", p))
		if err != nil || strings.Count(text, "  - name: ") != bundles+1 {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
