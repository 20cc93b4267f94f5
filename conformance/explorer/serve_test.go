package explorer

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A served page shows changes of the file, keeps its place, and shows errors.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	graft := filepath.Join(dir, "graft")
	build := exec.Command("go", "build", "-o", graft, "./cmd/graft")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(dir, "catalog", "catalog.yaml")
	write := func(text string) { // in one step, because Graft may read a file at any moment
		t.Helper()
		next := filepath.Join(dir, "next")
		if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write(chain("op", "stable", "1.0.0", "1.1.0").text())
	server := exec.Command(graft, "graph", "--serve", "127.0.0.1:0", filepath.Dir(file))
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			if err := server.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			_ = server.Wait() // the exit code reports an interrupt
		}
	}
	t.Cleanup(end)
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://\S+/`).FindString(line)
	if url == "" {
		t.Fatalf("graft says %s", line)
	}

	p := open(t, start(t), url)
	p.look(1400, 900, false)
	p.visit(url + "#/op/stable/op.v1.1.0")
	p.wants("#panel dl", "Next upgrade none")
	write(chain("op", "stable", "1.0.0", "1.1.0", "1.2.0").text())
	p.until("document.querySelectorAll('.lane [role=option]').length === 3")
	p.until("document.querySelector('#panel dl')?.innerText.includes('v1.2.0 replaces it')")
	if hash := value[string](p, "location.hash"); hash != "#/op/stable/op.v1.1.0" {
		t.Errorf("the page is now at %s", hash)
	}
	write("schema: [\n")
	p.until("!document.querySelector('#trouble').hidden")
	p.wants("#trouble", "catalog.yaml:1")
	if p.count(".lane [role=option]") != 3 {
		t.Error("a catalog that cannot be read takes the picture away")
	}
	write(strings.ReplaceAll(chain("op", "stable", "1.0.0").text(), "1.0.0", "7.0.0"))
	p.until("document.querySelector('#trouble').hidden && document.querySelectorAll('.lane [role=option]').length === 1")
	end()
	p.until("document.querySelector('#trouble').innerText.includes('The server has ended')")
	p.mu.Lock()
	p.faults = nil // the browser logs that the server is unreachable
	p.mu.Unlock()
	p.run(chromedp.Navigate("about:blank"))
}
