package catalogsource

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// The conditions that report the result of a template, and their reasons.
const (
	TemplatesHaveResolved = "TemplatesHaveResolved"
	ResolvedImage         = "ResolvedImage"

	UnableToResolve      = "UnableToResolve"
	InvalidTemplate      = "InvalidTemplate"
	AllTemplatesResolved = "AllTemplatesResolved"
	InvalidReference     = "InvalidImageReference"
	NoImageSource        = "NoImageSource"
	ImageRefused         = "ImageRefused"
	TwoTemplates         = "TwoTemplates"
	AnotherWriter        = "AnotherWriter"
)

// Condition is a condition without its time, which Merge sets.
type Condition struct{ Type, Status, Reason, Message string }

// Conditions returns the conditions of a resolution in the order in which they are appended. A reference can be
// invalid although all its templates have been resolved.
func (r Resolution) Conditions() []Condition {
	switch {
	case len(r.Unresolved) > 0:
		reason := UnableToResolve
		for _, u := range r.Unresolved {
			if broken := (*Broken)(nil); errors.As(u.Err, &broken) {
				reason = InvalidTemplate
			}
		}
		return []Condition{{TemplatesHaveResolved, "False", reason, r.why()}, {ResolvedImage, "False", reason, r.Image}}
	case r.Invalid != nil:
		return r.resolved("False", InvalidReference)
	}
	return r.resolved("True", AllTemplatesResolved)
}

// why names all templates without a value, and then the reason for each.
func (r Resolution) why() string {
	var names, reasons []string
	for _, u := range r.Unresolved {
		names = append(names, `"`+u.Template.Text+`"`)
		reason := u.Template.Text + ": " + u.Err.Error()
		if broken := (*Broken)(nil); errors.As(u.Err, &broken) {
			reason += ". " + strings.TrimSuffix(broken.Fix, ".")
		}
		reasons = append(reasons, reason)
	}
	return "Cannot construct catalog image reference, variable(s) " + strings.Join(names, ", ") + " couldn't be resolved. " + strings.Join(reasons, "; ") + "."
}

// Kept returns the conditions for a resolved image that was not set. The reasons are NoImageSource: the
// CatalogSource has no image to set; ImageRefused: the API server refuses the image; TwoTemplates: OLM sets
// another image; AnotherWriter: another writer keeps setting another image.
func (r Resolution) Kept(reason string) []Condition { return r.resolved("False", reason) }

// maxMessage is the limit in the schema of conditions, in characters.
const maxMessage = 32768

func (r Resolution) resolved(status, reason string) []Condition {
	return []Condition{
		{TemplatesHaveResolved, "True", AllTemplatesResolved, "catalog image reference was successfully resolved"},
		{ResolvedImage, status, reason, r.Image},
	}
}

// Merge adds conditions to the JSON array of a status:
//
//  1. An existing condition is updated in place.
//  2. A new one is appended.
//  3. All others keep their order and content.
//  4. lastTransitionTime becomes now if the status changes; otherwise it stays.
//
// Merge does not modify existing or its elements. changed is false if nothing differs.
func Merge(existing []any, own []Condition, now string) (merged []any, changed bool) {
	merged = slices.Clone(existing)
	for _, c := range own {
		if runes := []rune(c.Message); len(runes) > maxMessage {
			c.Message = string(runes[:maxMessage])
		}
		at := slices.IndexFunc(merged, func(one any) bool {
			m, ok := one.(map[string]any)
			return ok && m["type"] == c.Type
		})
		if at < 0 {
			merged = append(merged, map[string]any{
				"type": c.Type, "status": c.Status, "lastTransitionTime": now, "reason": c.Reason, "message": c.Message,
			})
			changed = true
			continue
		}
		old := merged[at].(map[string]any)
		if old["status"] == c.Status && old["reason"] == c.Reason && old["message"] == c.Message {
			continue
		}
		one := maps.Clone(old)
		if old["status"] != c.Status {
			one["lastTransitionTime"] = now
		}
		one["status"], one["reason"], one["message"] = c.Status, c.Reason, c.Message
		merged[at], changed = one, true
	}
	return merged, changed
}

// Without returns an array of conditions without the given types. changed is false if it contains none of them.
func Without(existing []any, types ...string) (rest []any, changed bool) {
	rest = slices.DeleteFunc(slices.Clone(existing), func(one any) bool {
		m, _ := one.(map[string]any)
		name, _ := m["type"].(string)
		return slices.Contains(types, name)
	})
	return rest, len(rest) < len(existing)
}
