package gitrepo

import (
	"regexp"
	"strings"
)

// TrailerKey is the key of the trailer for each request that a commit of Graft answers.
const TrailerKey = "Graft-Request"

// treeKey is the key of the trailer that names the content of the commit.
const treeKey = "Graft-Tree"

var trailerLine = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*: `)

// compose keeps the message except for bytes that git cannot store, and appends the missing trailers.
func compose(message string, trailers ...string) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(message, "�"), "\x00", "")
	text = strings.TrimRight(text, " \t\r\n")
	block := trailerBlock(text)
	for _, t := range trailers {
		t = strings.Join(strings.Fields(t), " ")
		if strings.Contains("\n"+block+"\n", "\n"+t+"\n") {
			continue
		}
		if block == "" {
			text += "\n"
		}
		text += "\n" + t
		block += "\n" + t
	}
	return text + "\n"
}

// trailerBlock returns the last paragraph if it consists of trailers. The subject never counts as trailers.
func trailerBlock(message string) string {
	message = strings.TrimRight(strings.ReplaceAll(message, "\r\n", "\n"), "\n")
	at := strings.LastIndex(message, "\n\n")
	if at < 0 {
		return ""
	}
	block := message[at+2:]
	for line := range strings.SplitSeq(block, "\n") {
		if !trailerLine.MatchString(line) {
			return ""
		}
	}
	return block
}

func requestsOf(message string) []string { return trailersOf(message, TrailerKey) }

// trailersOf returns the values of a trailer.
func trailersOf(message, key string) []string {
	var all []string
	for line := range strings.SplitSeq(trailerBlock(message), "\n") {
		k, v, ok := strings.Cut(line, ": ")
		if v = strings.TrimSpace(v); ok && v != "" && strings.EqualFold(k, key) {
			all = append(all, v)
		}
	}
	return all
}
