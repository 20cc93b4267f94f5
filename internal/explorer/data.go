package explorer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/graph"
)

// The data that the page's program reads. Names of frequent items are short; page/data.js documents them.
type (
	indexData struct {
		Title     string         `json:"title"`
		Platforms []string       `json:"platforms"`
		Compares  []bool         `json:"compares"` // for each platform, whether it is compared with another catalog
		Catalog   []graphFinding `json:"findings"` // findings without a package
		Packages  []indexPackage `json:"packages"`
	}
	indexPackage struct {
		Name       string   `json:"name"`
		Channels   []string `json:"channels"`
		Bundles    []string `json:"bundles"`
		Default    string   `json:"default"`
		Head       string   `json:"head"`
		Versions   int      `json:"versions"` // present in some platform
		Deprecated bool     `json:"deprecated,omitempty"`
		Changed    bool     `json:"changed,omitempty"`
		Errors     int      `json:"errors,omitempty"`
		Warnings   int      `json:"warnings,omitempty"`
	}
	packageData struct {
		Name     string         `json:"name"`
		Bundles  []bundleData   `json:"bundles"`
		Views    []viewData     `json:"views"`
		Stages   []stageData    `json:"stages"`
		Findings []graphFinding `json:"findings"`
	}
	bundleData struct {
		Name    string `json:"n"`
		Version string `json:"v,omitempty"`
		Keeps   []int  `json:"k,omitempty"`
	}
	// stageData holds the indexes of a platform's views; -1 means none.
	stageData struct {
		After  int `json:"after"`
		Before int `json:"before"`
	}
	viewData struct {
		Deprecated bool           `json:"deprecated,omitempty"`
		Lanes      []laneData     `json:"lanes"`
		Images     map[int]string `json:"images"` // by bundle
	}
	laneData struct {
		draw.Channel
		Nodes  []nodeData   `json:"nodes"`
		Edges  [][4]int     `json:"edges"` // from, to, kind, 1 for new or 2 for lost; without edges of ranges
		Folded layoutData   `json:"folded"`
		Whole  *layoutData  `json:"whole,omitempty"`
		Olm    []offersData `json:"olm,omitempty"`
	}
	nodeData struct {
		Bundle int    `json:"b"`
		Flags  int    `json:"f"`
		Range  string `json:"r,omitempty"`
	}
	layoutData struct {
		Width  int      `json:"w"`
		Height int      `json:"h"`
		Count  int      `json:"n"`
		Cells  [][]any  `json:"c"` // node, folded, x, y, width, y of the badge, class, label, badge
		Lines  [][2]any `json:"l"` // class, way; a class with > has an arrow
	}
	// offersData holds the offers of one OLM generation: the target, whether it is deprecated, and the bundles
	// from which it is offered as pairs of a first index and a count.
	offersData struct {
		Offers [][]int  `json:"o"`
		Unlike [][2]int `json:"u,omitempty"` // OLM's own choice, if that is not the first offer
	}
	graphFinding struct {
		graph.Finding
		Stage int `json:"stage"`
	}
)

// flagsOf returns the flags as bits, in the order that page/data.js repeats.
func flagsOf(n draw.Node) (flags int) {
	for i, set := range []bool{n.Head, n.Skipped, n.Deprecated, n.Outside, n.Missing, n.New, n.Removed, n.Stranded} {
		if set {
			flags |= 1 << i
		}
	}
	return flags
}

// packer builds the data of one package.
type packer struct {
	data   packageData
	table  *graph.PathTable
	bundle map[string]int
	views  map[string]int // index by the view's JSON
}

func (s *set) pack(name string) packageData {
	p := &packer{data: packageData{Name: name, Bundles: []bundleData{}, Findings: []graphFinding{}}, table: graph.PathsOf(s.stages, name, s.published...),
		bundle: map[string]int{}, views: map[string]int{}}
	for i, b := range p.table.Bundles {
		version := ""
		if b.HasVersion {
			version = b.Version.String()
		}
		p.know(b.Name, version, p.table.Keeps[i])
	}
	for i := range s.platforms {
		stage := stageData{-1, -1}
		if drawn, ok := s.after[i][name]; ok {
			stage.After = p.view(drawn, p.table.Stages[i])
		}
		if drawn, ok := s.before[i][name]; ok {
			stage.Before = p.view(drawn, nil)
		}
		p.data.Stages = append(p.data.Stages, stage)
		for _, f := range s.found[i] {
			if f.Package == name {
				p.data.Findings = append(p.data.Findings, graphFinding{f, i})
			}
		}
	}
	return p.data
}

// know returns the index of a bundle. Bundles that may be installed come first.
func (p *packer) know(name, version string, keeps []int) int {
	i, known := p.bundle[name]
	if !known {
		i = len(p.data.Bundles)
		p.bundle[name] = i
		p.data.Bundles = append(p.data.Bundles, bundleData{name, version, keeps})
	}
	if p.data.Bundles[i].Version == "" {
		p.data.Bundles[i].Version = version
	}
	return i
}

