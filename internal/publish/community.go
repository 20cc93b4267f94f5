package publish

import (
	"context"
	"fmt"

	"github.com/olmgraft/graft/internal/config"
)

// community applies the rules of the community catalogs' pipelines if the change goes to one of these catalogs.
func (p *preparation) community(ctx context.Context) error {
	if len(p.operators) == 0 || len(p.change.Names()) == 0 {
		return nil
	}
	images := map[string][]string{}
	for _, c := range p.Work.catalogs() {
		for _, pkg := range c.After.Packages {
			for _, b := range pkg.Bundles {
				if b.Image != "" {
					images[c.Path] = append(images[c.Path], b.Image)
				}
			}
		}
	}
	for _, operator := range p.operators {
		p.Findings = append(p.Findings, config.CommunityFindings(p.files, operator, p.change.Names(), images, p.Levels)...)
		if operator.ByHand != "" {
			p.byHand = operator.ByHand + " says merge: false"
		}
		if err := p.releasedByBot(ctx, operator.Name, operator.Version); err != nil {
			return err
		}
	}
	return p.wholeCatalogs()
}

// releasedByBot names the open pull request of the community's release bot for the same bundle. Both change the
// same files, so one of the two must be closed. A person decides which: the bot's may be older work or the
// wanted one, and ending here would leave nothing if the bot's fails.
func (p *preparation) releasedByBot(ctx context.Context, name, version string) error {
	if p.Forge == nil {
		return nil
	}
	open, err := p.Forge.Titled(ctx, "Auto FBC release "+name+" "+version, "add-"+name+"-"+version+"-to-fbc-")
	for _, pr := range open {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the community's release bot proposes %s %s already, in #%d (%s): both change the same files, so close one of them", name, version, pr.Number, pr.URL))
	}
	return err
}
