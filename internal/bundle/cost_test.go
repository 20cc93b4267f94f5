package bundle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
)

// The budget covers a whole bundle, however its content is spread over files.
func TestBudget(t *testing.T) {
	object := "kind: A\napiVersion: v1\n"
	each := func(n int, text string) []string {
		var files []string
		for i := range n {
			files = append(files, fmt.Sprintf("manifests/z%d.yaml", i), object+text)
		}
		return files
	}
	shared := "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n"
	for name, tt := range map[string]struct {
		files []string
		word  string // "" if within the budget
	}{
		"much text":                 {each(15, "a: "+strings.Repeat("x", 1<<20)+"\n"), ""},
		"too much text":             {each(17, "a: "+strings.Repeat("x", 1<<20)+"\n"), "16 MiB"},
		"many values":               {each(20, "a:\n"+strings.Repeat("- b\n", 10_000)), ""},
		"too many values":           {each(26, "a:\n"+strings.Repeat("- b\n", 10_000)), "250000 values"},
		"many values by aliases":    {each(200, shared), ""},
		"too many by aliases":       {each(300, shared), "aliases"},
		"many files with a fault":   {each(budget.BundleFaults, "a: b: c\n"), ""},
		"a fault too much":          {each(budget.BundleFaults+1, "a: b: c\n"), "cannot be read"},
		"too much in an annotation": {[]string{csvFile, strings.Replace(csvWith(""), "metadata:\n", "metadata:\n  annotations: {olm.properties: \"["+strings.Repeat(`\x7b\x7d\x2c`, budget.BundleValues)+"{}]\"}\n", 1)}, "olm.properties"},
		"a version too long":        {[]string{csvFile, strings.Replace(csvWith(""), "version: ", "version: 1.0.0-"+strings.Repeat("a.", budget.VersionText), 1)}, "characters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(t.Context(), minimal(tt.files...))
			if tt.word == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !failure.Is(err, failure.BundleInvalid) || !strings.Contains(err.Error(), tt.word) {
				t.Errorf("got %v, want %q", err, tt.word)
			}
		})
	}
}

// When the context ends, Parse stops and does not blame the bundle.
func TestParseEnds(t *testing.T) {
	late, stop := context.WithTimeout(t.Context(), time.Nanosecond)
	defer stop()
	<-late.Done()
	if _, err := Parse(late, minimal()); !failure.Is(err, failure.RegistryUnavailable) {
		t.Errorf("late: %v", err)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := Parse(left, minimal()); !failure.Is(err, failure.Interrupted) {
		t.Errorf("left: %v", err)
	}
	hangs := make(chan struct{})
	defer close(hangs)
	soon, over := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer over()
	if err := while(soon, func() error { <-hangs; return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hangs: %v", err)
	}
}

// A panic in the other goroutine becomes a panic of the caller.
func TestWhilePanics(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "a bug") {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = while(t.Context(), func() error { panic("a bug") })
}
