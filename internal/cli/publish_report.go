package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/publish"
)

// publishReport is what became of one bundle.
type publishReport struct {
	Result      string             `json:"result"`
	Package     string             `json:"package"`
	Version     string             `json:"version"`
	Name        string             `json:"name"`
	Image       string             `json:"image"`
	Digest      string             `json:"digest,omitempty"`
	Branch      string             `json:"branch,omitempty"`
	Commit      string             `json:"commit,omitempty"`
	PullRequest *pullRequestReport `json:"pullRequest,omitempty"`
	Files       []string           `json:"files"`
	Targets     []publish.Target   `json:"-"`
	Catalogs    []catalogReport    `json:"catalogs"`
	Notes       []string           `json:"notes,omitempty"`
}

type pullRequestReport struct {
	Number    int    `json:"number"`
	URL       string `json:"url"`
	Operation string `json:"operation"`
}

func reportOf(r *publish.Result) publishReport {
	w := r.Work
	out := publishReport{
		Result: r.Result, Package: w.Bundle.Package, Version: w.Bundle.Version.String(), Name: w.Bundle.Name, Image: w.Bundle.Image,
		Digest: r.Digest, Branch: r.Branch, Commit: r.Commit, Files: append([]string{}, w.Changed()...), Targets: w.Targets, Notes: r.Proposed.Notes,
	}
	for _, t := range w.Targets {
		for _, c := range t.Catalogs {
			out.Catalogs = append(out.Catalogs, catalogReport{File: c.Path, Template: t.Template, Platform: c.Platform, Reused: c.Reused, Pulled: c.Pulled})
		}
	}
	if p := r.Proposed; p.Number != 0 {
		out.PullRequest = &pullRequestReport{p.Number, p.URL, p.Operation}
	}
	return out
}

// tell says what a run came to, to people and to the workflow.
func (p *publishing) tell(results []*publish.Result, err error) error {
	rep := report{Result: "unchanged", Failures: failure.All(err)}
	var last *publish.Result
	for _, r := range results {
		if r.Work == nil || r.Work.Bundle.Name == "" {
			continue
		}
		one := reportOf(r)
		rep.Published = append(rep.Published, one)
		if r.Result != "unchanged" {
			rep.Result = r.Result
		}
		last = r
	}
	if err != nil {
		rep.Result = "failed"
	}
	if p.action != nil {
		p.outputs(rep, last)
		p.summary(rep, results)
	}
	if p.json {
		p.printReport(rep)
		return err
	}
	for i, r := range rep.Published {
		p.say(r)
		if r.Result == "planned" {
			p.printDry(results[i])
		}
	}
	return err
}

func (p *publishing) say(r publishReport) {
	fmt.Fprintf(p.Out, "%s: %s\n", r.Name, r.Result)
	for _, t := range r.Targets {
		for _, c := range t.Changes {
			fmt.Fprintf(p.Out, "  %s: %s\n", t.Template, sentence(c))
		}
	}
	for _, c := range r.Catalogs {
		fmt.Fprintf(p.Out, "  %s: %d bundles copied, %d pulled\n", c.File, c.Reused, c.Pulled)
	}
	if r.PullRequest != nil {
		fmt.Fprintf(p.Out, "  pull request %d %s: %s\n", r.PullRequest.Number, r.PullRequest.Operation, r.PullRequest.URL)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(p.Err, "graft: note: %s\n", n)
	}
}

// outputs sets every output of the action, of a failed run as well.
func (p *publishing) outputs(rep report, last *publish.Result) {
	values := map[string]string{"result": rep.Result, "changed": strconv.FormatBool(rep.Result == "created" || rep.Result == "updated"), "failure-code": "0", "retryable": "false"}
	if len(rep.Failures) > 0 {
		f := rep.Failures[0]
		values["failure-code"], values["failure-class"], values["retryable"] = strconv.Itoa(int(f.Code)), f.Class, strconv.FormatBool(f.Retryable)
		for _, f := range rep.Failures {
			p.action.Fail(f)
		}
	}
	if last != nil {
		r := rep.Published[len(rep.Published)-1]
		values["package"], values["version"], values["bundle-name"], values["bundle-digest"] = r.Package, r.Version, r.Name, r.Digest
		values["branch"], values["commit"], values["changed-files"] = r.Branch, r.Commit, strings.Join(r.Files, "\n")
		values["catalogs"] = asJSON(r.Catalogs)
		if r.PullRequest != nil {
			values["pull-request-number"], values["pull-request-url"], values["pull-request-operation"] = strconv.Itoa(r.PullRequest.Number), r.PullRequest.URL, r.PullRequest.Operation
		}
	}
	rep.SchemaVersion = 1
	values["report"] = asJSON(rep)
	for _, o := range publishOutputs {
		p.action.Output(o.name, values[o.name])
	}
}

func (p *publishing) summary(rep report, results []*publish.Result) {
	var b strings.Builder
	for _, r := range results {
		if r.Work != nil && r.Body != "" {
			fmt.Fprintf(&b, "## %s\n\n%s\n", rep.Result, r.Body)
		}
	}
	for _, f := range rep.Failures {
		fmt.Fprintf(&b, "**%s (%d)** %s\n\n%s\n\n", f.Class, f.Code, strings.ReplaceAll(f.Error(), "<", "&lt;"), f.Remedy)
	}
	if b.Len() == 0 {
		b.WriteString("Nothing to do: every catalog has it already.\n")
	}
	p.action.Summary(b.String())
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}
