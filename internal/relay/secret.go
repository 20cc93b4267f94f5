package relay

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// shortestSecret excludes secrets that can be guessed.
const shortestSecret = 16

// lookAgain is how often a file is checked for a change.
const lookAgain = 5 * time.Second

// watched is a file of secrets or of a token, which may be replaced while the relay runs. If it becomes
// unreadable, the last content stays in use.
type watched struct {
	path string
	read func(string) error

	mu     sync.Mutex
	looked time.Time
	stamp  time.Time
	size   int64
}

// look reads the file if it has changed.
func (w *watched) look(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if age := now.Sub(w.looked); age >= 0 && age < lookAgain { // a clock may be set back
		return nil
	}
	w.looked = now
	info, err := os.Stat(w.path)
	if err != nil {
		return err
	}
	if info.ModTime().Equal(w.stamp) && info.Size() == w.size {
		return nil
	}
	text, err := os.ReadFile(w.path)
	if err != nil {
		return err
	}
	if err := w.read(string(text)); err != nil {
		return err
	}
	w.stamp, w.size = info.ModTime(), info.Size()
	return nil
}

// secrets are a sender's valid secrets. There can be several during an exchange: each line of the file is one.
type secrets struct {
	file *watched

	mu  sync.RWMutex
	all []string
}

func openSecrets(r Route, env func(string) (string, bool), now time.Time) (*secrets, error) {
	s := &secrets{}
	if r.SecretEnv != "" {
		text, _ := env(r.SecretEnv)
		if err := s.set(text); err != nil {
			return nil, fmt.Errorf("the variable %s: %w", r.SecretEnv, err)
		}
		return s, nil
	}
	s.file = &watched{path: r.SecretFile, read: s.set}
	if err := s.file.look(now); err != nil {
		return nil, fmt.Errorf("the secret of %s: %w", r.Path, err)
	}
	return s, nil
}

func (s *secrets) set(text string) error {
	all := strings.Fields(text)
	if len(all) == 0 {
		return errors.New("it is empty")
	}
	for _, one := range all {
		if len(one) < shortestSecret {
			return fmt.Errorf("a secret has %d characters, fewer than %d", len(one), shortestSecret)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = all
	return nil
}

// fits compares each secret with the one in the request. The time does not depend on the secrets: all are
// compared, each at fixed length.
func (s *secrets) fits(now time.Time, fits func(secret string) bool) bool {
	if s.file != nil {
		_ = s.file.look(now)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := false
	for _, one := range s.all {
		if fits(one) {
			found = true
		}
	}
	return found
}

func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
