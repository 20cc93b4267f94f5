package cli

import (
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/publish"
	"github.com/olmgraft/graft/internal/survey"
)

// eventsPage describes how a registry starts the workflow. The repository of the reader does not have the page.
const eventsPage = "https://github.com/olmgraft/graft/blob/main/docs/action.md#events"

// nextSteps returns what to do after init in a directory. The example is a bundle of the repository, so that the
// command works as printed. created is whether init wrote a file.
func nextSteps(dir string, example survey.Bundle, created bool) string {
	var b strings.Builder
	b.WriteString("\nNext, publish a bundle as a dry run, which writes and pushes nothing:\n\n")
	if dir != "." {
		fmt.Fprintf(&b, "  cd %s\n", publish.Quoted(dir))
	}
	if example.Image == "" {
		b.WriteString("  graft publish --dry-run IMAGE\n\nIMAGE is a bundle image, such as quay.io/OWNER/NAME-bundle:v1.2.3.\n")
	} else {
		name := ""
		if example.Name != "" {
			name = " (" + oneLine(example.Name) + ")"
		}
		fmt.Fprintf(&b, "  graft publish --dry-run %s\n\nThe repository has this bundle already%s. Replace the image with that of your next bundle.\n", example.Image, name)
	}
	if created {
		b.WriteString("Then commit the new files. ")
	}
	fmt.Fprintf(&b, "%s says how a new bundle starts the workflow.\n", eventsPage)
	return b.String()
}
