package effort

import (
	"fmt"
	"testing"
)

// told records what a test logs, and stands in for a test that fails.
type told struct {
	testing.TB
	said string
}

func (t *told) Helper()                           {}
func (t *told) Logf(format string, args ...any)   { t.said = fmt.Sprintf(format, args...) }
func (t *told) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestOf(t *testing.T) {
	usual := told{TB: t}
	t.Setenv(variable, "")
	want := 2
	if testing.Short() {
		want = 1
	}
	if n := Of(&usual, 1, 2, 30); n != want || Whole() || usual.said[:7] != fmt.Sprintf("%d of 30", want) {
		t.Errorf("%d, %q", n, usual.said)
	}
	t.Setenv(variable, "whole")
	if n := Of(&usual, 1, 2, 30); n != 30 || !Whole() || usual.said != "30 of 30, which is all" {
		t.Errorf("%d, %q", n, usual.said)
	}
	t.Setenv(variable, "all")
	defer func() {
		if recover() == nil {
			t.Error("an unknown word is accepted")
		}
	}()
	Of(&usual, 1, 2, 30)
}
