package publish

import "testing"

// In the action, a remedy names inputs. Flags of other verbs stay.
func TestRemedyNamesInputs(t *testing.T) {
	for remedy, want := range map[string]string{
		"Push to another branch, or give --force.":                                                  "Push to another branch, or give force: true.",
		"Give --rebuild replace to replace the old build, or publish the bundle under a new one.":   "Give rebuild: replace to replace the old build, or publish the bundle under a new one.",
		"Give --replaces, --skips or --skip-range; none removes an edge.":                           "Give the input replaces, the input skips or the input skip-range; none removes an edge.",
		"Give --repository OWNER/NAME.":                                                             "Give repository: OWNER/NAME.",
		"Leave out --tombstone, and remove channels in another run.":                                "Leave out the input tombstone, and remove channels in another run.",
		"Give a rendered catalog: with graft insert --base or graft remove --base, or in catalogs.": "Give a rendered catalog: with graft insert --base or graft remove --base, or in catalogs.",
		"Leave out rewire: false in graft.yaml, or --no-rewire of graft insert.":                    "Leave out rewire: false in graft.yaml, or --no-rewire of graft insert.",
		"Run again later.": "Run again later.",
	} {
		if got := asInputs(remedy); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
