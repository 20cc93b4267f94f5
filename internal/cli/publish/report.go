package publish

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/publish"
)

// report is the output of --json; docs/report.schema.json describes it.
type report struct {
	SchemaVersion int              `json:"schemaVersion"`
	Result        string           `json:"result"`
	Published     []changeReport   `json:"published,omitempty"`
	Failures      []*failure.Error `json:"failures,omitempty"`
}

// changeReport is the result of one change.
type changeReport struct {
	Result      string             `json:"result"`
	Bundles     []publish.Facts    `json:"bundles"`
	Branch      string             `json:"branch,omitempty"`
	Commit      string             `json:"commit,omitempty"`
	PullRequest *pullRequestReport `json:"pullRequest,omitempty"`
	Superseded  []int              `json:"superseded,omitempty"`
	Files       []string           `json:"files"`
	Catalogs    []output.Catalog   `json:"catalogs"`
	Drift       []publish.Drift    `json:"drift,omitempty"`
	Begun       []publish.Begun    `json:"begun,omitempty"`
	Moved       []publish.Moved    `json:"moved,omitempty"`
	LeftOut     []plan.LeftOut     `json:"leftOut,omitempty"`
	Findings    []graph.Finding    `json:"findings,omitempty"`
	Warnings    []string           `json:"warnings,omitempty"`
}

type pullRequestReport struct {
	Number    int    `json:"number"`
	URL       string `json:"url"`
	Operation string `json:"operation"`
}

func reportOf(r *publish.Result) changeReport {
	out := changeReport{
		Result: r.Result, Bundles: append([]publish.Facts{}, r.Subjects...), Branch: r.Branch, Commit: r.Commit, Superseded: r.Superseded,
		Files: []string{}, Catalogs: []output.Catalog{}, Warnings: r.Warnings,
	}
	if p := r.Proposed; p.Number != 0 {
		out.PullRequest = &pullRequestReport{p.Number, p.URL, string(p.Operation)}
	}
	if r.Work == nil {
		return out
	}
	out.Files = append(out.Files, r.Work.Changed()...)
	out.Findings, out.LeftOut = r.Work.Findings, r.Work.LeftOut
	out.Drift, out.Begun, out.Moved = r.Work.Drift(), r.Work.Begun(), r.Work.Moved()
	for _, t := range r.Work.Targets {
		for _, c := range t.Catalogs {
			if c.Rendered {
				result := publish.Unchanged
				if slices.Contains(out.Files, c.Path) {
					result = publish.Updated
				}
				out.Catalogs = append(out.Catalogs, output.Catalog{File: c.Path, Template: t.Template, Platform: c.Platform, Result: result, Reused: c.Reused, Pulled: c.Pulled})
			}
		}
	}
	return out
}

// ranking orders results: the run's result is the first one that any change has.
var ranking = []string{publish.Failed, publish.Created, publish.Updated, publish.Closed, publish.Planned, publish.Unchanged}

// print prints the result of a run for people and for the workflow.
func (p *publishing) print(results []*publish.Result, err error) error {
	explorer, unwritten := p.explore(results)
	err = errors.Join(err, unwritten)
	rep := report{SchemaVersion: 1, Result: publish.Unchanged, Failures: failure.All(err)}
	for _, r := range results {
		one := reportOf(r)
		rep.Published = append(rep.Published, one)
		if slices.Index(ranking, one.Result) < slices.Index(ranking, rep.Result) {
			rep.Result = one.Result
		}
	}
	if err != nil {
		rep.Result = publish.Failed
	}
	p.nameInputs(rep.Failures)
	if p.action != nil {
		p.annotate(rep, results)
		err = errors.Join(err, p.outputs(rep, results, explorer), p.action.Summary(summary(rep, results)))
	}
	if p.JSON {
		p.PrintReport(rep)
		return err
	}
	for i, r := range results {
		p.printChange(rep.Published[i], r)
		if r.Result == publish.Planned {
			p.printDry(r)
		}
	}
	return err
}

func (p *publishing) printChange(one changeReport, r *publish.Result) {
	if one.Result == publish.Failed {
		return // the failures are printed at the end
	}
	for _, b := range one.Bundles {
		fmt.Fprintf(p.Out, "%s: %s\n", cmp.Or(b.Name, b.Image), one.Result)
	}
	if one.Result != publish.Unchanged {
		p.printWork(one, r.Work)
	}
	printBeside(p.Out, one)
	var left []about
	for _, l := range one.LeftOut {
		left = append(left, about{l.Path(), "left out: " + l.Reason})
	}
	printOnce(p.Out, "  ", ofFiles, left)
	if one.PullRequest != nil {
		fmt.Fprintf(p.Out, "  pull request %d %s: %s\n", one.PullRequest.Number, one.PullRequest.Operation, one.PullRequest.URL)
	}
	for _, n := range one.Superseded {
		fmt.Fprintf(p.Out, "  pull request %d closed: this one contains it\n", n)
	}
	for _, w := range one.Warnings {
		fmt.Fprintf(p.Err, "graft: warning: %s\n", output.Printable(w))
	}
}

