package event

import (
	"encoding/json"
	"time"
)

// stated returns the time at which a body was made according to itself, and the text of that time. It returns
// zero if there is none, and the newest time if the body contains several events.
func (f Form) stated(body any) (at time.Time, text string) {
	object, _ := body.(map[string]any)
	list, several := body.([]any)
	if !several {
		list, several = object["events"].([]any)
	}
	if !several {
		return f.timeOf(object)
	}
	for _, one := range list {
		if t, s := f.stated(one); t.After(at) {
			at, text = t, s
		}
	}
	return at, text
}

func (f Form) timeOf(object map[string]any) (time.Time, string) {
	for _, path := range f.Time {
		var value any = object
		for _, key := range path {
			inner, _ := value.(map[string]any)
			value = inner[key]
		}
		switch v := value.(type) {
		case string:
			if t, err := time.Parse(time.RFC3339, v); err == nil {
				return t, v
			}
		case json.Number:
			if seconds, err := v.Float64(); err == nil && seconds > 0 && seconds < 1e11 {
				return time.Unix(int64(seconds), 0), v.String()
			}
		}
	}
	return time.Time{}, ""
}
