package install

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/controller/suite"
)

// takeover is how long no replica may work after a leader was killed: its lease lasts 15 seconds from the last
// renewal, and the others ask again after 2 to 4.4 seconds. The rest is for a busy machine.
const takeover = 30 * time.Second

// sources is large enough that a leader is killed before it has written all CatalogSources.
const sources = 100

// replica is a process of the controller with its own token, which identifies it in the server's log.
type replica struct {
	name, address string
	process       *exec.Cmd
}

// The leader of three replicas is killed, and then the next one. Within the time of the lease another replica
// works, no two work at a time, and nothing is written twice.
func TestLeadersAreKilled(t *testing.T) {
	install(t, kustomized(t, "controller", "base"))
	grantLookups(t)
	program := filepath.Join(t.TempDir(), "graft-controller")
	build := exec.Command("go", "build", "-o", program, "./cmd/graft-controller")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := &suite.Server{Config: admin, Patience: 2 * time.Minute, Namespace: func(name string) { namespace(t, name, nil) }}
	c := suite.New(t, server, "", "leaders")
	c.Create(suite.Samples, suite.Sample("leaders", "one", "none:"))
	for i := range sources {
		c.Create(controller.Resource, suite.CatalogSource("leaders", fmt.Sprint("sample-", i), suite.SampleTemplate("leaders", "one"), suite.V119))
	}
	replicas := map[string]*replica{}
	for _, name := range []string{"a", "b", "c"} {
		replicas[name] = start(t, program, name)
	}
	const rounds = 3
	var unfinished int
	for round := range rounds {
		leader := leads(c, replicas)
		image := fmt.Sprint("quay.io/sample/catalog:v", round)
		bump(c, fmt.Sprint("v", round))
		c.Eventually("it has begun", func() bool { return suite.Image(c.Get("leaders/sample-0")) == image })
		if round == rounds-1 {
			follow(c, image)
			break
		}
		if err := leader.process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = leader.process.Wait() // killed
		delete(replicas, leader.name)
		killed := time.Now()
		for i := range sources {
			if suite.Image(c.Get(fmt.Sprint("leaders/sample-", i))) != image {
				unfinished++
			}
		}
		next := leads(c, replicas)
		took := time.Since(killed)
		t.Logf("%s was killed, and %s works %v later", leader.name, next.name, took.Round(100*time.Millisecond))
		if took > takeover {
			t.Errorf("after %s was killed no replica worked for %v", leader.name, took)
		}
		follow(c, image) // the new leader finishes the work of the old one
	}
	t.Logf("%d of %d images were left to the next", unfinished, (rounds-1)*sources)
	if unfinished == 0 {
		t.Error("each leader was killed when all was done")
	}
	written := writes(t)
	if turns := turnsOf(written); len(turns) != rounds || slices.Contains(turns, "") {
		t.Errorf("%d processes worked in the order %v", rounds, turns)
	}
	images := map[string]int{}
	for _, r := range written {
		if r.ObjectRef.Subresource == "" && r.ResponseStatus.Code == http.StatusOK {
			images[r.ObjectRef.Name]++
		}
	}
	// follow saw each change. The server does not record success for a write whose leader is killed before the answer.
	for i := range sources {
		if name := fmt.Sprint("sample-", i); images[name] > rounds {
			t.Errorf("the image of %s was written %d times, and %d times it changed", name, images[name], rounds)
		}
	}
}

// start starts a replica as its pod does, except for the address.
func start(t *testing.T, program, name string) *replica {
	t.Helper()
	r := &replica{name: name, address: freeAddress()}
	file := (&suite.Server{Config: as(t, "graft-controller", "graft-controller")}).Kubeconfig(t)
	log, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	r.process = exec.Command(program, "--kubeconfig", file, "--listen", r.address, "--leader-elect", "graft-controller", "--namespace", "leaders", "--olm", "absent", "--log-format", "json")
	r.process.Stdout, r.process.Stderr = log, log
	if err := r.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.process.Process.Kill() // it may already be dead
		_ = r.process.Wait()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s said:\n%s", name, text)
		}
	})
	return r
}

// leads waits for a working replica that knows all CatalogSources.
func leads(c *suite.Cluster, replicas map[string]*replica) (leader *replica) {
	c.Helper()
	c.Eventually("one leads, and knows all", func() bool {
		for _, r := range replicas {
			if strings.Contains(r.get("/metrics"), "\ngraft_leader 1\n") && r.get("/readyz") == "ok\n" {
				leader = r
				return true
			}
		}
		return false
	})
	return leader
}

func (r *replica) get(path string) string {
	answer, err := http.Get("http://" + r.address + path)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(text)
}

func follow(c *suite.Cluster, image string) {
	c.Helper()
	for i := range sources {
		c.Follows(fmt.Sprint("leaders/sample-", i), image)
	}
}

// bump makes all templates give another image.
func bump(c *suite.Cluster, value string) {
	c.Helper()
	now, err := c.Resource(suite.Samples).Namespace("leaders").Get(c.Context(), "one", metav1.GetOptions{})
	if err == nil {
		_ = unstructured.SetNestedField(now.Object, value, "spec", "foo", "bar")
		_, err = c.Resource(suite.Samples).Namespace("leaders").Update(c.Context(), now, metav1.UpdateOptions{})
	}
	if err != nil {
		c.Fatal(err)
	}
}

// writes returns the writes of CatalogSources in the order of the requests.
func writes(t *testing.T) (out []request) {
	t.Helper()
	for _, r := range audited(t) {
		if r.Verb == "patch" && r.ObjectRef.Resource == controller.Resource.Resource && r.ObjectRef.Namespace == "leaders" {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b request) int { return cmp.Compare(a.RequestReceivedTimestamp, b.RequestReceivedTimestamp) })
	return out
}

// turnsOf returns the processes that wrote, by their tokens, in the order of their turns.
func turnsOf(written []request) []string {
	var turns []string
	for _, r := range written {
		turns = append(turns, strings.Join(r.User.Extra["authentication.kubernetes.io/credential-id"], ""))
	}
	return slices.Compact(turns)
}
