package relay

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/event"
)

var (
	pathGrammar       = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)
	repositoryGrammar = regexp.MustCompile(`^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$`)
	numberGrammar     = regexp.MustCompile(`^[0-9]+$`)
	// own lists the paths that the relay answers itself.
	own = []string{"/healthz", "/readyz", "/metrics"}
)

// maxEventType is GitHub's limit.
const maxEventType = 100

// check finds the faults that the grammar does not find, and sets values that depend on others.
func (c *Config) check(d document) (errs []error) {
	fault := func(fix string, path []any, format string, args ...any) {
		errs = append(errs, d.fault(path, format, args...).Fix("%s", fix))
	}
	for key, address := range map[string]string{"listen": c.Listen, "adminListen": c.AdminListen} {
		if _, _, err := net.SplitHostPort(address); err != nil && (address != "" || key == "listen") {
			fault(`Write ":8080" or "127.0.0.1:8080".`, []any{key}, "%q is no address to listen on", address)
		}
	}
	c.Queue.check(fault, d)
	if l := c.Limits; l.Body < 1 || l.Body > event.MaxBody || l.Connections < 1 || l.Requests < 1 || l.PerAddress < 1 || l.Timeout <= 0 {
		fault("Give a body of at most 1048576 bytes, at least 1 connection and 1 request, and a time such as 10s.", []any{"limits"}, "these are no limits")
	}
	for i, network := range c.Limits.Proxies {
		if _, err := netip.ParsePrefix(network); err != nil {
			fault("Write a network such as 10.0.0.0/8.", []any{"limits", "trustedProxies", i}, "%q is no network", network)
		}
	}
	if c.ReplayWindow < time.Minute {
		fault("Give a time such as 72h, at least 1m.", []any{"replayWindow"}, "%v is too short", c.ReplayWindow)
	}
	c.GitHub.check(fault)
	if u, err := url.Parse(c.Tracing.Endpoint); err != nil || c.Tracing.Endpoint != "" && (u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http") {
		fault("Write http://HOST:4318.", []any{"tracing", "endpoint"}, "it is not an address of a collector")
	}
	if len(c.Routes) == 0 {
		fault("Add a route for each registry.", []any{"routes"}, "there is none")
	}
	seen := map[string]bool{}
	for i := range c.Routes {
		r := &c.Routes[i]
		r.check(fault, []any{"routes", i})
		if seen[r.Path] {
			fault("Give each route a path of its own.", []any{"routes", i, "path"}, "%s occurs twice", r.Path)
		}
		seen[r.Path] = true
	}
	if len(c.Targets) == 0 {
		fault("Add a target: images, and the repositories that hear of them.", []any{"targets"}, "there is none")
	}
	for i := range c.Targets {
		c.Targets[i].check(fault, []any{"targets", i})
	}
	if len(errs) == 0 {
		c.checkAmbiguous(fault)
	}
	return errs
}

// proxies returns the networks of trustedProxies. check has validated them.
func (l Limits) proxies() (all []netip.Prefix) {
	for _, network := range l.Proxies {
		if p, err := netip.ParsePrefix(network); err == nil {
			all = append(all, p)
		}
	}
	return all
}

type faulty func(fix string, path []any, format string, args ...any)

func (g *GitHub) check(fault faulty) {
	at := func(key string) []any { return []any{"github", key} }
	if u, err := url.Parse(g.APIURL); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		fault("Write https://api.github.com or https://HOST/api/v3.", at("apiURL"), "it is not an address of an API")
	}
	if g.Pace < 0 || g.FirstRetry <= 0 || g.LongestRetry < g.FirstRetry || g.GiveUpAfter < g.LongestRetry {
		fault("Set pace to 0 or more, and firstRetry, longestRetry and giveUpAfter in increasing order.", []any{"github"}, "its times contradict each other")
	}
	if g.App == nil {
		return
	}
	if g.TokenFile != "" {
		fault("Keep one of the two.", at("tokenFile"), "there is an app as well")
	}
	if g.App.ID == "" || g.App.KeyFile == "" {
		fault("Give id and keyFile.", at("app"), "something is missing")
	}
	if g.App.Installation != "" && !numberGrammar.MatchString(g.App.Installation) {
		fault("Give the number of the installation, or leave it out.", append(at("app"), "installation"), "%q is not a number of an installation", g.App.Installation)
	}
}

