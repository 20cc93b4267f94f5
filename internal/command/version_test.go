package command

import (
	"runtime/debug"
	"testing"
)

// A release has its own version, go install the module's, and a clone its commit.
func TestVersionOf(t *testing.T) {
	clone := []debug.BuildSetting{{Key: "vcs.revision", Value: "0a1b"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}}
	for _, tt := range []struct {
		name, released, module string
		settings               []debug.BuildSetting
		version, source        string
	}{
		{"a release", "v1.2.3", "v1.2.3-0.20260102030405-0a1b", clone[:1], "v1.2.3", ", commit 0a1b"},
		{"go install", unreleased, "v1.2.3", nil, "v1.2.3", ""},
		{"a clone", unreleased, "v1.2.4-0.20260102030405-0a1b+dirty", clone, "dev", ", commit 0a1b of 2026-01-02T03:04:05Z with uncommitted changes"},
		{"a clean clone", unreleased, "v1.2.3", clone[:2], "dev", ", commit 0a1b of 2026-01-02T03:04:05Z"},
		{"without version control", unreleased, "(devel)", nil, "dev", ""},
		{"without a module", unreleased, "", nil, "dev", ""},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: tt.module}, Settings: tt.settings}
		if version, source := versionOf(tt.released, info), SourceOf(info).String(); version != tt.version || source != tt.source {
			t.Errorf("%s: got %s%s", tt.name, version, source)
		}
	}
}
