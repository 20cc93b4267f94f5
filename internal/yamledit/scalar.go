package yamledit

import (
	"bytes"
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"
)

// scalarText writes a string in the given style. It adds quotes if the string would not read back unchanged in
// that style.
func scalarText(s string, style Style, flow, asJSON bool) string {
	control := strings.IndexFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7F || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xFEFF
	}) >= 0
	switch {
	case asJSON || style == DoubleQuoted || control:
		return jsonText(s)
	case style == SingleQuoted || !plainSafe(s, flow):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

func jsonText(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// plainSafe reports whether every reader takes the unquoted s for the string s: yaml.v3, and YAML 1.1 readers,
// which take yes and no for booleans.
func plainSafe(s string, flow bool) bool {
	if s == "" || strings.TrimSpace(s) != s {
		return false
	}
	if strings.ContainsAny(s[:1], "!&*|>%@`\"'#,[]{}") {
		return false
	}
	if strings.ContainsAny(s[:1], "-?:") && (len(s) == 1 || s[1] == ' ') {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") || strings.Contains(s, "\t") {
		return false
	}
	if flow && strings.ContainsAny(s, ",[]{}:") && !plainInFlow(s) {
		return false
	}
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "=", "<<":
		return false
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	return n.ShortTag() == "!!str"
}

// plainInFlow reports whether s is safe in a flow collection. It allows a colon inside an image reference,
// because no blank follows it.
func plainInFlow(s string) bool {
	if strings.ContainsAny(s, ",[]{}") {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ') {
			return false
		}
	}
	return true
}

// Quote writes a string as a value in block style. It adds quotes only if the string would not read back
// unchanged.
func Quote(s string) string { return scalarText(s, Plain, false, false) }
