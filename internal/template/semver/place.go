package semver

import (
	"strings"
	"unicode"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

func insertInto(e *yamledit.Edits, root *yamledit.Node, all []archetype, channel string, r kind.Request, o *kind.Outcome) error {
	for _, a := range all {
		if strings.EqualFold(a.name, channel) {
			return insertImage(e, all, a, r, o)
		}
	}
	return createArchetype(e, root, all, channel, r, o)
}

func insertImage(e *yamledit.Edits, all []archetype, a archetype, r kind.Request, o *kind.Outcome) error {
	known := make([]*semver.Version, len(a.images))
	for i, img := range a.images {
		if id, _ := r.Identify(kind.Standing{Image: img.ref}); id != kind.Another {
			return nil
		}
		v, ok := kind.ImageVersion(img.ref)
		if !ok {
			continue
		}
		if known[i] = &v; v.EQ(r.Bundle.Version) {
			return img.entry.Failure(failure.VersionUnordered, "inserting %s into %s: version %s and that of %s differ in build metadata only", r.Bundle.Name, a.name, r.Bundle.Version, img.ref).
				Fix("Publish the bundle under a version that has an order, or give --instead-of with the bundle whose place it takes.")
		}
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.BundleAdded, Channel: a.name, Name: r.Bundle.Name, To: r.Bundle.Image})
	v := imageValue(all, a.name, r)
	key := bundlesKey(all, a.name)
	if a.value.IsNull() {
		return e.Fill(a.value, yamledit.Map(yamledit.Field{Key: key, Value: yamledit.List(v)}), filled(all, func(a archetype) *yamledit.Node { return a.value })...)
	}
	lists := filled(all, func(a archetype) *yamledit.Node { return a.bundles })
	return e.InsertIn(a.value, key, "", graph.ListIndex(known, r.Bundle.Version), v, lists...)
}

// createArchetype adds an archetype after the last existing one, in the case of the file's own keys.
func createArchetype(e *yamledit.Edits, root *yamledit.Node, all []archetype, channel string, r kind.Request, o *kind.Outcome) error {
	name := canonical(channel)
	if len(all) > 0 && isLower(all[0].name) || len(all) == 0 && otherKeysLower(root) {
		name = strings.ToLower(name)
	}
	o.Changes = append(o.Changes,
		kind.Change{What: kind.ChannelCreated, Channel: name},
		kind.Change{What: kind.BundleAdded, Channel: name, Name: r.Bundle.Name, To: r.Bundle.Image})
	after, like := "", (*yamledit.Node)(nil)
	if len(all) > 0 {
		last := all[len(all)-1]
		after, like = last.name, last.value
	}
	for _, a := range all {
		if len(a.images) > 0 {
			like = a.value
		}
	}
	return e.AddField(root, after, yamledit.Field{
		Key:   name,
		Value: yamledit.Map(yamledit.Field{Key: bundlesKey(all, name), Value: yamledit.List(imageValue(all, name, r))}),
		Like:  like,
	})
}

func canonical(channel string) string {
	for _, a := range Archetypes {
		if strings.EqualFold(a, channel) {
			return a
		}
	}
	return channel
}

func isLower(s string) bool { return s != "" && unicode.IsLower(rune(s[0])) }

// otherKeysLower looks at the options of the template, not at schema: many files write schema in lower case but
// not their other keys.
func otherKeysLower(root *yamledit.Node) bool {
	for i := 0; i < len(root.Children); i += 2 {
		if key := root.Children[i].Value; !strings.EqualFold(key, "schema") {
			return isLower(key)
		}
	}
	return false
}

func imageValue(all []archetype, archetype string, r kind.Request) yamledit.Value {
	key := "Image"
	if isLower(archetype) {
		key = "image"
	}
	var images []*yamledit.Node
	for _, a := range all {
		for _, img := range a.images {
			images = append(images, img.node)
			if k, _ := img.entry.Fold("image"); k != nil {
				key = k.Value
			}
		}
	}
	return yamledit.Map(yamledit.Field{Key: key, Value: r.ImageValue(images)})
}

func bundlesKey(all []archetype, archetype string) string {
	for _, a := range all {
		if k, _ := a.value.Fold("bundles"); k != nil {
			return k.Value
		}
	}
	if isLower(archetype) {
		return "bundles"
	}
	return "Bundles"
}

// filled returns a node of each archetype that has images.
func filled(all []archetype, node func(archetype) *yamledit.Node) []*yamledit.Node {
	var out []*yamledit.Node
	for _, a := range all {
		if len(a.images) > 0 {
			out = append(out, node(a))
		}
	}
	return out
}
