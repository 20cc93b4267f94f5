package relay

import (
	"bytes"
	"encoding/json"
	"time"
)

// said is the time at which the event says it was made, and how it says so; zero where it
// does not. Of several events in one body it is the newest. The body was parsed before.
func saidTime(body []byte) (at time.Time, text string) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return time.Time{}, ""
	}
	return newest(value)
}

// times are where the registries put it: distribution and Azure, Event Grid, CloudEvents and
// Harbor's, Harbor, Docker Hub, Pub/Sub.
var times = [][]string{
	{"timestamp"}, {"eventTime"}, {"time"}, {"occur_at"}, {"push_data", "pushed_at"},
	{"message", "publishTime"}, {"message", "publish_time"},
}

func newest(value any) (at time.Time, text string) {
	list, ok := value.([]any)
	if object, is := value.(map[string]any); is {
		if list, ok = object["events"].([]any); !ok {
			return timeOf(object)
		}
	}
	if ok {
		for _, one := range list {
			if t, s := newest(one); t.After(at) {
				at, text = t, s
			}
		}
	}
	return at, text
}

func timeOf(object map[string]any) (time.Time, string) {
	for _, path := range times {
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
