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
	"path/filepath"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page shows the pull requests as they are at the moment. A nil one was not asked for.
type page struct {
	listener net.Listener
	servers  *servers.Servers
	http     *http.Server
	failed   chan error
}

// openPage takes the page's address, before anything else is begun.
func (d *demo) openPage() (*page, error) {
	if !d.serve {
		return nil, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", d.listen)
	if err != nil {
		return nil, failure.New(failure.Usage, "serving the page: %w", err).Fix("Give --listen with a free address of this machine, such as 127.0.0.1:8080.")
	}
	p := &page{listener: listener, failed: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.show)
	p.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(d.Err, "graft-demo: ", 0)}
	return p, nil
}

func (p *page) serve(d *demo) {
	if p == nil {
		return
	}
	p.servers = d.servers
	go func() { p.failed <- p.http.Serve(p.listener) }()
	d.report.Page = "http://" + p.listener.Addr().String() + "/"
	fmt.Fprintf(d.to, "\n   Pull requests    %s\n\n   To publish one more, in another terminal:\n\n   $ cd %s\n", d.report.Page, filepath.Join(d.dir, "checkout"))
	fmt.Fprintf(d.to, "   $ export GITHUB_API_URL=%s GITHUB_SERVER_URL=%s GITHUB_TOKEN=%s\n   $ graft publish --image %s:v1.3.0\n\n   Interrupt ends it all.\n",
		d.servers.API, d.servers.Git.URL, servers.Token, d.image)
}

// wait is until the run is interrupted, which is how it is meant to end.
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

type shownPull struct {
	fakegithub.PullRequest
	Files []shownFile
}

type shownFile struct {
	Name  string
	Lines []shownLine
}

type shownLine struct{ Class, Text string }

// show gives the forge's texts to the template only, which escapes them.
func (p *page) show(w http.ResponseWriter, _ *http.Request) {
	data := struct {
		Repository string
		Pulls      []shownPull
	}{Repository: servers.Repository}
	for _, pr := range p.servers.PullRequests() {
		changes, err := p.servers.Changes(pr.Number)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		one := shownPull{PullRequest: pr}
		for _, c := range changes {
			file := shownFile{Name: c.Name}
			for line := range strings.Lines(unified(c)) {
				file.Lines = append(file.Lines, shownLine{map[byte]string{'+': "add", '-': "del"}[line[0]], line})
			}
			one.Files = append(one.Files, file)
		}
		data.Pulls = append(data.Pulls, one)
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pageTemplate.Execute(w, data) // fails where the reader is gone
}
