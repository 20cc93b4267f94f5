package publish

import "github.com/olmgraft/graft/internal/config"

// community holds the change to the rules of the community catalogs' own pipelines, where it is
// one of them that it goes to.
func (p *preparation) community() {
	if len(p.operators) == 0 || len(p.change.Names()) == 0 {
		return
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
	}
}
