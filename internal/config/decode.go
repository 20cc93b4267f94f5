package config

import (
	"path"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// decode converts a configuration that fits the schema.
func decode(name string, n *yamledit.Node) *Config {
	c := Default()
	c.File = name
	c.Package = n.Get("package").Text()
	for _, t := range n.Get("targets").Items() {
		c.Targets = append(c.Targets, decodeTarget(t))
	}
	for _, o := range n.Get("operands").Items() {
		c.Operands = append(c.Operands, plan.OperandSetup{
			Image: o.Get("image").Text(), Name: o.Get("name").Text(), Schema: or(o.Get("schema"), "olm.operand"), As: or(o.Get("as"), path.Base(o.Get("image").Text())),
			Package: o.Get("package").Text(), Files: o.Get("files").Strings(), Catalogs: o.Get("catalogs").Strings(),
		})
	}
	for _, s := range n.Get("catalogSources").Items() {
		c.CatalogSources = append(c.CatalogSources, decodeCatalogSource(s))
	}
	c.Edges = decodeEdges(n.Get("edges"))
	c.Rebuild = n.Get("rebuild").Text()
	c.VersionsLabel = n.Get("versionsLabel").Text()
	c.SemverSkips = kind.SemverSkips(n.Get("semverSkips").Text())
	c.Published, c.InsteadOf = decodePublished(n.Get("published")), n.Get("insteadOf").Text()
	c.Registries = texts(n.Get("registries"))
	c.AllowedRepositories = list(n.Get("allowedRepositories"))
	c.SkipTags = list(n.Get("skipTags"))
	if levels := texts(n.Get("levels")); levels != nil {
		c.Levels = map[string]graph.Level{}
		for id, level := range levels {
			c.Levels[id] = graph.Level(level)
		}
	}
	decodePullRequest(n.Get("pullRequest"), &c.PullRequest)
	decodeCommit(n.Get("commit"), &c.Commit)
	c.Sum = n.Get("sum").Text()
	c.Drift = Drift(n.Get("drift").Text())
	if after := n.Get("after"); after != nil {
		c.After = plan.AfterSetup{File: name, Run: after.Get("run").Strings(), Changes: after.Get("changes").Strings()}
		c.After.Line, c.After.Col = after.Get("run").Position()
	}
	return c
}

// fromBundle in place of channels selects the channels that the bundle's annotations name.
const fromBundle = "from-bundle"

func decodeTarget(n *yamledit.Node) plan.TargetSetup {
	t := plan.TargetSetup{
		Package:        n.Get("package").Text(),
		Template:       pattern(n.Get("template")),
		Create:         n.Get("create").Text(),
		DefaultChannel: pattern(n.Get("defaultChannel")),
		Rebuild:        n.Get("rebuild").Text(),
		VersionsLabel:  n.Get("versionsLabel").Text(),
		NewChannel:     n.Get("newChannel").Text(),
		SemverSkips:    kind.SemverSkips(n.Get("semverSkips").Text()),
		Rewrite:        decodeRewrite(n.Get("rewrite")),
		Published:      decodePublished(n.Get("published")),
		InsteadOf:      n.Get("insteadOf").Text(),
		Files:          decodeFiles(n.Get("files")),
	}
	t.Line, t.Col = n.Get("template").Position()
	if channels := n.Get("channels"); channels.Text() == fromBundle {
		t.FromBundle = true
	} else if channels != nil {
		t.Rules = []plan.ChannelRule{{Channels: patterns(channels.Strings())}}
	}
	for _, r := range n.Get("rules").Items() {
		t.Rules = append(t.Rules, plan.ChannelRule{
			Versions:       plan.VersionRule(r.Get("versions").Text()),
			Channels:       patterns(r.Get("channels").Strings()),
			DefaultChannel: pattern(r.Get("defaultChannel")),
		})
	}
	if edges := n.Get("edges"); edges != nil {
		rule := decodeEdges(edges)
		t.Edges = &rule
	}
	for _, c := range n.Get("catalogs").Items() {
		t.Catalogs = append(t.Catalogs, plan.CatalogSetup{
			Path:     pattern(c.Get("path")),
			Name:     c.Get("name").Text(),
			Platform: c.Get("platform").Text(),
			Metadata: plan.MetadataRule(or(c.Get("metadata"), string(plan.Auto))),
			Create:   truth(c.Get("create"), false),
			Rewrite:  decodeRewrite(c.Get("rewrite")),

			Include:          decodeBundles(c.Get("include")),
			Exclude:          decodeBundles(c.Get("exclude")),
			Heads:            texts(c.Get("heads")),
			DanglingReplaces: c.Get("danglingReplaces").Text(),
		})
	}
	return t
}

func decodeBundles(n *yamledit.Node) (rules []plan.BundleRule) {
	for _, r := range n.Items() {
		platforms := r.Get("platforms")
		rules = append(rules, plan.BundleRule{
			Versions:  plan.VersionRule(r.Get("versions").Text()),
			Channels:  r.Get("channels").Strings(),
			Platforms: plan.PlatformRange{Min: platforms.Get("min").Text(), Max: platforms.Get("max").Text(), Drop: platforms.Get("drop").Strings()},
		})
	}
	return rules
}

func decodeCatalogSource(n *yamledit.Node) plan.CatalogSourceSetup {
	image := n.Get("image").Text()
	colon := strings.LastIndexByte(image, ':') // the schema requires one
	var catalogs []string
	for _, c := range n.Get("catalogs").Strings() {
		catalogs = append(catalogs, path.Clean(c))
	}
	var labels [][2]string
	for key, value := range n.Get("labels").Fields() {
		labels = append(labels, [2]string{key.Value, value.Text()})
	}
	return plan.CatalogSourceSetup{
		Kind: n.Get("kind").Text(), Poll: number(n.Get("poll")), Priority: number(n.Get("priority")), Labels: labels,
		Path: path.Clean(n.Get("path").Text()), Repository: image[:colon], Tag: image[colon+1:], Template: n.Get("template").Text(), Form: n.Get("form").Text(),
		Name: n.Get("name").Text(), Namespace: n.Get("namespace").Text(), Catalogs: catalogs,
	}
}

// number returns an integer, or nil if there is none or it is out of range.
func number(n *yamledit.Node) *int {
	if i, err := strconv.Atoi(n.Text()); err == nil {
		return &i
	}
	return nil
}

// decodePublished distinguishes an empty list, which declares that nothing is published, from a missing one.
func decodePublished(n *yamledit.Node) []plan.PublishedSetup {
	if n == nil {
		return nil
	}
	if text := n.Text(); text != "" {
		return []plan.PublishedSetup{{Catalog: plan.Pattern(text)}}
	}
	all := []plan.PublishedSetup{}
	for _, item := range n.Items() {
		all = append(all, plan.PublishedSetup{Platform: item.Get("platform").Text(), Catalog: pattern(item.Get("catalog"))})
	}
	return all
}

func decodeEdges(n *yamledit.Node) plan.EdgeRule {
	return plan.EdgeRule{
		From:                    n.Text(), // set if the edge rule is a single word
		Explicit:                truth(n.Get("explicit"), false),
		Replaces:                pattern(n.Get("replaces")),
		SkipRange:               pattern(n.Get("skipRange")),
		NoRewire:                !truth(n.Get("rewire"), true),
		AllowMissingPredecessor: truth(n.Get("allowMissingPredecessor"), false),
	}
}

func decodePullRequest(n *yamledit.Node, p *PullRequest) {
	p.Strategy = Strategy(or(n.Get("strategy"), string(p.Strategy)))
	if p.Strategy == ForPackage {
		p.Branch = rollingBranch
	}
	p.Title = plan.Pattern(or(n.Get("title"), string(p.Title)))
	p.Intro = pattern(n.Get("intro"))
	p.Base = n.Get("base").Text()
	p.Branch = plan.Pattern(or(n.Get("branch"), string(p.Branch)))
	p.Supersede = truth(n.Get("supersede"), p.Supersede)
	p.Labels = n.Get("labels").Strings()
	p.Reviewers = n.Get("reviewers").Strings()
	p.TeamReviewers = n.Get("teamReviewers").Strings()
	p.Assignees = n.Get("assignees").Strings()
	p.Milestone = n.Get("milestone").Text()
	p.Draft = truth(n.Get("draft"), p.Draft)
	p.AutoMerge = n.Get("autoMerge").Text()
	p.MaintainerCanModify = truth(n.Get("maintainerCanModify"), p.MaintainerCanModify)
}

func decodeCommit(n *yamledit.Node, c *Commit) {
	c.Author, c.Committer = person(n.Get("author")), person(n.Get("committer"))
	c.Signoff = truth(n.Get("signoff"), c.Signoff)
	c.Message = plan.Pattern(or(n.Get("message"), string(c.Message)))
	c.Method = Method(or(n.Get("method"), string(c.Method)))
}

func person(n *yamledit.Node) Person {
	name, address, _ := strings.Cut(n.Text(), "<")
	return Person{Name: strings.TrimSpace(name), Email: strings.TrimSuffix(address, ">")}
}

func pattern(n *yamledit.Node) plan.Pattern { return plan.Pattern(n.Text()) }

func patterns(texts []string) []plan.Pattern {
	var out []plan.Pattern
	for _, t := range texts {
		out = append(out, plan.Pattern(t))
	}
	return out
}

func or(n *yamledit.Node, instead string) string {
	if n == nil {
		return instead
	}
	return n.Text()
}

func truth(n *yamledit.Node, instead bool) bool {
	if n == nil {
		return instead
	}
	return strings.EqualFold(n.Value, "true")
}

// list returns a list of texts: nil if it is missing, otherwise not nil.
func list(n *yamledit.Node) []string {
	if n == nil {
		return nil
	}
	return append([]string{}, n.Strings()...)
}

// texts returns a mapping of texts, or nil if it is missing.
func texts(n *yamledit.Node) map[string]string {
	if n == nil {
		return nil
	}
	out := map[string]string{}
	for key, value := range n.Fields() {
		out[key.Resolve().Value] = value.Text()
	}
	return out
}
