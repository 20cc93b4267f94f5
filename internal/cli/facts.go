package cli

import (
	"context"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
)

// facts reads the facts of the bundle that the flags do not give from its image. If the flags give all, it
// pulls nothing.
func (o *insertOptions) facts(ctx context.Context) (notes []string, err error) {
	b := &o.request.Bundle
	if b.Name == "" || o.version == "" || b.Package == "" || o.request.Promote {
		client, err := o.registry.Client()
		if err != nil {
			return nil, err
		}
		o.request.DigestOf = func(image string) string {
			digest, _ := client.Resolve(ctx, image) // an unknown digest is never the same
			return digest
		}
		if b.Name == "" || o.version == "" || b.Package == "" {
			if notes, err = o.pull(ctx, client); err != nil {
				return nil, err
			}
		}
	}
	v, err := semver.Parse(strings.TrimPrefix(o.version, "v"))
	if err != nil {
		return nil, failure.New(failure.Usage, "reading the command line: --version: invalid value %q: %w", o.version, err).Fix("Give a semantic version such as 1.2.3.")
	}
	b.Version = v
	if named, ok := graph.VersionOf(b.Name); ok && !graph.SameVersion(named, v) {
		notes = append(notes, "the name "+b.Name+" has another version than "+v.String()+"; later inserts place bundles by the name")
	}
	return notes, nil
}

func (o *insertOptions) pull(ctx context.Context, client *oci.Client) (notes []string, err error) {
	b := &o.request.Bundle
	pulled, err := client.Pull(ctx, b.Image)
	if err != nil {
		return nil, err
	}
	parsed, err := bundle.Parse(ctx, bundle.Image{Ref: b.Image, Labels: pulled.Labels, Files: pulled.Files})
	if err != nil {
		return nil, err
	}
	facts, err := parsed.Facts()
	if err != nil {
		return nil, err
	}
	for _, f := range facts.Findings {
		notes = append(notes, f.Error())
	}
	for flag, pair := range map[string]struct {
		given *string
		found string
	}{"name": {&b.Name, facts.Name}, "version": {&o.version, facts.Version}, "package": {&b.Package, facts.Package}} {
		if *pair.given != "" && strings.TrimPrefix(*pair.given, "v") != strings.TrimPrefix(pair.found, "v") {
			return nil, failure.New(failure.BundleConflict, "reading bundle %s: its %s is %s, asked was %s", b.Image, flag, pair.found, *pair.given).
				Fix("Leave out --%s, or give the image that has it.", flag)
		}
		*pair.given = pair.found
	}
	b.Digest = pulled.Digest
	if b.Document == nil {
		b.Document = parsed.Document
	}
	return notes, nil
}
