package graph

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var numbersInName = regexp.MustCompile(`^(.*?)(\d+(?:\.\d+)*)(\D*)$`)

// PreviousChannel returns the channel that precedes a new one: among those whose names differ from it only in the
// version, the one with the highest lower version, or "". stable-v1.3 precedes stable-v1.4, but stable-v1 does
// not.
func PreviousChannel(name string, channels []string) string {
	own, version := channelVersion(name)
	previous, highest := "", []uint64(nil)
	for _, c := range channels {
		pattern, v := channelVersion(c)
		if v == nil || pattern != own || len(v) != len(version) || slices.Compare(v, version) >= 0 {
			continue
		}
		if previous == "" || slices.Compare(v, highest) > 0 {
			previous, highest = c, v
		}
	}
	return previous
}

// channelVersion returns a name with a placeholder for its last version, and that version's numbers.
func channelVersion(name string) (around string, version []uint64) {
	parts := numbersInName.FindStringSubmatch(name)
	if parts == nil {
		return name, nil
	}
	for number := range strings.SplitSeq(parts[2], ".") {
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return name, nil
		}
		version = append(version, n)
	}
	return parts[1] + "{}" + parts[3], version
}
