package cli

// Exported for tests with the other programs, which import this package.
var (
	Golden        = golden
	FailuresTable = failuresTable
	Changing      = changing
	Retry         = retry
	Update        = update
)
