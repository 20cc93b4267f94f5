package internal_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// workflow has the parts of a workflow that concern trust and permissions.
type workflow struct {
	On          any            `yaml:"on"`
	Permissions any            `yaml:"permissions"`
	Env         map[string]any `yaml:"env"`
	Jobs        map[string]job `yaml:"jobs"`
}

type job struct {
	Permissions any            `yaml:"permissions"`
	Uses        string         `yaml:"uses"`
	Secrets     any            `yaml:"secrets"`
	RunsOn      any            `yaml:"runs-on"`
	If          string         `yaml:"if"`
	Env         map[string]any `yaml:"env"`
	Container   any            `yaml:"container"`
	Services    map[string]any `yaml:"services"`
	Steps       []step         `yaml:"steps"`
}

type step struct {
	Uses  string         `yaml:"uses"`
	Run   string         `yaml:"run"`
	Shell string         `yaml:"shell"`
	If    string         `yaml:"if"`
	With  map[string]any `yaml:"with"`
	Env   map[string]any `yaml:"env"`
}

var (
	byDigest    = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	byCommit    = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	goInstall   = regexp.MustCompile(`go (?:install|run) \S+@(\S+)`)
	goPinned    = regexp.MustCompile(`^(v\d+\.\d+\.\d+|[0-9a-f]{40})$`)
	intoShell   = regexp.MustCompile(`\|\s*(sudo )?(ba|da|z)?sh\b`)
	fileOfNext  = regexp.MustCompile(`GITHUB_(ENV|PATH)\b`)
	byActor     = regexp.MustCompile(`github\.(triggering_)?actor\b`)
	allSecrets  = regexp.MustCompile(`toJSON\(\s*secrets\s*\)|secrets\[`)
	strangers   = []string{"pull_request_target", "workflow_run", "issue_comment", "issues", "discussion", "discussion_comment", "fork", "watch"}
	publishing  = []string{"contents", "packages", "id-token", "attestations"}
	permissions = "permissions are not named one by one"
)

// breaches returns the rules that a workflow breaks. The rules follow zizmor's. It records in writes what
// tokens may write.
func breaches(t *testing.T, source string, writes map[string]bool) (all []string) {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(source), &w); err != nil {
		t.Fatalf("%v in %s", err, source)
	}
	if len(w.Jobs) == 0 {
		all = append(all, "there are no jobs")
	}
	for _, trigger := range triggers(w.On) {
		if slices.Contains(strangers, trigger) {
			all = append(all, "strangers start it with a token: "+trigger)
		}
	}
	if allSecrets.MatchString(source) {
		all = append(all, "all secrets are given away")
	}
	for name, j := range w.Jobs {
		for _, b := range j.breaches(w, writes) {
			all = append(all, "job "+name+": "+b)
		}
	}
	return all
}

func triggers(on any) (names []string) {
	switch on := on.(type) {
	case string:
		names = append(names, on)
	case []any:
		for _, one := range on {
			names = append(names, fmt.Sprint(one))
		}
	case map[string]any:
		for name := range on {
			names = append(names, name)
		}
	}
	return names
}

func (j job) breaches(w workflow, writes map[string]bool) (all []string) {
	if w.Permissions == nil && j.Permissions == nil {
		all = append(all, permissions)
	}
	publishes := false
	for _, said := range []any{w.Permissions, j.Permissions} {
		of, ok := said.(map[string]any)
		if said != nil && !ok {
			all = append(all, permissions)
		}
		for what, level := range of {
			if level == "write" {
				writes[what] = true
				publishes = publishes || slices.Contains(publishing, what)
			}
		}
	}
	if j.Secrets == "inherit" {
		all = append(all, "all secrets are inherited")
	}
	if strings.Contains(fmt.Sprint(j.RunsOn), "self-hosted") {
		all = append(all, "it runs on a machine that stays")
	}
	for _, image := range append([]any{j.Container}, mapValues(j.Services)...) {
		if of, ok := image.(map[string]any); ok {
			image = of["image"]
		}
		if image != nil && !byDigest.MatchString(fmt.Sprint(image)) {
			all = append(all, fmt.Sprintf("the image %v is named by no digest", image))
		}
	}
	if j.Uses != "" && !pinned(j.Uses) {
		all = append(all, j.Uses+" is named by no commit")
	}
	for i, s := range append([]step{{If: j.If, Env: j.Env}, {Env: w.Env}}, j.Steps...) {
		for _, b := range s.breaches(publishes) {
			all = append(all, fmt.Sprintf("step %d: %s", i-1, b))
		}
	}
	return all
}

func mapValues(m map[string]any) (values []any) {
	for _, v := range m {
		values = append(values, v)
	}
	return values
}

func pinned(uses string) bool {
	return strings.HasPrefix(uses, "./") || byCommit.MatchString(uses) || strings.HasPrefix(uses, "docker://") && byDigest.MatchString(uses)
}

