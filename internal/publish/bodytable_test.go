package publish

import "testing"

func TestBrief(t *testing.T) {
	const one, other = "sha256:0123456789abcdef", "sha256:fedcba9876543210"
	for _, tt := range [][4]string{
		{"stage", "prod", "stage", "prod"},
		{"", "q/a@" + one, "", "q/a@sha256:0123456789ab…"},
		{"q/a@" + one, "q/a@" + other, "sha256:0123456789ab…", "sha256:fedcba987654…"},
		{"q/a:v1", "q/a:v2@" + one, "v1", "v2@sha256:0123456789ab…"},
		{"q/a:v1", "q/b:v1", "q/a:v1", "q/b:v1"},
		{"q/a", "q/a", "q/a", "q/a"},
	} {
		if from, to := brief(tt[0], tt[1]); from != tt[2] || to != tt[3] {
			t.Errorf("brief(%q, %q) = %q, %q", tt[0], tt[1], from, to)
		}
	}
}
