package publish

import (
	"cmp"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/action"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/publish"
	"github.com/olmgraft/graft/internal/template/kind"
)

// inputs are the inputs of one run of graft publish: flags first, then the inputs of the action. The
// configuration applies to inputs that are empty.
type inputs struct {
	asked               publish.Request
	image, event        string
	fromTags            []string
	versions            semver.Range
	refresh, planMatrix bool
	reopen              bool
	published           []plan.PublishedSetup

	token, repository, base, pushToFork string

	// given are the settings that override the configuration's. allowedBy names the input of allowed repositories
	// as it was given.
	given     config.Config
	allowedBy string
	branch    plan.Pattern

	dryRun, force bool
	allowCommands bool
	fromRemote    bool // in a dry run, read the base branch
	fromWorkTree  bool // a dry run of act reads what act copied
	diff          bool // in a dry run, show the difference of catalogs
	registry      registry.Options
	flags         []string // for the command that does the same locally
	cache         string
	explorer      string // file
	timeout       time.Duration
	wait          time.Duration // for an image that does not exist yet
}

// readInputs parses all inputs. It masks secrets before their first use.
func readInputs(flags *pflag.FlagSet, act *action.Action, env func(string) string) (in *inputs, err error) {
	v := values{flags: flags}
	if act != nil {
		v.action = act.Input
	}
	in = &inputs{
		asked: publish.Ask(v.text, v.list), image: v.text("image"), event: v.text("event"), fromTags: v.list("from-tags"),
		refresh: v.is("refresh"), planMatrix: v.is("plan-matrix"), reopen: v.is("reopen"),
		token: cmp.Or(v.text("token"), env("GITHUB_TOKEN")), repository: v.text("repository"), base: v.text("base"), pushToFork: v.text("push-to-fork"),
		branch: plan.Pattern(v.text("branch")), dryRun: v.is("dry-run"), fromRemote: v.is("remote"), diff: v.is("diff"), force: v.is("force"), allowCommands: v.is("allow-commands"), cache: v.text("cache"), explorer: v.text("explorer"),
		registry: registry.Options{UseHTTP: v.is("use-http"), SkipTLSVerify: v.is("skip-tls-verify"), Conf: v.text("registries-conf"), Jobs: 8, Auth: v.text("registry-auth")},
		given: config.Config{
			AllowedRepositories: v.list("allowed-repositories"), SkipTags: v.list("skip-tags"), Drift: config.Drift(v.text("drift")),
			PullRequest: config.PullRequest{
				Title: plan.Pattern(v.text("title")), Supersede: v.is("supersede"), Draft: v.is("draft"), Milestone: v.text("milestone"), AutoMerge: v.text("auto-merge"),
				Labels: v.list("labels"), Reviewers: v.list("reviewers"), TeamReviewers: v.list("team-reviewers"), Assignees: v.list("assignees"),
			},
			Commit: config.Commit{Message: plan.Pattern(v.text("message")), Method: config.Method(v.text("commit-method")), Signoff: v.is("signoff")},
		},
	}
	in.allowedBy = v.place("allowed-repositories")
	in.flags = flagsToReproduce(v, env("GITHUB_WORKSPACE"))
	if act != nil {
		in.registry.Token = in.token // a workflow's token may pull from ghcr.io
		in.mask(act, v)
	}
	if in.timeout, err = time.ParseDuration(v.text("timeout")); err != nil || in.timeout <= 0 {
		return nil, invalid("timeout", v.text("timeout")).Fix("Give a time such as 15m.")
	}
	if in.wait, err = patience(v.text("wait"), act != nil); err != nil {
		return nil, err
	}
	switch in.given.Commit.Method {
	case "", config.WithGit, config.WithAPI:
	default:
		return nil, invalid("commit-method", in.given.Commit.Method).Fix("Give git or api.")
	}
	switch in.given.Drift {
	case "", config.WarnOfDrift, config.RefuseDrift:
	default:
		return nil, invalid("drift", in.given.Drift).Fix("Give warn or refuse.")
	}
	switch in.asked.Asked.Rebuild {
	case "", plan.Refuse, plan.Replace:
	default:
		return nil, invalid("rebuild", in.asked.Asked.Rebuild).Fix("Give refuse or replace.")
	}
	if skips := in.asked.Asked.SemverSkips; skips != "" && !slices.Contains(kind.AllSemverSkips, skips) {
		return nil, invalid("semver-skips", skips).Fix("Give major, minor or channel.")
	}
	if in.asked.Edit.Said() && (in.image != "" || in.event != "" || len(in.fromTags) > 0 || in.refresh || in.planMatrix) {
		return nil, failure.New(failure.Usage, "reading the inputs: remove, deprecate or edges is given with something to publish").
			Fix("Publish, remove, deprecate and change edges in separate runs.")
	}
	switch in.given.PullRequest.AutoMerge {
	case "", "merge", "squash", "rebase":
	default:
		return nil, invalid("auto-merge", in.given.PullRequest.AutoMerge).Fix("Give merge, squash or rebase.")
	}
	for _, catalog := range v.list("published") {
		in.published = append(in.published, plan.PublishedSetup{Catalog: plan.Pattern(catalog)})
	}
	if text := v.text("versions"); text != "" && len(in.fromTags) > 0 {
		if in.versions, err = semver.ParseRange(text); err != nil {
			return nil, invalid("versions", text, err).Fix("Give a range such as >=1.2.0.")
		}
	}
	if text := v.text("author"); text != "" {
		author, err := gitrepo.ParseIdentity(text)
		if err != nil {
			return nil, err
		}
		in.given.Commit.Author = config.Person(author)
	}
	levels, err := graph.ParseLevels("findings", v.list("findings"), false)
	in.given.Levels = levels.Of
	return in, err
}

