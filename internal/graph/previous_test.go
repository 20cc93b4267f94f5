package graph

import "testing"

func TestPreviousChannel(t *testing.T) {
	channels := []string{"alpha", "stable", "stable-v1", "stable-v1.2", "stable-v1.9", "stable-v1.10", "stable-v2.0", "3.9", "3.10", "release-2024"}
	for name, want := range map[string]string{
		"stable-v1.11": "stable-v1.10", "stable-v1.10": "stable-v1.9", "stable-v1.5": "stable-v1.2", "stable-v1.0": "",
		"stable-v2": "stable-v1", "3.11": "3.10", "stable": "", "beta": "", "fast-v1.11": "", "release-99999999999999999999": "",
	} {
		if got := PreviousChannel(name, channels); got != want {
			t.Errorf("before %s comes %q, want %q", name, got, want)
		}
	}
}