// annotate shows failures and warnings at their places in the repository, and why nothing changes.
func (p *publishing) annotate(rep report, results []*publish.Result) {
	for _, r := range results {
		if r.Result == publish.Unchanged && r.Work != nil && len(r.Subjects) > 0 {
			p.action.Notice(cmp.Or(r.Subjects[0].Name, r.Subjects[0].Image) + ": nothing changes: " + r.Work.Unchanged())
		}
	}
	p.action.Fail(rep.Failures)
	for _, one := range rep.Published {
		for _, w := range one.Warnings {
			p.action.Warn("warning", "", 0, w)
		}
		warnings := slices.DeleteFunc(slices.Clone(one.Findings), func(f graph.Finding) bool { return f.Level != graph.Warning || f.Earlier })
		for _, said := range failure.Once(warnings, saying) {
			f := said.First
			text := f.Message
			if also := said.Also(); also != "" {
				text += ". " + also
			}
			p.action.Warn(f.ID, f.File, f.Line, text)
		}
	}
}

func saying(f graph.Finding) failure.Saying {
	at := failure.Error{File: f.File, Line: f.Line}
	return failure.Saying{Text: f.ID + "\x00" + failure.Without(f.Message, f.Against), Place: at.Place(), Against: f.Against}
}

// mostOutput limits an output: all outputs of a job together may have 1 MB.
const mostOutput = 64 << 10

// outputs sets every output of the action, also after a failure. If there are several changes, they describe
// the last one with a result; report describes all.
func (p *publishing) outputs(rep report, results []*publish.Result, explorer string) error {
	values := map[string]string{"explorer": explorer, "result": rep.Result, "failure-code": "0", "retryable": "false", "matrix": p.matrix}
	changed, last := false, -1
	for i := range rep.Published {
		changed = changed || results[i].Changed
		if last < 0 || results[i].Changed || !results[last].Changed {
			last = i
		}
	}
	values["changed"] = strconv.FormatBool(changed)
	if len(rep.Failures) > 0 {
		f := rep.Failures[0]
		values["failure-code"], values["failure-class"], values["retryable"] = strconv.Itoa(int(f.Code)), f.Class, strconv.FormatBool(f.Retryable)
	}
	if last >= 0 {
		outputsOf(rep.Published[last], results[last], values)
	}
	values["report"] = asJSON(rep)
	for _, o := range Outputs {
		if err := p.action.Output(o.Name, values[o.Name]); err != nil {
			return err
		}
	}
	return nil
}

func outputsOf(one changeReport, r *publish.Result, values map[string]string) {
	if n := len(one.Bundles); n > 0 {
		b := one.Bundles[n-1]
		values["package"], values["version"], values["bundle-name"], values["bundle-digest"] = b.Package, b.Version, b.Name, b.Digest
	}
	values["branch"], values["commit"], values["changed-files"] = one.Branch, one.Commit, strings.Join(one.Files, "\n")
	values["catalogs"] = asJSON(one.Catalogs)
	if pr := one.PullRequest; pr != nil {
		values["pull-request-number"], values["pull-request-url"], values["pull-request-operation"] = strconv.Itoa(pr.Number), pr.URL, pr.Operation
	}
	if r.Result == publish.Planned {
		values["diff"] = markdown.Limit(difference(r), mostOutput, "(cut)")
		values["body"] = markdown.Limit(r.Body, mostOutput, "")
	}
}

// mostSummary is GitHub's limit for one step's summary.
const mostSummary = 1 << 20

// summary returns the page of the run: failures, and each change's text.
func summary(rep report, results []*publish.Result) string {
	var b strings.Builder
	for _, said := range failure.Distinct(rep.Failures) {
		f := said.First
		fmt.Fprintf(&b, "**%s (%d)** %s\n\n", f.Class, f.Code, markdown.Escape(f.Error()))
		for _, text := range []string{said.Also(), f.Remedy} {
			if text != "" {
				b.WriteString(markdown.Escape(text) + "\n\n")
			}
		}
	}
	for i, r := range results {
		one := rep.Published[i]
		var names []string
		for _, bundle := range one.Bundles {
			names = append(names, markdown.Code(cmp.Or(bundle.Image, bundle.Name)))
		}
		fmt.Fprintf(&b, "## %s: %s\n\n", one.Result, strings.Join(names, ", "))
		if pr := one.PullRequest; pr != nil {
			fmt.Fprintf(&b, "Pull request [%d](%s) %s.\n\n", pr.Number, pr.URL, pr.Operation)
		}
		switch {
		case r.Body != "":
			b.WriteString(r.Body + "\n")
		case r.Work != nil && r.Err == nil:
			fmt.Fprintf(&b, "Nothing changes: %s.\n\n", markdown.Escape(r.Work.Unchanged()))
		case r.Err == nil:
			b.WriteString(markdown.List(escaped(one.Warnings)))
		}
	}
	if b.Len() == 0 {
		b.WriteString("There was nothing to publish.\n")
	}
	return markdown.Limit(b.String(), mostSummary-1, "The rest was cut.")
}

func escaped(texts []string) (out []string) {
	for _, text := range texts {
		out = append(out, markdown.Escape(text))
	}
	return out
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}
