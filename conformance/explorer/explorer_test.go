package explorer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/olmgraft/graft/internal/explorer"
)

// three returns catalogs for three platforms with a change, findings and a second package.
func three(t *testing.T) []explorer.Platform {
	t.Helper()
	other := chain("other", "fast", "0.1.0", "0.2.0").text()
	long := releases("long", rand.New(rand.NewPCG(3, 4)), 152, 13)
	now := chain("op", "stable", "1.0.0", "1.1.0", "1.2.0")
	now.add("broken", `{name: op.v1.0.0}`)
	now.add("broken", `{name: op.v1.2.0}`)
	later := chain("op", "stable", "1.2.0", "2.0.0")
	later.deprecated = []string{"1.2.0"}
	return []explorer.Platform{
		{Name: "4.16", Catalog: catalogOf(t, now.text(), other), Base: catalogOf(t, chain("op", "stable", "0.9.0", "1.0.0", "1.1.0").text(), other)},
		{Name: "4.17", Catalog: catalogOf(t, now.text(), other, long.text())},
		{Name: "4.18", Catalog: catalogOf(t, later.text(), other, long.text())},
	}
}

func TestExplorer(t *testing.T) {
	browser := start(t)
	url, _ := stored(t, three(t)...)
	for name, test := range map[string]func(*tab){
		"overview": overview, "search": search, "select": choose, "unfold": unfold, "deep link": deepLink, "path": path, "path begins": begins, "compare": compare, "findings": findings,
		"keyboard": keyboard, "zoom": zoomed, "screen reader": names,
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, browser)
			p.url = url
			p.look(1400, 900, false)
			p.visit(url)
			test(p)
		})
	}
}

// at opens an address within the page.
func (p *tab) at(hash string) {
	p.t.Helper()
	value[string](p, fmt.Sprintf("location.hash = %q", hash))
	p.until(fmt.Sprintf("document.body.dataset.shown === location.hash && document.body.dataset.shown.startsWith(%q)", hash))
}

func (p *tab) wants(selector, want string) {
	p.t.Helper()
	if got := p.text(selector); !strings.Contains(got, want) {
		p.t.Errorf("%s is %q, want %q", selector, got, want)
	}
}

func (p *tab) keys(keys string) {
	p.t.Helper()
	p.run(chromedp.KeyEvent(keys))
}

// slash presses the key, which types nothing if the page handles it.
func (p *tab) slash() {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/"}); err != nil {
		p.t.Fatal(err)
	}
}

func overview(p *tab) {
	p.wants("#main h2", "3 packages, 158 versions, platforms 4.16, 4.17, 4.18")
	if n := p.count("#list [data-place]"); n != 3 {
		p.t.Errorf("%d packages are listed", n)
	}
	p.wants("#main tbody tr:nth-child(2)", "op")
	p.run(chromedp.Click("#main tbody a[href='#/op']"))
	p.until("document.body.dataset.shown === '#/op'")
	p.wants(".bar h2", "op 2 channels, 4 versions")
	p.wants("#list [aria-current]", "op")
	if title := value[string](p, "document.title"); title != "op · Upgrade graphs of 3 packages" {
		p.t.Errorf("the title is %q", title)
	}
}

func search(p *tab) {
	p.slash()
	p.keys("3.11.2")
	p.until(`document.querySelectorAll('#list a').length === 1`)
	p.wants("#say", "0 packages, 1 version")
	p.keys(kb.Enter)
	p.until(`document.body.dataset.shown === '#/long//long.v3.11.2'`)
	p.wants("#panel h2", "v3.11.2")
	p.run(chromedp.Focus("#search"))
	p.keys(kb.Escape)
	p.until(`document.querySelectorAll('#list a').length === 3`)
	p.slash()
	p.keys("fast")
	p.wants("#list li li a", "channel fast")
	p.keys("no such thing")
	p.wants("#list", "Nothing has this name.")
}

func choose(p *tab) {
	p.at("#/op?on=4.18")
	p.run(chromedp.Click(`.lane [aria-label^="op.v2.0.0"]`))
	p.until(`document.querySelector('#panel h2').textContent.includes('v2.0.0')`)
	for _, want := range []string{"op.v2.0.0", "quay.io/example/op:v2.0.0", "replaces v1.2.0", "Next upgrade none", "Platforms 4.18"} {
		p.wants("#panel dl", want)
	}
	if p.count(".lane .selected") != 1 || p.count(`.lane [aria-selected="true"]`) != 1 {
		p.t.Error("not one version is selected")
	}
	p.run(chromedp.Click("#panel dl a[href*='v1.2.0']"))
	p.until(`document.querySelector('#panel h2').textContent.includes('v1.2.0')`)
	p.wants("#panel h2", "deprecated")
	p.wants("#panel dl", "Next upgrade v2.0.0")
	p.run(chromedp.Click("#panel .close"))
	p.until(`document.querySelector('#panel dl') === null`)
}

