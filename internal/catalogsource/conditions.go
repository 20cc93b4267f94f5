package catalogsource

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// The conditions that say what became of a template, and their reasons.
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

// Condition is what is to be said; the time is set where it is merged.
type Condition struct{ Type, Status, Reason, Message string }

// Conditions of a resolution, in the order in which they are appended. A reference whose
// templates have all resolved can still be no image reference.
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

// why names all templates that have no value, and then for each what keeps it from one.
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

// Kept are the conditions where all is resolved and the image is not set, for a reason:
// NoImageSource, the CatalogSource has none that could be set; ImageRefused, the API server does
// not take it; TwoTemplates, OLM sets another; AnotherWriter, somebody sets another each time.
func (r Resolution) Kept(reason string) []Condition { return r.resolved("False", reason) }

// maxMessage is what the schema of conditions allows, in characters.
const maxMessage = 32768

func (r Resolution) resolved(status, reason string) []Condition {
	return []Condition{
		{TemplatesHaveResolved, "True", AllTemplatesResolved, "catalog image reference was successfully resolved"},
		{ResolvedImage, status, reason, r.Image},
	}
}

// Merge puts conditions into the array of a status as JSON has it:
//
//  1. A condition that is there is updated in its place.
//  2. One that is not is added at the end.
//  3. Order and content of all others stay.
//  4. lastTransitionTime becomes now where the status changes, and else stays.
//
// Neither existing nor what it holds is changed; changed is false where nothing differs.
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

// Without is an array of conditions without those of some types; changed is false where
// there is none of them.
func Without(existing []any, types ...string) (rest []any, changed bool) {
	rest = slices.DeleteFunc(slices.Clone(existing), func(one any) bool {
		m, _ := one.(map[string]any)
		name, _ := m["type"].(string)
		return slices.Contains(types, name)
	})
	return rest, len(rest) < len(existing)
}
