package config

import (
	"github.com/olmgraft/graft/internal/field"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/yamledit"
)

func decodeRewrite(n *yamledit.Node) (rules reference.Rewrites) {
	for _, r := range n.Items() {
		rules = append(rules, reference.Rewrite{From: r.Get("from").Text(), To: r.Get("to").Text()})
	}
	return rules
}

func decodeFiles(n *yamledit.Node) (files []plan.FileSetup) {
	for _, f := range n.Items() {
		one := plan.FileSetup{Path: pattern(f.Get("path")), At: pattern(f.Get("at")), Value: plan.Pattern(or(f.Get("value"), "{repository}@{digest}"))}
		one.Line, one.Col = f.Get("path").Position()
		files = append(files, one)
	}
	return files
}

// stepsMeaning checks the steps of a target.
func stepsMeaning(n *yamledit.Node, t plan.TargetSetup) (errs []error) {
	check := func(n *yamledit.Node, rules reference.Rewrites) {
		if again := rules.Check(); again != nil {
			errs = append(errs, at(n, "reading targets[].rewrite: what %s becomes, %s, would be rewritten again", again.From, again.To).
				Fix("Change the rules so that none matches the result of another."))
		}
	}
	check(n.Get("rewrite"), t.Rewrite)
	for i, c := range n.Get("catalogs").Items() {
		check(c.Get("rewrite"), t.Catalogs[i].Rewrite)
	}
	for i, f := range n.Get("files").Items() {
		if err := field.Check(string(t.Files[i].Path), string(t.Files[i].At)); err != nil {
			errs = append(errs, at(f.Get("at"), "reading targets[].files: %w", err).
				Fix("Write a path such as spec.images[name=op].image for YAML and JSON, and the name of a variable for any other file."))
		}
		if err := plan.CheckPath(string(t.Files[i].Path)); err != nil {
			errs = append(errs, at(f.Get("path"), "reading targets[].files: %w", err))
		}
	}
	return errs
}