func (s step) breaches(publishes bool) (all []string) {
	if s.Uses != "" && !pinned(s.Uses) {
		all = append(all, s.Uses+" is named by no commit")
	}
	script, _ := s.With["script"].(string)
	for _, code := range []string{s.Run, s.Shell, script} {
		if strings.Contains(code, "${{") {
			all = append(all, "a script contains an expression: give it by env")
		}
	}
	if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
		all = append(all, "the checkout leaves the token behind")
	}
	if strings.HasPrefix(s.Uses, "actions/setup-") && publishes && s.With["cache"] != false {
		all = append(all, "a release uses a cache that others may have filled")
	}
	for _, m := range goInstall.FindAllStringSubmatch(s.Run, -1) {
		if !goPinned.MatchString(m[1]) {
			all = append(all, m[0]+" is another program tomorrow")
		}
	}
	if intoShell.MatchString(s.Run) {
		all = append(all, "a download is run")
	}
	if fileOfNext.MatchString(s.Run) {
		all = append(all, "it changes the environment of later steps")
	}
	if byActor.MatchString(s.If) {
		all = append(all, "it trusts the name of who started it last")
	}
	for name := range s.Env {
		if strings.HasPrefix(name, "ACTIONS_ALLOW_") || name == "LD_PRELOAD" {
			all = append(all, name+" lets a log line be a command")
		}
	}
	return all
}

// For each rule, an otherwise sound workflow breaks it.
func TestWorkflowRules(t *testing.T) {
	const commit = "11bd71901bbe5b1630ceea73d27597364c9af683"
	const sound = "on: [push, pull_request]\npermissions: {contents: read}\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n" +
		"      - uses: actions/checkout@" + commit + "\n        with: {persist-credentials: false}\n" +
		"      - uses: actions/setup-go@" + commit + "\n        with: {cache: false}\n" +
		"      - run: |\n          go install a.b/c@v1.2.3\n          c \"$TITLE\"\n        env: {TITLE: \"${{ github.event.pull_request.title }}\"}\n"
	if got := breaches(t, sound, map[string]bool{}); len(got) > 0 {
		t.Errorf("what is sound breaks %v", got)
	}
	for _, tt := range [][3]string{
		{`c "$TITLE"`, `c "${{ github.event.pull_request.title }}"`, "a script contains an expression"},
		{"- run: |", "- shell: \"bash ${{ inputs.flags }}\"\n        run: |", "a script contains an expression"},
		{"      - run: |", "      - uses: actions/github-script@" + commit + "\n        with: {script: \"console.log('${{ github.head_ref }}')\"}\n      - run: |", "a script contains an expression"},
		{"{persist-credentials: false}", "{fetch-depth: 0}", "the checkout leaves the token behind"},
		{"{persist-credentials: false}", "{persist-credentials: true}", "the checkout leaves the token behind"},
		{"[push, pull_request]", "[push, pull_request_target]", "strangers start it with a token"},
		{"[push, pull_request]", "pull_request_target", "strangers start it with a token"},
		{"[push, pull_request]", "{workflow_run: {workflows: [ci]}}", "strangers start it with a token"},
		{"checkout@" + commit, "checkout@v4", "is named by no commit"},
		{"checkout@" + commit, "checkout@" + commit[:12], "is named by no commit"},
		{"actions/setup-go@" + commit, "docker://a.b/c:v1", "is named by no commit"},
		{"    runs-on: ubuntu-latest", "    runs-on: ubuntu-latest\n    container: a.b/c:v1", "is named by no digest"},
		{"    runs-on: ubuntu-latest", "    runs-on: ubuntu-latest\n    services: {db: {image: \"a.b/c:v1\"}}", "is named by no digest"},
		{"    runs-on: ubuntu-latest", "    runs-on: [self-hosted, linux]", "a machine that stays"},
		{"permissions: {contents: read}\n", "", "permissions are not named"},
		{"permissions: {contents: read}", "permissions: write-all", "permissions are not named"},
		{"permissions: {contents: read}", "permissions: read-all", "permissions are not named"},
		{"    runs-on: ubuntu-latest", "    secrets: inherit\n    runs-on: ubuntu-latest", "all secrets are inherited"},
		{"{contents: read}\njobs:\n  one:\n    runs-on: ubuntu-latest\n", "{contents: read}\njobs:\n  two: {uses: a/b/.github/workflows/c.yml@main}\n  one:\n    runs-on: ubuntu-latest\n", "is named by no commit"},
		{"{cache: false}", "{go-version: stable}", ""},
		{"{contents: read}", "{contents: write}", ""},
		{"go install a.b/c@v1.2.3", "go install a.b/c@latest", "another program tomorrow"},
		{"go install a.b/c@v1.2.3", "curl -sSf https://a.b/c | sudo bash -s", "a download is run"},
		{"go install a.b/c@v1.2.3", "echo \"X=$TITLE\" >> \"$GITHUB_ENV\"", "the environment of later steps"},
		{"- run: |", "- if: github.actor == 'dependabot[bot]'\n        run: |", "trusts the name"},
		{"    runs-on: ubuntu-latest", "    if: github.triggering_actor == 'x'\n    runs-on: ubuntu-latest", "trusts the name"},
		{"env: {TITLE: ", "env: {ACTIONS_ALLOW_UNSECURE_COMMANDS: true, TITLE: ", "lets a log line be a command"},
		{"env: {TITLE: \"${{ github.event.pull_request.title }}\"}", "env: {ALL: \"${{ toJSON(secrets) }}\"}", "all secrets are given away"},
	} {
		source := strings.Replace(sound, tt[0], tt[1], 1)
		got := strings.Join(breaches(t, source, map[string]bool{}), "\n")
		if source == sound || tt[2] == "" && got != "" || !strings.Contains(got, tt[2]) {
			t.Errorf("%s: %q, want %q", tt[1], got, tt[2])
		}
	}
	filled := strings.NewReplacer("{cache: false}", "{go-version: stable}", "{contents: read}", "{packages: write}").Replace(sound)
	if got := strings.Join(breaches(t, filled, map[string]bool{}), "\n"); !strings.Contains(got, "a cache that others may have filled") {
		t.Errorf("a cache in what publishes: %q", got)
	}
}