func (r *Route) check(fault faulty, at []any) {
	in := func(key string) []any { return append(at[:len(at):len(at)], key) }
	if !pathGrammar.MatchString(r.Path) || strings.Contains(r.Path, "/.") || slices.Contains(own, r.Path) {
		fault("Write a path such as /quay, without a slash at its end; /healthz, /readyz and /metrics are taken.", in("path"), "%q is no path of a route", r.Path)
	}
	forms := event.FormsOf(r.From)
	if len(forms) == 0 {
		fault("Those that exist are "+strings.Join(event.Senders(), ", ")+".", in("from"), "%q is no registry that Graft knows", r.From)
		return
	}
	proofs := forms[0].Proofs
	r.Proof = cmp.Or(r.Proof, proofs[0])
	if !slices.Contains(proofs, r.Proof) {
		fault("It can be "+event.InWords(proofs)+".", in("proof"), "%s has no proof %q", r.From, r.Proof)
	}
	if r.Proof == event.ByGoogle {
		if r.Audience == "" || r.Account == "" || r.SecretFile+r.SecretEnv != "" {
			fault("Give audience and account as in the push subscription, and no secret.", at, "Google's tokens are held against an audience and a service account")
		}
		return
	}
	if r.Audience+r.Account+r.KeysURL != "" {
		fault("Remove audience, account and keysURL.", at, "they belong to proof: google")
	}
	if (r.SecretFile == "") == (r.SecretEnv == "") {
		fault("Give one of secretFile and secretEnv.", at, "it needs one secret")
	}
}

func (t *Target) check(fault faulty, at []any) {
	in := func(key string) []any { return append(at[:len(at):len(at)], key) }
	t.EventType = cmp.Or(t.EventType, "bundle")
	if len(t.EventType) > maxEventType {
		fault("Shorten it.", in("eventType"), "it is longer than %d", maxEventType)
	}
	if len(t.Images) == 0 {
		fault("Add patterns such as quay.io/example/*.", in("images"), "there is none")
	}
	patterns := func(key string, all []string) {
		for i, pattern := range all {
			if !strings.Contains(pattern, "/") || strings.ContainsAny(pattern, "@ ") {
				fault("Write registry/repository without a tag; * is any text without a slash, ** any text.", append(in(key), i), "%q is no pattern of a repository", pattern)
			}
		}
	}
	patterns("images", t.Images)
	patterns("except", t.Except)
	for i, pattern := range t.Except {
		if strings.ContainsAny(pattern, "{}") {
			fault("Write * in place of it.", append(in("except"), i), "%s captures what nothing uses", pattern)
		}
	}
	if len(t.Repositories) == 0 {
		fault("Add OWNER/NAME.", in("repositories"), "there is none")
	}
	for i, name := range t.Repositories {
		if !isRepository(captureGrammar.ReplaceAllString(name, "x")) {
			fault("Write OWNER/NAME.", append(in("repositories"), i), "%q is not a GitHub repository", name)
		}
	}
	t.checkCaptures(fault, in)
}

// checkCaptures compares the captures of the patterns with those that the names of repositories use.
func (t *Target) checkCaptures(fault faulty, in func(string) []any) {
	used := capturesOf(strings.Join(t.Repositories, " "))
	for i, pattern := range t.Images {
		at := append(in("images"), i)
		if wrong := checkCaptures(pattern); wrong != "" {
			fault("Write captures such as quay.io/{org}/{name}-bundle, one between two slashes.", at, "%s: %s", pattern, wrong)
			continue
		}
		captured := capturesOf(pattern)
		for _, name := range captured {
			if !slices.Contains(used, name) {
				fault("Write * in place of it, or use it in repositories.", at, "%s captures {%s}, which nothing uses", pattern, name)
			}
		}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(used))) {
			if !slices.Contains(captured, name) {
				fault("Capture it in each pattern of the target, or name the repository.", at, "%s captures no {%s}, which repositories use", pattern, name)
			}
		}
	}
}

// checkAmbiguous finds images that two patterns with captures would map to different repositories.
func (c *Config) checkAmbiguous(fault faulty) {
	var all []place
	for i, t := range c.Targets {
		for n, pattern := range t.Images {
			if strings.Contains(pattern, "{") {
				all = append(all, place{i, n})
			}
		}
	}
	for i, p := range all {
		for _, other := range all[:i] {
			a, b := c.Targets[other.target], c.Targets[p.target]
			example, overlaps := overlap(a.Images[other.pattern], b.Images[p.pattern], slices.Concat(a.Except, b.Except))
			if !overlaps {
				continue
			}
			fault("Take the images of one out of the other by except, or make it one pattern.", []any{"targets", p.target, "images", p.pattern},
				"%s and %s of %v both name images such as %s", b.Images[p.pattern], a.Images[other.pattern], other, cmp.Or(example, "these"))
		}
	}
}
