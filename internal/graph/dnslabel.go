package graph

import "strings"

// dnsLabelFault returns what is wrong with a DNS label (RFC 1123), or "".
func dnsLabelFault(s string) string {
	switch {
	case len(s) > 63:
		return "is longer than 63 characters"
	case s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return "has other characters than lower case letters, digits and hyphens"
	case s[0] == '-' || s[len(s)-1] == '-':
		return "begins or ends with a hyphen"
	}
	return ""
}
