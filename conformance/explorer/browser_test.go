// Package explorer tests the page of graft graph -o html in Debian's chromium.
package explorer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// start starts a browser, which ends with the test.
func start(t *testing.T) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("there is no chromium: apt-get install chromium")
	}
	// chromium's own sandbox needs rights that containers lack. The pages here are trusted.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	return ctx
}

// tab is a page in the browser, with its errors.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string // of the tested page

	mu       sync.Mutex
	faults   []string
	requests []string
}

// open opens a tab. The test fails if the page logs a warning or an error to its console, or requests anything
// except the page and the allowed addresses.
func open(t *testing.T, browser context.Context, allowed ...string) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser)
	t.Cleanup(stop)
	p := &tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.faults = append(p.faults, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			p.faults = append(p.faults, "console."+string(e.Type))
		case *log.EventEntryAdded:
			p.faults = append(p.faults, e.Entry.Text+" "+e.Entry.URL)
		case *network.EventRequestWillBeSent:
			p.requests = append(p.requests, e.Request.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, fault := range p.faults {
			t.Errorf("the page said: %s", fault)
		}
	next:
		for _, request := range p.requests {
			for _, prefix := range append(allowed, "file:///", "data:,", "blob:") {
				if strings.HasPrefix(request, prefix) {
					continue next
				}
			}
			t.Errorf("the page asked for %s", request)
		}
	})
	return p
}

// run fails the test if an action fails or takes too long.
func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, 3*time.Minute)
	defer stop()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// value returns the value of an expression in the page.
func value[T any](p *tab, expression string, options ...chromedp.EvaluateOption) T {
	p.t.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		p.t.Fatalf("evaluating %s: %v", expression, err)
	}
	return got
}

// visit loads a page and waits until it shows what its address selects.
func (p *tab) visit(url string) {
	p.t.Helper()
	p.run(chromedp.Navigate("about:blank"), chromedp.Navigate(url), chromedp.WaitReady(`body[data-shown]`))
}

// text returns the text of the first matching element on one line.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return value[string](p, fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? '').replace(/\s+/g, ' ').trim()`, selector))
}

func (p *tab) count(selector string) int {
	p.t.Helper()
	return value[int](p, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

// until waits until an expression is true in the page, even if the page reloads meanwhile.
func (p *tab) until(expression string) {
	p.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")")); err == nil && holds {
			return
		}
	}
	p.t.Fatalf("this does not come to hold: %s; the panel says %s", expression, p.text("#panel"))
}

// look sets the size and the colour scheme of the page.
func (p *tab) look(width, height int64, dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.run(chromedp.EmulateViewport(width, height))
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatal(err)
	}
}

// picture writes a screenshot into the folder that EXPLORER_PICTURES names, for a person to check.
func (p *tab) picture(name string) {
	p.t.Helper()
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil || len(png) == 0 {
		p.t.Fatalf("%s: no picture: %v", name, err)
	}
	if dir := os.Getenv("EXPLORER_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
			p.t.Error(err)
		}
	}
}
