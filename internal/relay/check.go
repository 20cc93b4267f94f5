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
			fault(`Write ":8080" or "127.0.0.1:8080".`, []any{key}, "%q is not an address to listen on", address)
		}
	}
	c.Queue.check(fault, d)
	if l := c.Limits; l.Body < 1 || l.Body > event.MaxBody || l.Connections < 1 || l.Requests < 1 || l.PerAddress < 1 || l.Timeout <= 0 {
		fault("Give a body of at most 1048576 bytes, at least 1 connection and 1 request, and a time such as 10s.", []any{"limits"}, "a limit is out of range")
	}
	for i, network := range c.Limits.Proxies {
		if _, err := netip.ParsePrefix(network); err != nil {
			fault("Write a network such as 10.0.0.0/8.", []any{"limits", "trustedProxies", i}, "%q is not a network", network)
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
		fault("Add a route for each registry.", []any{"routes"}, "it has no entry")
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
		fault("Add a target with images and repositories.", []any{"targets"}, "it has no entry")
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
		fault("Set pace to 0 or more, and firstRetry, longestRetry and giveUpAfter in increasing order.", []any{"github"}, "its times are out of order")
	}
	if g.App == nil {
		return
	}
	if g.TokenFile != "" {
		fault("Keep one of the two.", at("tokenFile"), "app is set too")
	}
	if g.App.ID == "" || g.App.KeyFile == "" {
		fault("Give id and keyFile.", at("app"), "id or keyFile is missing")
	}
	if g.App.Installation != "" && !numberGrammar.MatchString(g.App.Installation) {
		fault("Give the number of the installation, or leave it out.", append(at("app"), "installation"), "%q is not the number of an installation", g.App.Installation)
	}
}

func (r *Route) check(fault faulty, at []any) {
	in := func(key string) []any { return append(at[:len(at):len(at)], key) }
	if !pathGrammar.MatchString(r.Path) || strings.Contains(r.Path, "/.") || slices.Contains(own, r.Path) {
		fault("Write a path such as /quay, without a slash at its end; /healthz, /readyz and /metrics are taken.", in("path"), "%q is not a valid path", r.Path)
	}
	forms := event.FormsOf(r.From)
	if len(forms) == 0 {
		fault("Write one of "+strings.Join(event.Senders(), ", ")+".", in("from"), "%q is not a known sender", r.From)
		return
	}
	proofs := forms[0].Proofs
	r.Proof = cmp.Or(r.Proof, proofs[0])
	if !slices.Contains(proofs, r.Proof) {
		fault("Write "+event.InWords(proofs)+".", in("proof"), "%s has no proof %q", r.From, r.Proof)
	}
	if r.Proof == event.ByGoogle {
		if r.Audience == "" || r.Account == "" || r.SecretFile+r.SecretEnv != "" {
			fault("Set audience and account as in the push subscription, and remove secretFile and secretEnv.", at, "proof: google needs audience and account, and has no secret")
		}
		return
	}
	if r.Audience+r.Account+r.KeysURL != "" {
		fault("Remove audience, account and keysURL.", at, "audience, account and keysURL need proof: google")
	}
	if (r.SecretFile == "") == (r.SecretEnv == "") {
		fault("Set one of secretFile and secretEnv.", at, "it needs exactly one of secretFile and secretEnv")
	}
}

func (t *Target) check(fault faulty, at []any) {
	in := func(key string) []any { return append(at[:len(at):len(at)], key) }
	t.EventType = cmp.Or(t.EventType, "bundle")
	if len(t.EventType) > maxEventType {
		fault("Shorten it.", in("eventType"), "it is longer than %d characters", maxEventType)
	}
	if len(t.Images) == 0 {
		fault("Add patterns such as quay.io/example/*.", in("images"), "it has no entry")
	}
	patterns := func(key string, all []string) {
		for i, pattern := range all {
			if !strings.Contains(pattern, "/") || strings.ContainsAny(pattern, "@ ") {
				fault("Write registry/repository without a tag; * matches any text without a slash, ** any text.", append(in(key), i), "%q is not a pattern of a repository", pattern)
			}
		}
	}
	patterns("images", t.Images)
	patterns("except", t.Except)
	for i, pattern := range t.Except {
		if strings.ContainsAny(pattern, "{}") {
			fault("Write * instead.", append(in("except"), i), "%s has a capture, and exclusions cannot use captures", pattern)
		}
	}
	if len(t.Repositories) == 0 {
		fault("Add OWNER/NAME.", in("repositories"), "it has no entry")
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
				fault("Write * instead, or use the capture in repositories.", at, "%s captures {%s}, which repositories does not use", pattern, name)
			}
		}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(used))) {
			if !slices.Contains(captured, name) {
				fault("Capture it in each pattern of the target, or name the repository.", at, "%s captures no {%s}, which repositories uses", pattern, name)
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
			fault("Exclude the images of one from the other with except, or write one pattern.", []any{"targets", p.target, "images", p.pattern},
				"%s and %s of %v both match images such as %s", b.Images[p.pattern], a.Images[other.pattern], other, cmp.Or(example, "these"))
		}
	}
}
