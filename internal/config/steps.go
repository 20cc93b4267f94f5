package config

import (
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

// stepsMeaning finds what is wrong with the steps of a target.
func stepsMeaning(n *yamledit.Node, t plan.TargetSetup) (errs []error) {
	check := func(n *yamledit.Node, rules reference.Rewrites) {
		if again := rules.Check(); again != nil {
			errs = append(errs, at(n, "reading targets[].rewrite: what %s becomes, %s, would be rewritten again", again.From, again.To).
				Fix("Let no rule fit the result of one."))
		}
	}
	check(n.Get("rewrite"), t.Rewrite)
	for i, c := range n.Get("catalogs").Items() {
		check(c.Get("rewrite"), t.Catalogs[i].Rewrite)
	}
	return errs
}
