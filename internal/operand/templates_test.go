package operand_test

import (
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template"
)

func init() { operand.KnownTemplates = template.Lists }
