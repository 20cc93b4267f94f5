package command

import "runtime/debug"

// Version is set by the release build. Without it, it is the version of the module that go install was given.
var Version = unreleased

const unreleased = "dev"

func init() {
	if info, ok := debug.ReadBuildInfo(); ok {
		Version = versionOf(Version, info)
	}
}

// versionOf returns the version of a build. Go also makes a version for a build in a clone; the commit says more.
func versionOf(released string, info *debug.BuildInfo) string {
	module := info.Main.Version
	if released != unreleased || module == "" || module == "(devel)" || SourceOf(info).Commit != "" {
		return released
	}
	return module
}

// Source is the state of the clone of a build. It is empty if Go recorded none.
type Source struct {
	Commit, Time string
	Modified     bool // the clone had uncommitted changes
}

// SourceOf returns what Go recorded about the source of a build.
func SourceOf(info *debug.BuildInfo) (s Source) {
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			s.Commit = setting.Value
		case "vcs.time":
			s.Time = setting.Value
		case "vcs.modified":
			s.Modified = setting.Value == "true"
		}
	}
	return s
}

// String describes the source behind a version: with a comma before it, or "".
func (s Source) String() string {
	if s.Commit == "" {
		return ""
	}
	text := ", commit " + s.Commit
	if s.Time != "" {
		text += " of " + s.Time
	}
	if s.Modified {
		text += " with uncommitted changes"
	}
	return text
}
