package outbound

import (
	"errors"
	"fmt"
	"net/url"
	"testing"
)

func TestRedact(t *testing.T) {
	var s Secrets
	s.Note("token-1", "token-1-and-more", "p@ss word", "abc", "")
	for text, want := range map[string]string{
		"with token-1-and-more and token-1":      "with *** and ***",
		"at https://user:p@ss@git.example/x":     "at https://***@git.example/x",
		"at https://git.example/p@ss%20word":     "at https://git.example/***",
		"git.example/p@ss%20word":                "git.example/***",
		"abc stays, it would take words out":     "abc stays, it would take words out",
		"quay.io/acme/x@sha256:ab is no address": "quay.io/acme/x@sha256:ab is no address",
	} {
		if got := s.Redact(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got := OneLine(" a\r\n\x1b[31mred\x1b[0m \u202e b\xff\tc "); got != "a red b c" {
		t.Errorf("got %q", got)
	}
	if got := Shorten("äöü", 2); got != "äö..." {
		t.Errorf("got %q", got)
	}
}

func TestCause(t *testing.T) {
	broken := errors.New("broken")
	to := func(at string, err error) error { return &url.Error{Op: "Get", URL: at, Err: err} }
	for want, err := range map[string]error{
		"broken":            broken,
		"a.example: broken": fmt.Errorf("asking: %w", to("https://a.example/path?signed", to("https://b.example/", broken))),
		"b.example: broken": errors.Join(to("https://b.example/x", broken), errors.New("other")),
	} {
		if got := Cause(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
