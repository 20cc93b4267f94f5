package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
)

// Explanation describes how the relay handles an announced image, and why.
type Explanation struct {
	Image string `json:"image"`
	// Skipped is the reason why the tag is not a bundle's.
	Skipped string `json:"skipped,omitempty"`
	// Routes are the routes that can announce the image.
	Routes []Announcer `json:"routes"`
	Sends  []Send      `json:"sends"`
	// Misses are the targets that do not receive it, nearest first.
	Misses []Miss `json:"misses"`
}

// Announcer is a route.
type Announcer struct {
	Path string `json:"path"`
	From string `json:"from"`
}

// Send is an event that the relay would send.
type Send struct {
	Repository string `json:"repository"`
	EventType  string `json:"eventType"`
	// By is the place of the pattern in the configuration.
	By         string `json:"by"`
	Pattern    string `json:"pattern"`
	Credential string `json:"credential"`
	// GitHub is GitHub's answer; "" if GitHub was not asked.
	GitHub string `json:"github,omitempty"`
	// Takes reports whether GitHub would accept the event; nil if GitHub was not asked.
	Takes *bool `json:"takes,omitempty"`
}

// Miss is a target that does not receive the image.
type Miss struct {
	Target string `json:"target"`
	Reason string `json:"reason"`
}

// Explain returns how the relay would handle an image. It sends no request and reads no secret. For an image
// that no target receives, it also returns a failure.
func Explain(c *Config, image string) (Explanation, error) {
	p, err := event.ParseReference(image)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Image: p.Image(), Routes: []Announcer{}, Sends: []Send{}, Misses: []Miss{}}
	if p.Tag != "" {
		e.Skipped = event.SkipReason(p.Tag, c.SkipTags)
	}
	for _, r := range c.announcing(p.Repository) {
		e.Routes = append(e.Routes, Announcer{r.Path, r.From})
	}
	heard := c.hear(p.Repository)
	for _, h := range heard {
		e.Sends = append(e.Sends, Send{
			Repository: h.to, EventType: h.eventType, By: h.by.String(), Pattern: c.Targets[h.by.target].Images[h.by.pattern],
			Credential: c.GitHub.credential(h.to),
		})
	}
	e.Misses = c.misses(p.Repository, heard)
	return e, c.unheard(p, e)
}

func (c *Config) misses(repository string, heard []hearing) []Miss {
	type one struct {
		target int
		miss
	}
	var all []one
	for i := range c.Targets {
		if !slices.ContainsFunc(heard, func(h hearing) bool { return h.by.target == i }) {
			all = append(all, one{i, c.Targets[i].miss(repository)})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(b.near, a.near) })
	misses := []Miss{}
	for _, m := range all {
		misses = append(misses, Miss{fmt.Sprintf("targets[%d]", m.target), m.reason})
	}
	return misses
}

// unheard returns the failure for an image that no target receives.
func (c *Config) unheard(p event.Publication, e Explanation) error {
	host, _, _ := strings.Cut(p.Repository, "/")
	refuse := func(fix, format string, args ...any) error {
		return failure.New(failure.BundleNotAllowed, "checking %s: %s", e.Image, fmt.Sprintf(format, args...)).Fix("%s", fix)
	}
	switch {
	case e.Skipped != "":
		return refuse("Give the bundle another tag, or set skipTags.", "%s", e.Skipped)
	case len(e.Routes) == 0:
		return refuse("Add a route for the registry.", "no route receives announcements of %s", host)
	case len(e.Sends) == 0:
		return refuse("Add a pattern for it to the images of a target.", "no target matches it")
	}
	return nil
}

// credential names the credential that GitHub gets for a repository.
func (g GitHub) credential(to string) string {
	switch {
	case g.App != nil && g.App.Installation == "":
		owner, _, _ := strings.Cut(to, "/")
		return fmt.Sprintf("the App %s, its installation for %s", g.App.ID, owner)
	case g.App != nil:
		return fmt.Sprintf("the App %s, installation %s", g.App.ID, g.App.Installation)
	case g.TokenFile != "":
		return "the token in " + g.TokenFile
	}
	return "the token in GITHUB_TOKEN"
}

// Online asks GitHub, for each event, whether the repository exists and would accept the event from the
// credential. It sends no event. An event that GitHub would refuse is a failure.
func Online(ctx context.Context, c *Config, o Options) (func(*Explanation) error, error) {
	tokens, err := openTokens(c.GitHub, o, o.client(), time.Now)
	if err != nil {
		return nil, err
	}
	sender := newSender(c.GitHub, tokens, o.UserAgent, o.transport())
	return func(e *Explanation) error {
		var errs []error
		for i := range e.Sends {
			s := &e.Sends[i]
			err := sender.try(ctx, s.Repository)
			takes := err == nil
			s.Takes, s.GitHub = &takes, "would accept it"
			if err != nil {
				s.GitHub = failure.Of(err).Message
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}, nil
}

// try makes the checks of a repository that are possible without an event.
func (d *githubSender) try(ctx context.Context, to string) error {
	repo := repositoryOf(to)
	c, err := d.client(ctx, repo.Owner)
	if err != nil {
		return failure.New(failure.ForgeAuth, "checking %s: %w", to, err).Fix("Correct the credential in github, or install the App there.")
	}
	if may := c.held.contents; may != "" && may != "write" {
		return failure.New(failure.ForgeAuth, "checking %s: the App's installation has %s access to contents, and events need contents: write", to, may).
			Fix("Give the App the permission contents: write.")
	}
	return c.TakesEvents(ctx, repo, c.held.contents == "")
}