// view returns the index of a view. Platforms with equal views share one.
func (p *packer) view(drawn draw.Package, tables map[string]graph.ChannelTable) int {
	v := viewData{Deprecated: drawn.Deprecated, Lanes: []laneData{}, Images: map[int]string{}}
	folded, whole := draw.Layouts(&drawn, draw.Options{}), draw.Layouts(&drawn, draw.Options{Radius: draw.All})
	for i, ch := range drawn.Channels {
		l := laneData{Channel: ch, Nodes: []nodeData{}, Edges: [][4]int{}, Folded: pack(folded[i])}
		if slices.ContainsFunc(folded[i].Cells, func(c draw.Cell) bool { return c.Folded > 0 }) {
			packed := pack(whole[i])
			l.Whole = &packed
		}
		for _, n := range ch.Nodes {
			b := p.know(n.Name, n.Version, nil)
			l.Nodes = append(l.Nodes, nodeData{b, flagsOf(n), n.SkipRange})
			if n.Image != "" {
				v.Images[b] = n.Image
			}
		}
		for _, e := range ch.Edges {
			if e.Kind != draw.SkipRange {
				l.Edges = append(l.Edges, [4]int{e.From, e.To, int(e.Kind), bit(e.New) | bit(e.Lost)<<1})
			}
		}
		if table, ok := tables[ch.Name]; ok {
			for _, g := range table {
				l.Olm = append(l.Olm, packOffers(g.Offers, g.Next))
			}
		}
		v.Lanes = append(v.Lanes, l)
	}
	key := string(encode(v))
	i, known := p.views[key]
	if !known {
		i = len(p.data.Views)
		p.views[key] = i
		p.data.Views = append(p.data.Views, v)
	}
	return i
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func pack(l draw.Layout) layoutData {
	out := layoutData{Width: l.Width, Height: l.Height, Count: l.Count, Cells: [][]any{}, Lines: [][2]any{}}
	for _, c := range l.Cells {
		class := c.Class
		if c.Deprecated {
			class += " hatched"
		}
		if c.Removed {
			class += " removed"
		}
		out.Cells = append(out.Cells, []any{c.First, c.Folded, c.X, c.Y, c.Width, c.BadgeY, class, c.Label, c.Badge})
	}
	for _, line := range l.Lines {
		class := line.Class
		if line.Arrow {
			class += ">"
		}
		out.Lines = append(out.Lines, [2]any{class, line.Way})
	}
	return out
}

func packOffers(offers []graph.Offer, next []int) offersData {
	out := offersData{Offers: [][]int{}}
	first := slices.Repeat([]int{-1}, len(next))
	for _, o := range offers {
		packed := []int{o.To, bit(o.Deprecated)}
		for n, from := range o.From {
			if n > 0 && from == o.From[n-1]+1 {
				packed[len(packed)-1]++
			} else {
				packed = append(packed, from, 1)
			}
			if first[from] < 0 {
				first[from] = o.To
			}
		}
		out.Offers = append(out.Offers, packed)
	}
	for from, to := range next {
		if to != first[from] {
			out.Unlike = append(out.Unlike, [2]int{from, to})
		}
	}
	return out
}

// index returns the data of all packages that the page shows and searches.
func (s *set) index(packages []packageData) indexData {
	out := indexData{Title: titleOf(packages), Packages: []indexPackage{}, Catalog: []graphFinding{}}
	for i, p := range s.platforms {
		out.Platforms = append(out.Platforms, p.Name)
		out.Compares = append(out.Compares, p.Base != nil)
		for _, f := range s.found[i] {
			if f.Package == "" {
				out.Catalog = append(out.Catalog, graphFinding{f, i})
			}
		}
	}
	for i := range packages {
		out.Packages = append(out.Packages, s.indexPackage(&packages[i]))
	}
	return out
}

func titleOf(packages []packageData) string {
	if len(packages) == 1 {
		return "Upgrade graph of " + packages[0].Name
	}
	return fmt.Sprintf("Upgrade graphs of %d packages", len(packages))
}

func (s *set) indexPackage(p *packageData) indexPackage {
	out := indexPackage{Name: p.Name, Channels: []string{}, Bundles: []string{}}
	for _, b := range p.Bundles {
		out.Bundles = append(out.Bundles, b.Name)
	}
	has := map[string]bool{}
	for i, platform := range s.platforms {
		after, is := s.after[i][p.Name]
		before, was := s.before[i][p.Name]
		if platform.Base != nil && (is != was || touched(after) || touched(before)) {
			out.Changed = true
		}
		for _, ch := range slices.Concat(after.Channels, before.Channels) {
			if !slices.Contains(out.Channels, ch.Name) {
				out.Channels = append(out.Channels, ch.Name)
			}
		}
		for _, ch := range after.Channels {
			for _, n := range ch.Nodes {
				has[n.Name] = has[n.Name] || !n.Outside
			}
		}
		if is { // the highest platform decides
			out.Deprecated = after.Deprecated
			pkg := platform.Catalog.Package(p.Name)
			out.Default, out.Head = pkg.DefaultChannel, ""
			if head := pkg.Head(); head != nil {
				out.Head = head.Name
			}
		}
	}
	for _, so := range has {
		out.Versions += bit(so)
	}
	for _, f := range p.Findings {
		if f.Level == graph.Error {
			out.Errors++
		} else {
			out.Warnings++
		}
	}
	return out
}

func touched(p draw.Package) bool {
	return len(draw.Graph{Packages: []draw.Package{p}}.Touched("").Packages) > 0
}

// encode returns JSON without HTML escapes, because block compresses it before it enters the page.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("encoding strings, numbers and flags cannot fail: " + err.Error())
	}
	return b.Bytes()
}
