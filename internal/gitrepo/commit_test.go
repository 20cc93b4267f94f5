package gitrepo

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

func change(c Change) Change {
	if c.Message == "" {
		c.Message = "x"
	}
	return c
}

func TestCommitKeepsModesAndLinks(t *testing.T) {
	h := newHost(t, gitremote.GitBackend)
	r := h.open(t, nil)
	text := func(s string) File { return File{Data: []byte(s)} }
	for name, tt := range map[string]struct {
		change  Change
		changed string // the paths, with mode and content
	}{
		"through a link to a file":      {Change{Files: map[string]File{"operators/op/current.yml": text("new")}}, "operators/op/template.yml 100644 new"},
		"through a link to a folder":    {Change{Files: map[string]File{"latest/more.yml": text("new")}}, "operators/op/more.yml 100644 new"},
		"the link itself":               {Change{Files: map[string]File{"latest": {Data: []byte("operators/op-a"), Mode: fs.ModeSymlink}}}, "latest 120000 operators/op-a"},
		"an executable":                 {Change{Files: map[string]File{"operators/op/run.sh": text("new")}}, "operators/op/run.sh 100755 new"},
		"a new executable":              {Change{Files: map[string]File{"bin/x": {Data: []byte("new"), Mode: 0o755}}}, "bin/x 100755 new"},
		"an executable no more":         {Change{Files: map[string]File{"operators/op/run.sh": {Data: []byte("#!/bin/sh\n"), Mode: 0o644}}}, "operators/op/run.sh 100644 #!/bin/sh\n"},
		"folders within folders":        {Change{Files: map[string]File{"a/b/c/d": text("new")}}, "a/b/c/d 100644 new"},
		"a name between others":         {Change{Files: map[string]File{"operators/op-": text("new"), "operators/op0": text("new")}}, "operators/op- 100644 new, operators/op0 100644 new"},
		"deletion of a folder's last":   {Change{Deleted: []string{"operators/op-a/ci.yaml"}}, "operators/op-a/ci.yaml gone"},
		"deletion of a link":            {Change{Deleted: []string{"latest"}}, "latest gone"},
		"deletion through a link":       {Change{Deleted: []string{"latest/run.sh"}}, "operators/op/run.sh gone"},
		"deletion of files not present": {Change{Deleted: []string{"none", "no/thing"}, Files: map[string]File{"x": text("")}}, "x 100644 "},
		"bytes as they are":             {Change{Files: map[string]File{"crlf": text("\ufeffa\r\nb\x00\xff")}}, "crlf 100644 \ufeffa\r\nb\x00\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Delivery{Base: r.BaseCommit(), Branch: "graft/a", Change: change(tt.change)}
			got := must[Delivered](t)(r.Deliver(context.Background(), d))
			modes := must[map[string]string](t)(h.repo.Modes(got.Commit))
			var all []string
			for _, path := range must[[]string](t)(h.repo.Changed(got.Commit)) {
				if modes[path] == "" {
					all = append(all, path+" gone")
					continue
				}
				all = append(all, path+" "+modes[path]+" "+must[string](t)(h.repo.Read(got.Commit, path)))
			}
			if is := strings.Join(all, ", "); is != tt.changed {
				t.Errorf("got  %q\nwant %q", is, tt.changed)
			}
		})
	}
	h.sound(t)
}

func TestCommitRefuses(t *testing.T) {
	h := newHost(t, gitremote.GoBackend)
	r := h.open(t, nil)
	for path, says := range map[string]string{
		"outside":                 "leaves the repository",
		"outside/x":               "leaves the repository",
		"../x":                    "not a path within the repository",
		"/etc/passwd":             "not a path within the repository",
		"":                        "not a path within the repository",
		".":                       "not a path within the repository",
		"a//b":                    "not a path within the repository",
		".git/config":             "git's own folder",
		"sub/.GIT/hooks/pre-push": "git's own folder",
		"operators/op":            "there is a folder",
		"latest":                  "there is a folder",
		"README.md/x":             "not a folder",
		"operators/op/run.sh/x/y": "not a folder",
	} {
		_, err := r.Commit(context.Background(), change(Change{Files: map[string]File{path: {}}}))
		wantFailure(t, err, failure.EditRefused, says, path)
	}
	for name, c := range map[string]Change{
		"twice by a link": {Files: map[string]File{"latest/x": {}, "operators/op/x": {}}},
		"file and folder": {Files: map[string]File{"new": {}, "new/x": {}}},
	} {
		if _, err := r.Commit(context.Background(), change(c)); failure.Of(err).Code != failure.EditRefused {
			t.Errorf("%s: %v", name, err)
		}
	}
	r = h.open(t, func(o *Options) { o.Author = Identity{} })
	_, err := r.Commit(context.Background(), change(Change{Files: map[string]File{"x": {}}}))
	wantFailure(t, err, failure.Usage, "no author", "NAME <EMAIL>")
}

