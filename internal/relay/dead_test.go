package relay

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// A line that was torn spoils no other.
func TestBuryUponATornLine(t *testing.T) {
	c := &cemetery{dir: t.TempDir()}
	path := filepath.Join(c.dir, deadName)
	if err := os.WriteFile(path, []byte(`{"to":"a/b","ty`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"a/c", "a/d"} {
		if err := c.bury(letter{To: to}, queue.Item{At: time.Now()}, verdict{refused: "no"}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var read []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var dead deadLetter
		if json.Unmarshal(lines.Bytes(), &dead) == nil {
			read = append(read, dead.To)
		}
	}
	if len(read) != 2 || read[0] != "a/c" || read[1] != "a/d" {
		t.Errorf("read %q", read)
	}
}
