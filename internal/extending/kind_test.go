package extending

import (
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// toySchema is not a schema of OLM.
const toySchema = "toys.example.com/chain"

// toy is a kind of template with a package, a channel and its bundles, each of which replaces the one before.
type toy struct{}

func (toy) Traits() kind.Traits { return kind.Traits{Name: "toy", Schema: toySchema} }

func bundles(s *kind.Source) (list *yamledit.Node, all []kind.Standing) {
	_, list = s.Root().Fold("bundles")
	for _, item := range list.Items() {
		all = append(all, kind.Standing{Name: item.FoldText("name"), Image: item.FoldText("image")})
	}
	return list, all
}

func (toy) Describe(s *kind.Source) kind.Description {
	d := kind.Description{Package: s.Root().FoldText("package")}
	channel := kind.Channel{Name: s.Root().FoldText("channel")}
	_, all := bundles(s)
	for _, b := range all {
		if b.Image == "" {
			d.Problem(s.Root().Malformed("reading the chain: %s has no image", b.Name))
		}
		channel.Entries = append(channel.Entries, b.Name)
		d.Bundles = append(d.Bundles, kind.BundleRef{Image: b.Image, Name: b.Name})
	}
	d.Channels = append(d.Channels, channel)
	return d
}

func (toy) Insert(s *kind.Source, r kind.Request) (*kind.Outcome, error) {
	o, edits := &kind.Outcome{}, s.File.Edit()
	list, all := bundles(s)
	for _, b := range all {
		if id, err := r.Identify(b); err != nil {
			return nil, err
		} else if id == kind.Same {
			return o, nil
		}
	}
	if channel := s.Root().FoldText("channel"); !slices.Contains(r.Channels, channel) {
		return nil, kind.UnknownChannel(r, []string{channel})
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.BundleAdded, Name: r.Bundle.Name, To: r.Bundle.Image})
	value := yamledit.Map(yamledit.Field{Key: "name", Value: yamledit.Text(r.Bundle.Name)}, yamledit.Field{Key: "image", Value: yamledit.Text(r.Bundle.Image)})
	if err := edits.Insert(list, len(all), value); err != nil {
		return nil, err
	}
	return o, o.Edited(s.Path, s.File, edits)
}

func (toy) Create(r kind.Request) ([]byte, error) {
	channels, _, err := r.FirstChannels()
	if err != nil {
		return nil, err
	}
	return []byte("schema: " + toySchema + "\npackage: " + r.Bundle.Package + "\nchannel: " + channels[0] +
		"\nbundles: # the newest comes last\n- name: " + r.Bundle.Name + "\n  image: " + r.Bundle.Image + "\n"), nil
}

func (toy) Images(s *kind.Source, _ kind.Tags) ([]string, error) {
	_, all := bundles(s)
	var images []string
	for _, b := range all {
		images = append(images, b.Image)
	}
	return images, nil
}

func (k toy) Expand(s *kind.Source, known kind.Bundles, _ kind.Tags) (*fbc.Catalog, error) {
	pkg, channel := s.Root().FoldText("package"), s.Root().FoldText("channel")
	c := &fbc.Catalog{Packages: []fbc.Package{{Schema: fbc.SchemaPackage, Name: pkg, DefaultChannel: channel}}}
	ch := fbc.Channel{Schema: fbc.SchemaChannel, Name: channel, Package: pkg}
	c.Images, _ = k.Images(s, nil)
	for _, image := range c.Images {
		b, err := known.Bundle(image)
		if err != nil {
			return nil, err
		}
		if b.Package != pkg {
			return nil, s.Root().Failure(failure.RenderFailed, "rendering the chain: %s is of package %s", b.Name, b.Package)
		}
		e := fbc.Entry{Name: b.Name}
		if n := len(ch.Entries); n > 0 {
			e.Replaces = ch.Entries[n-1].Name
		}
		ch.Entries = append(ch.Entries, e)
	}
	c.Channels = []fbc.Channel{ch}
	return c, nil
}