func TestCommitIsAFunctionOfItsInput(t *testing.T) {
	h := newHost(t, gitremote.GoBackend)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var shas []string
	for range 2 {
		r := h.open(t, func(o *Options) { o.Now = func() time.Time { return at } })
		c := must[Commit](t)(r.Commit(context.Background(), Change{Message: "x", Requests: []string{"r", "s"}, Files: map[string]File{"a/b": {}, "c": {Data: []byte("x")}}}))
		if !c.Written.Equal(at) || len(c.Parents) != 1 || c.Parents[0] != r.BaseCommit() || strings.Join(c.Requests(), " ") != "r s" {
			t.Errorf("%+v", c)
		}
		shas = append(shas, c.SHA)
	}
	if shas[0] != shas[1] {
		t.Error("the same change makes two commits")
	}
}

func TestMessage(t *testing.T) {
	const request, signed = "Graft-Request: op/1.1.0", "Signed-off-by: A <a@b>"
	for _, tt := range []struct{ message, want string }{
		{"Subject", "Subject\n\n" + request + "\n" + signed + "\n"},
		{"Subject\n\nBody\n\n\n", "Subject\n\nBody\n\n" + request + "\n" + signed + "\n"},
		{"Subject: like a trailer", "Subject: like a trailer\n\n" + request + "\n" + signed + "\n"},
		{"Subject\n\nCloses: #1\n", "Subject\n\nCloses: #1\n" + request + "\n" + signed + "\n"},
		{"Subject\r\n\r\nCloses: #1", "Subject\r\n\r\nCloses: #1\n" + request + "\n" + signed + "\n"},
		{"Subject\n\n" + request, "Subject\n\n" + request + "\n" + signed + "\n"},
		{"Subject\n\nNot: a trailer\nblock", "Subject\n\nNot: a trailer\nblock\n\n" + request + "\n" + signed + "\n"},
		{"a\x00b\xff", "ab�\n\n" + request + "\n" + signed + "\n"},
	} {
		got := compose(tt.message, request, signed)
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.message, got, tt.want)
		}
		if strings.Join(requestsOf(got), " ") != "op/1.1.0" {
			t.Errorf("%q: the request is %q", got, requestsOf(got))
		}
	}
	if got := compose("x", "Graft-Request: a\nSigned-off-by: b"); got != "x\n\nGraft-Request: a Signed-off-by: b\n" {
		t.Errorf("a request of two lines: %q", got)
	}
	for _, none := range []string{"", "Graft-Request: x", "a\n\nsays Graft-Request: x here\n", "a\n\nGraft-Request: x\n\nlater", "a\n\nGraft-Requests: x"} {
		if got := requestsOf(none); got != nil {
			t.Errorf("%q has the request %q", none, got)
		}
	}
}

func TestIdentity(t *testing.T) {
	for s, want := range map[string]Identity{
		"A B <a@b.c>": {"A B", "a@b.c"},
		" x[bot]<1+x[bot]@users.noreply.example.com> ": {"x[bot]", "1+x[bot]@users.noreply.example.com"},
	} {
		if got, err := ParseIdentity(s); err != nil || got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "a", "a@b.c", "<a@b.c>", "A <a>", "A <a@b.c> x", "A <a@b.c", "A a@b.c>"} {
		if got, err := ParseIdentity(s); err == nil {
			t.Errorf("%q is %v", s, got)
		}
	}
	if s := (Identity{"A <x>\n\x00B", "a@b\n>c"}).signature(time.Time{}); s.Name != "A xB" || s.Email != "a@bc" {
		t.Errorf("%+v", s)
	}
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct{ address, token, want string }{
		{"https://github.com/acme/catalog", "t", "https://github.com/acme/catalog"},
		{"git@github.com:acme/catalog.git", "t", "https://github.com/acme/catalog.git"},
		{"ssh://git@ghe.example.com:2222/acme/catalog.git", "t", "https://ghe.example.com/acme/catalog.git"},
		{"git@github.com:acme/catalog.git", "", "ssh://git@github.com/acme/catalog.git"},
		{"https://me:secret@ghe.example.com:8443/acme/catalog", "", "https://ghe.example.com:8443/acme/catalog"},
		{"https://secret@github.com/acme/catalog", "", "https://github.com/acme/catalog"},
	} {
		m, err := newRemote(tt.address, newTransport(nil), Options{Token: tt.token}.withDefaults())
		if err != nil || m.url != tt.want {
			t.Errorf("%s: %+v, %v", tt.address, m, err)
		}
		if err == nil && strings.Contains(m.clean("it says secret, https://a:b@c/d and "+strings.Repeat("x", 1000)), "secret") && strings.Contains(tt.address, "secret") {
			t.Errorf("%s: the secret shows", tt.address)
		}
	}
}