// patience returns the given wait, or else that for an event: some registries announce images before they serve
// them. A person who names a missing tag has probably misspelt it.
func patience(text string, event bool) (wait time.Duration, err error) {
	switch {
	case text != "":
		if wait, err = time.ParseDuration(text); err != nil || wait < 0 {
			return 0, invalid("wait", text).Fix("Give a time such as 1m, or 0s.")
		}
	case event:
		wait = time.Minute
	}
	return wait, nil
}

func (in *inputs) mask(act *action.Action, v values) {
	act.Mask(in.token)
	for _, one := range Inputs {
		if one.Secret {
			act.Mask(v.text(one.Name))
		}
	}
	if u, err := url.Parse(in.repository); err == nil && u.User != nil {
		password, _ := u.User.Password()
		act.Mask(password)
	}
}

// announcement returns what the inputs or the event of the workflow announce.
func (in *inputs) announcement(act *action.Action, skipTags []string) (event.Announcement, error) {
	if in.image != "" {
		one, err := event.ParseReference(in.image)
		return event.Announcement{Publications: []event.Publication{one}}, err
	}
	var name string
	var body []byte
	var err error
	if in.event != "" {
		if body, err = os.ReadFile(in.event); err != nil {
			return event.Announcement{}, failure.New(failure.Usage, "reading the event: %w", err).Fix("Give --event with a file that exists.")
		}
	} else if act != nil {
		if name, body, err = act.Event(); err != nil {
			return event.Announcement{}, err
		}
	}
	if len(body) == 0 {
		return event.Announcement{}, failure.New(failure.Usage, "looking for the published image: there is neither image nor event").
			Fix("Give --image, or run on repository_dispatch, workflow_dispatch or registry_package.")
	}
	return event.ParseAny(name, body, skipTags)
}

// values returns inputs by name.
type values struct {
	flags  *pflag.FlagSet
	action func(name string) string // nil outside of an action
}

func (v values) text(name string) string {
	flag := v.flags.Lookup(name)
	if !flag.Changed && v.action != nil {
		if text := v.action(name); text != "" {
			return text
		}
	}
	return flag.Value.String()
}

// place names an input as it was given: as a flag, or as an input of the action.
func (v values) place(name string) string {
	if v.action != nil && !v.flags.Lookup(name).Changed && v.action(name) != "" {
		return "the input " + name
	}
	return "--" + name
}

// invalid refuses the value of an input, with a cause if there is one.
func invalid(name string, value any, causes ...error) *failure.Error {
	if err := errors.Join(causes...); err != nil {
		return failure.New(failure.Usage, "reading the command line: --%s: invalid value %q: %w", name, value, err)
	}
	return failure.New(failure.Usage, "reading the command line: --%s: invalid value %q", name, value)
}

func (v values) is(name string) bool { return strings.EqualFold(v.text(name), "true") }

func (v values) list(name string) []string {
	var out []string
	for _, s := range strings.FieldsFunc(v.text(name), func(r rune) bool { return r == ',' || r == '\n' }) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
