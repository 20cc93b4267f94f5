package relay

import (
	"encoding/json"

	"github.com/olmgraft/graft/internal/event"
)

// A group is several deliveries to one repository in one event. These limits are well below GitHub's.
const (
	mostGrouped      = 100
	mostGroupedBytes = 48 << 10
)

// joins reports whether a delivery may share an event with others: groups are configured, its type and form are
// the same, and it names an image and nothing else. A delivery that once ended a relay or that is too old goes
// alone, so that others do not share its fate.
func (d *dispatcher) joins(items []waiting, next waiting) bool {
	if d.config.GitHub.Group <= 0 || len(items) == mostGrouped || items[0].tooOld(d.config.GitHub.GiveUpAfter) {
		return false
	}
	bytes := len(next.Data)
	for _, item := range items {
		bytes += len(item.Data)
	}
	if bytes > mostGroupedBytes {
		return false
	}
	first, said, plain := plainly(items[0])
	second, also, alsoPlain := plainly(next)
	return plain && alsoPlain && first.Type == second.Type && said.Source == also.Source
}

// plainly reads a delivery, and reports whether it names an image and nothing else.
func plainly(item waiting) (one delivery, said event.Payload, plain bool) {
	if json.Unmarshal(item.Data, &one) != nil || json.Unmarshal(one.Payload, &said) != nil {
		return one, said, false
	}
	return one, said, item.Handed == 0 && said.Name+said.Package+said.Version == "" && len(said.Channels)+len(said.Images) == 0
}

// together returns one delivery in place of several, and each of them. Its id is derived from theirs: the same
// deliveries give the same id.
func together(items []waiting) (each []delivery, all delivery, err error) {
	var ids []any
	var said event.Payload
	for i, item := range items {
		var one delivery
		if err := json.Unmarshal(item.Data, &one); err != nil {
			return make([]delivery, len(items)), one, err
		}
		each, ids = append(each, one), append(ids, one.ID)
		if i == 0 {
			all = one
			continue
		}
		said.Images = append(said.Images, one.Image)
	}
	if len(items) == 1 {
		return each, all, nil
	}
	further := said.Images
	if err := json.Unmarshal(all.Payload, &said); err != nil {
		return each, all, err
	}
	if all.ID, err = keyOf(ids...); err != nil {
		return each, all, err
	}
	said.Images, said.ID = further, all.ID
	all.Payload, err = written(said, all.Trace)
	return each, all, err
}
