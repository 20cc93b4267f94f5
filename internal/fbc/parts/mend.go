package parts

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamledit"
)

// mend changes the differences between an existing document and its new content, and keeps the layout of the
// rest.
func mend(edits *yamledit.Edits, root *yamledit.Node, standing *fbc.Doc, body []byte) error {
	docs, err := fbc.Read(standing.File, body)
	if err != nil {
		return err
	}
	own, err := standing.Blob(standing.Format)
	if err != nil {
		return err
	}
	known, err := fbc.Read(standing.File, own.Body)
	if err != nil {
		return err
	}
	old, err := value(&known[0])
	if err != nil {
		return err
	}
	now, err := value(&docs[0])
	if err != nil {
		return err
	}
	return mender{edits}.value(root, old, now)
}

func value(d *fbc.Doc) (v any, err error) {
	text, err := d.JSON()
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	return v, err
}

type mender struct{ edits *yamledit.Edits }

// unmendable reports that a value cannot be changed in place. No user sees it; the whole document is written
// instead.
func unmendable() error { return failure.New(failure.EditRefused, "changing a document") }

func (m mender) value(n *yamledit.Node, old, now any) error {
	if reflect.DeepEqual(old, now) {
		return nil
	}
	if n == nil {
		return unmendable()
	}
	switch now := now.(type) {
	case map[string]any:
		if old, ok := old.(map[string]any); ok && n.Kind == yamledit.Mapping {
			return m.mapping(n, old, now)
		}
	case []any:
		if old, ok := old.([]any); ok && n.Kind == yamledit.Sequence && len(old) == len(n.Children) {
			return m.list(n, old, now)
		}
	case string:
		if _, ok := old.(string); ok && n.Kind == yamledit.Scalar {
			return m.edits.SetText(n, now)
		}
	}
	return unmendable()
}

func (m mender) mapping(n *yamledit.Node, old, now map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if _, stays := now[key]; !stays {
			if err := m.edits.RemoveField(n, key); err != nil {
				return err
			}
		}
	}
	before := "" // the last key so far that exists already
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if was, stands := old[key]; stands {
			if err := m.value(n.Get(key), was, now[key]); err != nil {
				return err
			}
			before = key
			continue
		}
		v, err := written(now[key])
		if err != nil {
			return err
		}
		if err := m.edits.AddField(n, before, yamledit.Field{Key: key, Value: v}, siblings(n)...); err != nil {
			return err
		}
	}
	return nil
}

// list removes the old items, inserts the new ones, and changes those whose name stays.
func (m mender) list(n *yamledit.Node, old, now []any) error {
	names, wanted := namesOf(old), namesOf(now)
	stay := common(names, wanted)
	at := 0
	for i := range wanted {
		if stay[i] < 0 {
			v, err := written(now[i])
			if err != nil {
				return err
			}
			index := len(old)
			for j := i; j < len(wanted); j++ {
				if stay[j] >= 0 {
					index = stay[j]
					break
				}
			}
			if err := m.edits.Insert(n, index, v, nearest(n, index)...); err != nil {
				return err
			}
			continue
		}
		for ; at < stay[i]; at++ {
			if err := m.edits.Remove(n.Children[at]); err != nil {
				return err
			}
		}
		if err := m.value(n.Children[at], old[at], now[i]); err != nil {
			return err
		}
		at++
	}
	for ; at < len(old); at++ {
		if err := m.edits.Remove(n.Children[at]); err != nil {
			return err
		}
	}
	return nil
}

// siblings returns the other items of a list, whose style a new key follows.
func siblings(n *yamledit.Node) []*yamledit.Node {
	if n.Parent == nil || n.Parent.Kind != yamledit.Sequence {
		return nil
	}
	return nearest(n.Parent, slices.Index(n.Parent.Children, n))
}

// nearest returns the items of a list sorted by their distance from an index.
func nearest(n *yamledit.Node, index int) []*yamledit.Node {
	all := slices.Clone(n.Children)
	slices.SortStableFunc(all, func(a, b *yamledit.Node) int {
		return cmp.Compare(distance(n, a, index), distance(n, b, index))
	})
	return all[:min(len(all), 16)]
}

func distance(n, item *yamledit.Node, index int) int {
	d := 2*(index-slices.Index(n.Children, item)) - 1
	return max(d, -d)
}

func written(v any) (yamledit.Value, error) {
	text, err := fbc.Marshal(v)
	if err != nil {
		return yamledit.Value{}, err
	}
	return yamledit.FromJSON(text)
}

// namesOf returns the names of a list's items, as entries of a channel have them. An item without a name is
// represented by its JSON.
func namesOf(items []any) []string {
	var names []string
	for _, item := range items {
		if m, ok := item.(map[string]any); ok && m["name"] != nil {
			item = m["name"]
		}
		text, _ := json.Marshal(item) // it was read from JSON
		names = append(names, string(text))
	}
	return names
}

// common finds the longest common subsequence of two lists of names. For each name in now it returns the index in
// old, or -1 if the name is not part of the subsequence.
func common(old, now []string) []int {
	long := make([][]int, len(old)+1)
	for i := range long {
		long[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if old[i] == now[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	stay := make([]int, len(now))
	for j := range stay {
		stay[j] = -1
	}
	for i, j := 0, 0; i < len(old) && j < len(now); {
		switch {
		case old[i] == now[j]:
			stay[j] = i
			i, j = i+1, j+1
		case long[i+1][j] >= long[i][j+1]:
			i++
		default:
			j++
		}
	}
	return stay
}