func unfold(p *tab) {
	p.at("#/long")
	before := p.count(".lane:first-of-type [role=option]")
	p.run(chromedp.Click(".lane .folded"))
	p.until(`document.querySelectorAll('.lane.open').length === 1`)
	if n := p.count(".lane.open [role=option]"); n != 152 || before > 20 {
		p.t.Errorf("%d versions folded, %d unfolded", before, n)
	}
	if value[string](p, "document.activeElement.getAttribute('aria-label')") == "" {
		p.t.Error("the keyboard has lost its place")
	}
	p.run(chromedp.Click(".lane.open header button"))
	p.until(`document.querySelectorAll('.lane.open').length === 0`)
	if !value[bool](p, "document.activeElement.matches('.lane header button')") {
		p.t.Error("the keyboard has lost its place")
	}
}

func deepLink(p *tab) {
	p.visit(p.url + "#/long/stable/long.v3.4.1?on=4.17")
	if p.count(".lane.open") != 1 || p.count(".lane.open .selected") != 1 {
		p.t.Error("the lane of the version is not open")
	}
	seen := value[bool](p, `(() => { const b = document.querySelector('.selected').getBoundingClientRect(); const m = document.querySelector('#main').getBoundingClientRect();
		return b.left >= m.left && b.right <= m.right && b.top >= m.top && b.bottom <= m.bottom; })()`)
	if !seen {
		p.t.Error("the version is out of sight")
	}
	if got := value[string](p, "document.querySelector('[name=on]').value"); got != "4.17" {
		p.t.Errorf("platform %s", got)
	}
	p.visit(p.url + "#/gone")
	p.wants("#main", "No catalog of this file has a package gone.")
	p.visit(p.url + "#/op/stable/op.v7.0.0")
	p.wants("#panel", "No catalog of this file has it.")
	p.visit(p.url + "#/%E0%A4%A/%/?open=%&view=both&x")
	p.wants("#main", "No catalog of this file has a package")
}

func path(p *tab) {
	p.at("#/op")
	p.run(chromedp.SendKeys("[name=from]", "op.v0.9.0"), chromedp.SendKeys("[name=to]", "op.v2.0.0"), chromedp.Click(".path [type=submit]"))
	p.until(`document.querySelector('.answer') !== null`)
	p.wants(".answer", "There is no path. The upgrades end at v0.9.0")
	p.at("#/op?from=op.v0.1.0&to=op.v2.0.0")
	p.wants(".answer", "No catalog of this file has version op.v0.1.0. If it is installed, run graft path")
	p.at("#/op?from=op.v1.0.0&to=op.v7.0.0")
	if got, want := p.text(".answer"), "No catalog of this file has version op.v7.0.0."; got != want {
		p.t.Errorf("the answer is %q, want %q", got, want)
	}
	p.at("#/op/stable/op.v1.0.0?on=4.16")
	p.run(chromedp.Click("#panel .version p button"))
	p.until(`document.querySelector('[name=from]').value === 'op.v1.0.0'`)
	if hash, want := value[string](p, "location.hash"), "#/op/stable/op.v1.0.0?on=4.16&from=op.v1.0.0&start=4.16"; hash != want {
		p.t.Errorf("the address is %s, want %s", hash, want)
	}
	p.at("#/op/stable/op.v2.0.0?on=4.18&from=op.v1.0.0&start=4.16")
	p.run(chromedp.Click("#panel .version p button:nth-child(2)"))
	p.until(`document.querySelectorAll('.answer li').length === 6`)
	p.wants(".answer ol", "v1.0.0 on 4.16, channel stable")
	p.wants(".answer ol", "upgrade the cluster to 4.18")
	p.wants(".answer p", "3 bundle upgrades, 0 channel changes, 2 cluster upgrades")
	p.wants("#say", "3 bundle upgrades")
	if p.count(".lane .onpath") == 0 {
		p.t.Error("no version is marked as on the path")
	}
	p.at("#/op?from=op.v2.0.0&to=op.v1.0.0")
	p.wants(".answer", "There is no path. The upgrades end at v2.0.0 on 4.18, channel stable.")
}

// begins checks that the page shows the platform of a selected version or on which a path begins, and that a path
// begins on the shown one.
func begins(p *tab) {
	for hash, want := range map[string]string{
		"#/op": "4.18 4.18", "#/op/stable/op.v1.0.0": "4.17 4.17", "#/op/stable/op.v0.9.0": "4.16 4.16", "#/op?on=4.17": "4.17 4.17", "#/op?start=4.16": "4.16 4.16", "#/op?on=4.17&start=4.16": "4.17 4.16",
	} {
		p.at(hash)
		if got := value[string](p, "document.querySelector('[name=on]').value + ' ' + document.querySelector('[name=start]').value"); got != want {
			p.t.Errorf("%s shows a platform, and begins a path on a platform: %s, want %s", hash, got, want)
		}
	}
	p.at("#/op?on=4.17&from=op.v1.0.0&to=op.v2.0.0")
	p.wants(".answer ol", "v1.0.0 on 4.17, channel stable")
}

