package operand

// KnownTemplates are those that internal/template knows, which imports this package.
var KnownTemplates Templates
