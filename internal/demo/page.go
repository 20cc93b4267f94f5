package demo

import (
	"context"
	_ "embed" // the page
	"errors"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page shows the pull requests in their present state, and the output of the failures. A nil page shows nothing.
type page struct {
	*demo
	listener net.Listener
	http     *http.Server
	failed   chan error
}

// openPage reserves the page's address before anything else starts.
func (d *demo) openPage() (*page, error) {
	if !d.serve {
		return nil, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", d.listen)
	if err != nil {
		return nil, failure.New(failure.Usage, "serving the page: %w", err).Fix("Give --listen with a free address of this machine, such as 127.0.0.1:8080.")
	}
	p := &page{demo: d, listener: listener, failed: make(chan error, 1)}
	p.http = &http.Server{Handler: p.routes(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(d.Err, "graft-demo: ", 0)}
	return p, nil
}

func (p *page) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.showAll)
	mux.HandleFunc("GET /"+servers.Repository+"/pull/{number}", p.showPull)
	mux.HandleFunc("GET /"+servers.Repository+"/pull/{number}/graph.svg", p.showGraph)
	return mux
}

// serve shows the page at its own address and at that of the stand-in for GitHub, which links in Graft's output
// use.
func (p *page) serve() {
	if p == nil {
		return
	}
	p.servers.ShowPages(p.routes())
	go func() { p.failed <- p.http.Serve(p.listener) }()
	p.report.Page = "http://" + p.listener.Addr().String() + "/"
	fmt.Fprintf(p.say, "\nPull requests and failures: %s\n\nTo publish one more, in another terminal:\n\n  cd %s\n", p.report.Page, filepath.Join(p.dir, "checkout"))
	fmt.Fprintf(p.say, "  export GITHUB_API_URL=%s GITHUB_SERVER_URL=%s GITHUB_TOKEN=%s\n  graft publish --image %s:v1.3.0\n\nInterrupt ends it.\n",
		p.servers.API, p.servers.Git.URL, servers.Token, p.image)
}

// wait waits for an interrupt, which is the normal end.
func (p *page) wait(ctx context.Context) error {
	if p == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.failed:
		return failure.New(failure.Internal, "serving the page: %w", err)
	}
}

func (p *page) close() {
	if p != nil {
		_ = errors.Join(p.listener.Close(), p.http.Close())
	}
}

// shown is the template's data: one pull request, or the list of all and the failures.
type shown struct {
	Repository string
	Pull       *shownPull
	Pulls      []shownPull
	Failures   []Failed
}

type shownPull struct {
	fakegithub.PullRequest
	HTML  template.HTML
	Files []shownFile
}

// Shown returns the state in GitHub's words.
func (s shownPull) Shown() string {
	switch {
	case s.Merged:
		return "Merged"
	case s.State == "open":
		return "Open"
	}
	return "Closed"
}

type shownFile struct {
	Name, Lines string
	Open        bool // for templates, which reviewers read
	Text        []shownLine
}

type shownLine struct{ Class, Text string }

func (p *page) showAll(w http.ResponseWriter, _ *http.Request) {
	data := shown{Failures: p.report.Failures}
	for _, pr := range p.servers.PullRequests() {
		data.Pulls = append(data.Pulls, shownPull{PullRequest: pr})
	}
	answer(w, data)
}

func (p *page) showPull(w http.ResponseWriter, r *http.Request) {
	pr, changes, ok := p.pull(w, r)
	if !ok {
		return
	}
	one := shownPull{PullRequest: pr}
	var err error
	if one.HTML, err = asPage(pr.Body, r.URL.Path+"/graph.svg"); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for _, c := range changes {
		text := unified(c)
		file := shownFile{Name: c.Name, Lines: lines(text), Open: !strings.HasPrefix(c.Name, "catalogs/")}
		for line := range strings.Lines(text) {
			file.Text = append(file.Text, shownLine{map[byte]string{'+': "add", '-': "del"}[line[0]], line})
		}
		one.Files = append(one.Files, file)
	}
	answer(w, shown{Pull: &one})
}

// showGraph draws the catalog of a pull request and marks the new parts.
func (p *page) showGraph(w http.ResponseWriter, r *http.Request) {
	_, changes, ok := p.pull(w, r)
	if !ok {
		return
	}
	dir, err := os.MkdirTemp(p.dir, "graph-")
	defer func() { _ = os.RemoveAll(dir) }()
	for _, c := range changes {
		if c.Name == newCatalog && err == nil {
			err = writeFiles(dir, map[string]string{"before.yaml": string(c.Before), "after.yaml": string(c.After)})
		}
	}
	code, svg, said := 1, "", ""
	if err == nil {
		code, svg, said = p.graft(r.Context(), nil, "graph", "-o", "svg", "--base", filepath.Join(dir, "before.yaml"), filepath.Join(dir, "after.yaml"))
	}
	if code != 0 {
		http.Error(w, said, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = w.Write([]byte(svg)) // fails if the reader is gone
}

// pull returns the pull request of a request, or answers that there is none.
func (p *page) pull(w http.ResponseWriter, r *http.Request) (fakegithub.PullRequest, []fakegithub.Change, bool) {
	number, err := strconv.Atoi(r.PathValue("number"))
	all := p.servers.PullRequests()
	if err != nil || number < 1 || number > len(all) {
		http.NotFound(w, r)
		return fakegithub.PullRequest{}, nil, false
	}
	changes, err := p.servers.Changes(number)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return fakegithub.PullRequest{}, nil, false
	}
	return all[number-1], changes, true
}

// answer passes the forge's texts to the template, which escapes them.
func answer(w http.ResponseWriter, data shown) {
	data.Repository = servers.Repository
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pageTemplate.Execute(w, data) // fails if the reader is gone
}
