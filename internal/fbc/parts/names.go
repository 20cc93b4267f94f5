package parts

import (
	"encoding/json"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
)

// here replaces the document's word in a pattern of paths.
const here = "\x00"

// named returns the path of a new document's file, named as the files of its siblings are, and the sibling whose
// layout it follows. The path is empty if siblings share files or if the names of their files do not contain
// their words.
func (w *writer) named(b fbc.Blob, siblings []int) (name string, like int, err error) {
	type way struct {
		word    int
		pattern string
	}
	count, last := map[way]int{}, map[way]int{}
	var best way
	alone := 0
	for _, i := range siblings {
		d := &w.standing[i]
		if len(w.file(d.File).docs) > 1 {
			continue
		}
		alone++
		rel := strings.TrimPrefix(d.File, w.dir+"/")
		for word, text := range wordsOf(d) {
			one := way{word, pattern(rel, text)}
			if one.pattern == rel {
				continue
			}
			count[one]++
			last[one] = i
			if count[one] > count[best] || count[one] == count[best] && one.word <= best.word {
				best = one
			}
		}
	}
	if alone*2 <= len(siblings) || count[best] == 0 {
		return "", -1, nil
	}
	docs, err := fbc.Read(b.Name, b.Body)
	if err != nil {
		return "", -1, err
	}
	text := wordsOf(&docs[0])[best.word]
	if text == "" || text == "." || text == ".." || strings.ContainsAny(text, "/\\"+here) {
		return "", -1, nil
	}
	if w.dir == "." {
		return strings.ReplaceAll(best.pattern, here, text), last[best], nil
	}
	return w.dir + "/" + strings.ReplaceAll(best.pattern, here, text), last[best], nil
}

// pattern replaces a word in a path by a mark wherever the word is not part of a longer one.
func pattern(rel, word string) string {
	var out strings.Builder
	for word != "" {
		i := strings.Index(rel, word)
		if i < 0 {
			break
		}
		end := i + len(word)
		if i > 0 && sameClass(rel[i-1], word[0]) || end < len(rel) && sameClass(rel[end], word[len(word)-1]) {
			out.WriteString(rel[:i+1])
			rel = rel[i+1:]
			continue
		}
		out.WriteString(rel[:i] + here)
		rel = rel[end:]
	}
	return out.String() + rel
}

// sameClass reports whether two characters are both letters or both digits.
func sameClass(a, b byte) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	letter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	return digit(a) && digit(b) || letter(a) && letter(b)
}

// wordsOf returns the words after which a document's file may be named: its name, and for a bundle the version
// with its release, as in 1.2.3+4, and without.
func wordsOf(d *fbc.Doc) [3]string {
	words := [3]string{d.Name}
	if d.Schema != fbc.SchemaBundle {
		return words
	}
	b, err := d.BundleLight()
	if err != nil {
		return words
	}
	for _, p := range b.Properties {
		var v struct{ Version, Release string }
		if p.Type != fbc.SchemaPackage || json.Unmarshal(p.Value, &v) != nil {
			continue
		}
		words[1], words[2] = v.Version, v.Version
		if v.Release != "" {
			words[1] += "+" + v.Release
		}
	}
	return words
}
