package operand

// KnownTemplates is set by the tests, because internal/template imports this package.
var KnownTemplates Templates
