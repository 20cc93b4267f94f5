package failure

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The exit code of several failures follows the documented order.
func TestExitCodeOrder(t *testing.T) {
	for _, tt := range []struct {
		codes []Code
		want  Code
	}{
		{[]Code{CatalogSkew, UpgradePathLost, CatalogPruned, GraphInvalid, RenderFailed}, RenderFailed},
		{[]Code{CatalogSkew, UpgradePathLost, CatalogPruned, GraphInvalid}, GraphInvalid},
		{[]Code{CatalogSkew, UpgradePathLost, CatalogPruned}, CatalogPruned},
		{[]Code{CatalogSkew, UpgradePathLost}, UpgradePathLost},
		{[]Code{EdgeConflict, BundleConflict}, EdgeConflict},
		{[]Code{EdgeConflict, BundleInvalid, TemplateMalformed, Config, Usage}, Usage},
		{[]Code{EdgeConflict, BundleInvalid, EditRefused, TemplateMalformed}, EditRefused},
		{[]Code{GitFailed, EdgeConflict}, EdgeConflict},
		{[]Code{ForgeAuth, GitFailed}, GitFailed},
	} {
		var errs []error
		for _, c := range tt.codes {
			errs = append(errs, fmt.Errorf("while testing: %w", New(c, "x")))
		}
		if got := ExitCode(errors.Join(errs...)); got != int(tt.want) {
			t.Errorf("%v: exit code %d, want %d", tt.codes, got, tt.want)
		}
	}
	if got := ExitCode(errors.New("plain")); got != int(Internal) {
		t.Errorf("an untyped error exits with %d", got)
	}
	if got := ExitCode(nil); got != 0 {
		t.Errorf("no error exits with %d", got)
	}
}

func TestError(t *testing.T) {
	cause := errors.New("cause\non two lines")
	err := New(EdgeConflict, "inserting %s: %w", "op.v1", cause).At("t.yaml", 3, 5).Fix("do %s", "this")
	if got, want := err.Error(), "t.yaml:3:5: inserting op.v1: cause on two lines"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, cause) || err.Remedy != "do this" || err.Class != "edge-conflict" {
		t.Errorf("%+v", err)
	}
	var typed *Error
	if !errors.As(fmt.Errorf("more: %w", err), &typed) || typed != err {
		t.Error("errors.As does not find the failure")
	}
}

// Failures that differ only in their places and in the catalogs that they compare with are joined.
func TestDistinct(t *testing.T) {
	against := func(catalog, place string) *Error {
		e := New(UpgradePathLost, "against %s: a", catalog).At(place, 0, 0)
		e.Against = catalog
		return e
	}
	said := Distinct([]*Error{
		New(UpgradePathLost, "a").At("one.yaml", 3, 0), New(CatalogPruned, "a").At("one.yaml", 3, 0), New(UpgradePathLost, "a").At("two.yaml", 0, 0),
		New(UpgradePathLost, "b"), New(UpgradePathLost, "a").At("two.yaml", 0, 0), New(UpgradePathLost, "a").Fix("Do it."), New(UpgradePathLost, "b"),
		against("a", "c.yaml"), against("b", "d.yaml"), against("c", "d.yaml"), New(UpgradePathLost, "against d: a"),
	})
	var got []string
	for _, s := range said {
		got = append(got, fmt.Sprintf("%d %s %s", s.First.Code, s.First.Error(), s.Also()))
	}
	want := []string{"41 one.yaml:3: a Also in two.yaml.", "43 one.yaml:3: a ", "41 b ", "41 a ", "41 c.yaml: against a: a Also in d.yaml; against b, c.", "41 against d: a "}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	many := Said[int]{Places: make([]string, 30)}
	if also := many.Also(); !strings.HasSuffix(also, " and 9 more places.") {
		t.Errorf("of many: %q", also)
	}
	if len(Distinct(nil)) > 0 {
		t.Error("nothing failed")
	}
}
