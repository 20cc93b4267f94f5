package plan

import "testing"

// TestOperatorVersions checks that a folder for a version of an operator, such as v10.16, does not get what
// OpenShift requires.
func TestOperatorVersions(t *testing.T) {
	const path = "v10.16/c.yaml"
	template := map[string]string{"t.yaml": basicTemplate}
	held := map[string]string{"t.yaml": basicTemplate, path: "schema: olm.bundle\nname: op.v1.0.0\npackage: op\nproperties:\n- type: olm.bundle.object\n  value: {}\n"}
	t.Run("label", planCase{files: template, in: renders("=v4.16", CatalogSetup{Path: path}), want: into + "  render " + path + " yaml csv new\n"}.run)
	t.Run("metadata", planCase{files: held, in: renders("", CatalogSetup{Path: path}), want: into + "  render " + path + " yaml objects\n", warning: path + " holds olm.bundle.object"}.run)
}
