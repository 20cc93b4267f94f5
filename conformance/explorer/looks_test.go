package explorer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/explorer"
)

// Each view in light and dark and in three sizes: nothing is wider than the page. With EXPLORER_PICTURES the
// screenshots are kept.
func TestLooks(t *testing.T) {
	browser := start(t)
	url, _ := stored(t, three(t)...)
	views := map[string]string{"overview": "#/", "package": "#/op/stable/op.v1.2.0?on=4.16", "compare": "#/op?on=4.16&view=both",
		"path": "#/op?from=op.v0.9.0&to=op.v2.0.0", "long": "#/long/stable/long.v3.7.1?on=4.17"}
	for _, width := range []int64{390, 1024, 1600} {
		for _, dark := range []bool{false, true} {
			p := open(t, browser)
			p.look(width, 900, dark)
			p.visit(url)
			for name, hash := range views {
				p.at(hash)
				if over := value[int](p, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
					t.Errorf("%s: %d pixels more than a width of %d", name, over, width)
				}
				p.picture(fmt.Sprintf("%s-%d-%s", name, width, map[bool]string{true: "dark", false: "light"}[dark]))
			}
			want := map[bool]string{true: "rgb(13, 17, 23)", false: "rgb(255, 255, 255)"}[dark]
			if got := value[string](p, "getComputedStyle(document.body).backgroundColor"); got != want {
				t.Errorf("dark is %v, and the page is %s", dark, got)
			}
		}
	}
}

// hostile are names that try to break out of their context.
var hostile = []string{"</script><script>document.title='run'</script>", "<img src=x onerror=document.title='run'>", "\"><b>x</b>", "javascript:alert(1)", "a/b?c#d&e=f%41",
	"\u202eevil\u2066", "__proto__", "constructor", " ", "名前 🙂", strings.Repeat("long-", 60)}

// Text of catalogs stays text in every view, and a link leads to the thing that it names.
func TestHostileNames(t *testing.T) {
	var texts []string
	for _, name := range hostile {
		texts = append(texts, chain(name, name, "1.0.0", "1.1.0").text())
	}
	url, _ := stored(t, explorer.Platform{Catalog: catalogOf(t, texts...)})
	p := open(t, start(t))
	p.look(1400, 900, false)
	p.visit(url)
	if n := p.count("#list [data-place]"); n != len(hostile) {
		t.Fatalf("%d packages are listed", n)
	}
	scripts := p.count("script")
	for i := range hostile {
		link := fmt.Sprintf("#list [data-place='%d']", i)
		hash := value[string](p, fmt.Sprintf(`(() => { const a = document.querySelector(%q); a.click(); return a.getAttribute('href'); })()`, link))
		p.until(fmt.Sprintf("document.body.dataset.shown === %q", hash))
		if p.count(".lane") != 1 || p.count("main img, main b, body > b, nav b, aside b") > 0 || p.count("script") != scripts {
			t.Errorf("%s shows %d channels, or more", hash, p.count(".lane"))
			continue
		}
		value[bool](p, `(document.querySelector('.lane .head').dispatchEvent(new MouseEvent('click', {bubbles: true})), true)`)
		p.until("document.querySelector('#panel dl') !== null")
		p.wants("#panel dl", "1.1.0")
		if title := value[string](p, "document.title"); title == "run" {
			t.Fatalf("%s ran a script", hash)
		}
	}
}

// The sizes are promises. The times depend on the machine, so they are logged and have a generous limit.
func TestMeasures(t *testing.T) {
	_, small := stored(t, explorer.Platform{Catalog: catalogOf(t, releases("quay", rand.New(rand.NewPCG(1, 2)), 152, 13).text())})
	url, large := stored(t, explorer.Platform{Catalog: index(t)})
	t.Logf("152 versions of one package: %d KB; 300 packages: %d KB", small/1000, large/1000)
	if small > 400_000 || large > 8_000_000 {
		t.Error("the files are larger than promised")
	}
	p := open(t, start(t))
	p.look(1400, 900, false)
	p.visit(url)
	p.until("performance.getEntriesByName('first-contentful-paint').length > 0")
	times := map[string]float64{"first paint": value[float64](p, "performance.getEntriesByName('first-contentful-paint')[0].startTime"),
		"all shown": value[float64](p, "performance.getEntriesByName('shown')[0].startTime")}
	const frame = "await new Promise((f) => requestAnimationFrame(() => setTimeout(f)));"
	timed := func(what, do string) {
		p.t.Helper()
		times[what] = value[float64](p, fmt.Sprintf(`(async () => { const from = performance.now(); %s %s return performance.now() - from; })()`, do, frame), awaited)
	}
	shown := "while (document.body.dataset.shown !== location.hash) await new Promise((f) => setTimeout(f));"
	timed("search", `const s = document.querySelector('#search'); s.value = 'operator-1 3.1'; s.dispatchEvent(new Event('input'));`)
	timed("another package", `location.hash = '#/operator-017'; `+shown)
	timed("152 versions", `location.hash = '#/quay'; `+shown)
	timed("unfold 152 versions", `location.hash = '#/quay/stable/?open=stable'; `+shown)
	timed("select a version", `location.hash = '#/quay/stable/quay.v3.5.1?open=stable'; `+shown)
	timed("path", `location.hash = '#/quay?from=quay.v3.0.0&to=quay.v3.12.0&olm=v1'; `+shown)
	for what, took := range times {
		t.Logf("%-22s %4.0f ms", what, took)
		if took > float64(20*time.Second/time.Millisecond) {
			t.Errorf("%s takes %.0f ms", what, took)
		}
	}
}
