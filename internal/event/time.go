package event

import (
	"bytes"
	"encoding/json"
	"time"
)

// StatedTime is the time at which an event of the form says it was made, and how it says so; zero
// where it does not. Of several events in one body it is the newest. The body was parsed before.
func (f Form) StatedTime(body []byte) (at time.Time, text string) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return time.Time{}, ""
	}
	return f.newest(value)
}

func (f Form) newest(value any) (at time.Time, text string) {
	list, ok := value.([]any)
	if object, is := value.(map[string]any); is {
		if list, ok = object["events"].([]any); !ok {
			return f.timeOf(object)
		}
	}
	if ok {
		for _, one := range list {
			if t, s := f.newest(one); t.After(at) {
				at, text = t, s
			}
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
