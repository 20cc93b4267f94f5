package gitrepo

import (
	"regexp"
	"strings"
)

// TrailerKey is the trailer that every commit of ours carries: the request that it answers.
const TrailerKey = "Graft-Request"

var trailerLine = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*: `)

// compose keeps the message as it is, but for what git cannot store, and puts the
// trailers that are not there yet at its end.
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

// trailerBlock is the last paragraph where that consists of trailers; the subject is
// none, though it may look like one.
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

// requestOf is the value of the trailer by which ours are known; "" without it.
func requestOf(message string) string {
	for line := range strings.SplitSeq(trailerBlock(message), "\n") {
		if k, v, ok := strings.Cut(line, ": "); ok && strings.EqualFold(k, TrailerKey) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
