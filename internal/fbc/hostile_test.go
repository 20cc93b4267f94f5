package fbc

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
)

// Hostile input is read, or refused as template-malformed, in a short time and with little memory.
func TestHostileInput(t *testing.T) {
	const size = 2 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	bomb := "schema: x\na0: &a0 [x]\n"
	for i := 1; i < 64; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	chain := bytes.NewBufferString("schema: x\na0: &a0 [x]\n")
	for i := 1; i < 100000; i++ {
		fmt.Fprintf(chain, "a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	large := "schema: x\nbig: &b " + strings.Repeat("x", 1<<20) + "\nall: [" + strings.Repeat("*b, ", 100000) + "]\n"
	merges := "schema: x\na0: &a0 {k: v}\n"
	for i := 1; i < 64; i++ {
		merges += fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i-1, i-1)
	}
	steps := bytes.NewBufferString("schema: x\na:\n")
	for i := 1; i < 5000; i++ {
		fmt.Fprintf(steps, "%*sk:\n", i, "")
	}
	for name, in := range map[string]struct {
		src   string
		valid bool
	}{
		"aliases of aliases":    {bomb, false},
		"a chain of aliases":    {chain.String(), false},
		"aliases of a text":     {large, false},
		"merges of merges":      {merges, false},
		"an anchor in itself":   {"schema: x\na: &a [*a]\n", false},
		"open brackets":         {fill("["), false},
		"open braces":           {fill("{"), false},
		"open braces with keys": {fill("{a: "), false},
		"JSON open brackets":    {`{"schema":"x","a":` + fill("["), false},
		"JSON open braces":      {fill(`{"a":`), false},
		"deep JSON":             {`{"schema":"x","a":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + "}", false},
		"deep flow":             {"schema: x\na: " + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + "\n", true},
		"too deep flow":         {"schema: x\na: " + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + "\n", false},
		"dashes":                {fill("- "), false},
		"question marks":        {fill("? "), false},
		"colons":                {fill(": "), false},
		"commas":                {"schema: x\na: [" + fill("a,a,") + fill("a,a,") + fill("a,") + "]\n", false},
		"steps":                 {steps.String(), true},
		"quotes":                {"schema: x\na: '" + fill("''") + "'\n", true},
		"an open quote":         {"schema: x\na: \"" + fill("x\\n"), false},
		"blank lines":           {"schema: x\na: |\n" + fill("\n") + "b: c\n", true},
		"a giant text":          {"schema: x\na: " + fill("x") + "\n", true},
		"a giant key":           {"schema: x\n" + fill("k") + ": v\n", false},
		"a giant number":        {"schema: x\na: " + fill("1") + "\n", true},
		"lines without a colon": {"schema: x\na:\n" + fill("  b\n"), true},
		"comments":              {fill("#\n") + "schema: x\n", true},
		"separators":            {fill("---\n"), false},
		"empty documents":       {fill("---\nschema: x\n"), true},
		"many keys":             {"schema: x\n" + keys(50000), true},
		"anchors":               {"schema: x\na:\n" + fill("- &a b\n"), true},
		"NUL":                   {"schema: x\x00\n", false},
		"tabs":                  {"schema: x\na:\n" + fill("\t\t\n"), false},
		"carriage returns":      {"schema: x\na: b" + fill("\r"), true},
		"tags":                  {"schema: x\na: " + fill("!a "), false},
		"directives":            {fill("%A\n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			docs, err := Read("f", []byte(in.src))
			for i := range min(len(docs), 1000) {
				_, _ = docs[i].BundleLight()
				docs[i].EntryLines()
			}
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			mib := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%v, %d MiB allocated: %.150v", took.Round(time.Millisecond), mib, err)
			if mib > 1024 {
				t.Errorf("%d MiB allocated in all", mib)
			}
			if (err == nil) != in.valid || err != nil && !failure.Is(err, failure.TemplateMalformed) {
				t.Errorf("valid: %v, but %v", in.valid, err)
			}
			if err != nil && failure.Of(err).Line == 0 {
				t.Errorf("a failure without a place: %v", err)
			}
		})
	}
}

func TestTooManyDocuments(t *testing.T) {
	r := reader{file: "f", src: []byte("schema: x\n"), docs: make([]Doc, budget.FileDocuments)}
	if err := r.yamlStream(0); !failure.Is(err, failure.TemplateMalformed) {
		t.Errorf("one too many: %v", err)
	}
}

func keys(n int) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return b.String()
}
