package plan

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/template/kind"
)

func TestFields(t *testing.T) {
	files := repo(map[string]string{"basic.yaml": basicTemplate, "catalog.yaml": strings.ReplaceAll(catalogOf("op", "olm.csv.metadata"), "1.0.0", "2.0.0")})
	for _, tt := range []struct{ image, version, path, value, want string }{
		{"quay.io/example/op:v3.0.0", "3.0.0", "x.env", "{repository}|{tag}|{digest}|{image}", "x.env=quay.io/example/op|v3.0.0|" + digest + "|quay.io/example/op:v3.0.0"},
		{"quay.io/example/op@" + digest, "3.0.0", "{package}-{major}.env", "{version} {image}", "op-3.env=3.0.0 quay.io/example/op@" + digest},
		{"quay.io/example/op:v1.3.0", "1.3.0", "x.env", "{digest}", "KEY of x.env stays: op.v2.0.0 is a higher version."},
		{"quay.io/example/op:v1.3.0", "1.3.0", "x-{major}.env", "{digest}", "x-1.env=" + digest},
		{"quay.io/example/op:v1.1.0", "1.1.0", "x-{major}.env", "{digest}", "KEY of x-1.env stays: op.v1.2.0 is a higher version."},
		{"quay.io/example/op@" + digest, "3.0.0", "x.env", "{tag}", "graft.yaml:7:3: filling in a value of files: \"{tag}\": {tag} has no value here"},
	} {
		setup := &Setup{File: "graft.yaml", Targets: []TargetSetup{{
			Template: "basic.yaml", Rules: rules("stable"), Catalogs: []CatalogSetup{{Path: "catalog.yaml", Metadata: Auto}},
			Files: []FileSetup{{Line: 7, Col: 3, Path: Pattern(tt.path), At: "KEY", Value: Pattern(tt.value)}},
		}}}
		b := kind.Bundle{Name: "op.v" + tt.version, Version: semver.MustParse(tt.version), Package: "op", Image: tt.image, Digest: digest}
		p, err := Make(files, Input{Trusted: true, Bundle: b, Setup: setup})
		var got strings.Builder
		if err != nil {
			got.WriteString(err.Error())
		} else {
			for _, f := range p.Targets[0].Fields {
				got.WriteString(f.Path + "=" + f.Value)
			}
			got.WriteString(strings.Join(p.Targets[0].Reasons, " "))
		}
		if !strings.Contains(got.String(), tt.want) {
			t.Errorf("%s into %s: %s, want %s", tt.image, tt.path, got.String(), tt.want)
		}
	}
}
