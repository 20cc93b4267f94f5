package outbound

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Secrets holds credentials that may not be shown. The zero value is empty. It is safe for concurrent use.
type Secrets struct {
	mu  sync.Mutex
	all []string
}

// Note adds secrets, also in their escaped form for addresses.
func (s *Secrets) Note(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range secrets {
		for _, form := range []string{secret, url.PathEscape(secret)} {
			if form != "" && !slices.Contains(s.all, form) {
				s.all = append(s.all, form)
			}
		}
	}
}

// Redact removes the secrets from a text.
func (s *Secrets) Redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Redact(text, s.all...)
}

// Redact removes secrets from a text, and the user information of any address in it.
func Redact(text string, secrets ...string) string {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, secret := range secrets {
		// Shorter secrets would remove words from messages and protect nothing.
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return userinfo.ReplaceAllString(text, "://***@")
}

// userinfo extends to the last @, because a password may hold any character.
var userinfo = regexp.MustCompile(`://\S*@`)

// OneLine converts foreign text to one line, without characters that would control a terminal or a workflow's log.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(steering.ReplaceAllString(text, ""), ""))
	return strings.Join(strings.Fields(text), " ")
}

var steering = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// Shorten cuts a text to this many characters.
func Shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// Cause returns the innermost text of a network error, with the host but without the path, because redirects'
// addresses are signed.
func Cause(err error) string {
	var outer *url.Error
	if !errors.As(err, &outer) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
			return Cause(joined.Unwrap()[0])
		}
		return OneLine(err.Error())
	}
	host := ""
	if at, perr := url.Parse(outer.URL); perr == nil && at.Host != "" {
		host = at.Host + ": "
	}
	for {
		var inner *url.Error
		if !errors.As(outer.Err, &inner) {
			return OneLine(host + outer.Err.Error())
		}
		outer = inner
	}
}