func compare(p *tab) {
	p.at("#/op?on=4.16")
	if p.count(".lane .new") == 0 || p.count(".lane .edge.added") == 0 {
		p.t.Error("nothing is marked as new")
	}
	p.run(chromedp.SetValue("[name=view]", "both"))
	value[bool](p, `document.querySelector('[name=view]').dispatchEvent(new Event('change', {bubbles: true}))`)
	p.until(`document.querySelectorAll('.side').length === 2`)
	if p.count(".side:first-child .removed") != 1 || p.count(".side:first-child .edge.gone") == 0 {
		p.t.Error("before, nothing is marked as lost")
	}
	p.wants(".side:first-child .lane.none", "broken not in this catalog")
	heights := value[string](p, `[...document.querySelectorAll('.lane')].map((l) => l.offsetHeight).join()`)
	if h := strings.Split(heights, ","); len(h) != 4 || h[0] != h[2] || h[1] != h[3] {
		p.t.Errorf("lanes are %s high", heights)
	}
	p.at("#/op?on=4.17&view=both")
	p.wants(".side:first-child", "This platform is not compared with another catalog.")
}

func findings(p *tab) {
	p.at("#/op/stable/op.v0.9.0?on=4.16")
	p.wants("#panel .findings", "upgrade-path-lost")
	p.at("#/op/stable?on=4.16")
	if p.count(".lane .finding.error") == 0 {
		p.t.Error("no version has a finding")
	}
	p.wants("#main > .findings", "channel-two-heads")
}

func keyboard(p *tab) {
	p.at("#/op?on=4.17")
	p.run(chromedp.Focus(".lane [role=option]"))
	active := func(want string) {
		p.t.Helper()
		if got := value[string](p, "document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName"); !strings.HasPrefix(got, want) {
			p.t.Errorf("the keyboard is at %q, want %s", got, want)
		}
	}
	active("op.v1.0.0")
	p.keys(kb.ArrowRight)
	active("op.v1.1.0")
	p.keys(kb.End)
	active("op.v1.2.0")
	p.keys(kb.ArrowDown)
	active("op.v1.2.0")
	if got := value[string](p, "document.activeElement.closest('.lane').querySelector('h3').innerText"); got != "broken" {
		p.t.Errorf("the keyboard is in channel %s", got)
	}
	p.keys(kb.ArrowUp + kb.Home)
	active("op.v1.0.0")
	p.keys(kb.ArrowLeft)
	active("op.v1.0.0")
	p.keys(kb.Enter)
	p.until(`document.querySelector('#panel h2').textContent.includes('v1.0.0')`)
	active("op.v1.0.0")
	p.wants("#say", "op.v1.0.0 is selected.")
	p.keys(kb.Escape)
	p.until(`document.querySelector('#panel dl') === null`)
	p.slash()
	p.keys("o" + kb.ArrowDown)
	active("A")
	p.keys(kb.ArrowDown + kb.ArrowDown + kb.Enter)
	p.until(`document.body.dataset.shown === '#/other'`)
	p.keys(kb.ArrowUp + kb.ArrowUp + kb.ArrowUp)
	active("INPUT")
}

func zoomed(p *tab) {
	p.at("#/op")
	width := func() int { return value[int](p, "Number(document.querySelector('.lane svg').getAttribute('width'))") }
	was := width()
	p.keys("+")
	if now := width(); now <= was {
		p.t.Errorf("%d pixels after zooming in, %d before", now, was)
	}
	p.keys("-" + "-")
	if now := width(); now >= was {
		p.t.Errorf("%d pixels after zooming out, %d before", now, was)
	}
	p.keys("0")
	if now := width(); now != was {
		p.t.Errorf("%d pixels at real size, %d before", now, was)
	}
	p.at("#/long?open=stable")
	p.keys("f")
	p.run(chromedp.DragAndDropXY(600, 300, 500, 300))
	if value[int](p, "document.querySelector('.lane.open .scroller').scrollLeft") == 0 {
		p.t.Error("the channel does not follow the pointer")
	}
	if hash := value[string](p, "location.hash"); hash != "#/long?open=stable" {
		p.t.Errorf("a drag has chosen %s", hash)
	}
}

// names checks the names for screen readers.
func names(p *tab) {
	p.at("#/op/stable/op.v1.2.0?on=4.18&view=both")
	nameless := value[[]string](p, `[...document.querySelectorAll('button, input, select, [role=option], [role=listbox], nav, aside, section, form')]
		.filter((e) => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML)`)
	if len(nameless) > 0 {
		p.t.Errorf("these have no name: %q", nameless)
	}
	if n := value[int](p, `[...document.querySelectorAll('[role=option]')].filter((e) => e.closest('[role=listbox]') === null).length`); n > 0 {
		p.t.Errorf("%d options are outside of a list", n)
	}
	if n := value[int](p, `[...document.querySelectorAll('.lane svg')].filter((s) => s.querySelectorAll('[tabindex="0"]').length !== 1).length`); n > 0 {
		p.t.Errorf("%d channels are not one stop of the Tab key", n)
	}
}
