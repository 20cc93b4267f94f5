package cli

// For the tests that know the other programs, which import this package.
var (
	Golden        = golden
	FailuresTable = failuresTable
	Changing      = changing
	Retry         = retry
	Update        = update
)
