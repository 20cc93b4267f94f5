package graph

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var numbersInName = regexp.MustCompile(`^(.*?)(\d+(?:\.\d+)*)(\D*)$`)

// PreviousChannel is the channel that a new one comes after: of those whose names differ from
// its own in the version alone, the one with the highest version below it; "" where there is
// none. stable-v1.4 comes after stable-v1.3, and not after stable-v1.
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

// channelVersion are what a name says around its last version, and the numbers of that.
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
