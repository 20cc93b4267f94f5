// Package failure holds the typed failures of Graft. A code is API: scripts
// branch on it, so codes are added and never renumbered.
package failure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one failure. Message says in one line what was being done and what was wrong. Remedy says in one line
// what to do about it. File, Line and Col are the place of the cause, if it has one. Line and Col start at 1; 0
// means unknown.
type Error struct {
	Code      Code   `json:"code"`
	Class     string `json:"class"`
	Message   string `json:"message"`
	Remedy    string `json:"remedy,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Col       int    `json:"col,omitempty"`
	Retryable bool   `json:"retryable"`
	// Against is the part of Message that names the catalog with which the place was compared, or "".
	Against string `json:"-"`
	Err     error  `json:"-"`
}

// New returns a failure with the given code. A %w in the format sets the cause.
func New(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{
		Code:      code,
		Class:     code.Class(),
		Message:   oneLine(wrapped.Error()),
		Remedy:    code.entry().Remedy,
		Retryable: code.Retryable(),
		Err:       errors.Unwrap(wrapped),
	}
}

// At sets the place of the cause and returns e.
func (e *Error) At(file string, line, col int) *Error {
	e.File, e.Line, e.Col = file, line, col
	return e
}

// Fix replaces the code's general remedy by a specific one.
func (e *Error) Fix(format string, args ...any) *Error {
	e.Remedy = oneLine(fmt.Sprintf(format, args...))
	return e
}

// Error returns FILE:LINE:COL and the message. It leaves out the remedy; the code that shows the failure to a
// person adds it.
func (e *Error) Error() string {
	if p := e.Place(); p != "" {
		return p + ": " + e.Message
	}
	return e.Message
}

// Place returns FILE:LINE:COL, as far as it is known.
func (e *Error) Place() string {
	switch {
	case e.File == "":
		return ""
	case e.Line == 0:
		return e.File
	case e.Col == 0:
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col)
}

func (e *Error) Unwrap() error { return e.Err }

// Of returns the failure in err's chain. If there are several, it returns the first in the order of All. It wraps
// an error without a failure as an internal one. Of(nil) is nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if all := All(err); len(all) > 0 {
		return all[0]
	}
	return New(Internal, "%w", err)
}

// InOrder joins failures sorted by their places.
func InOrder(errs []error) error {
	slices.SortFunc(errs, func(a, b error) int {
		x, y := Of(a), Of(b)
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col))
	})
	return errors.Join(errs...)
}

// All returns every failure in err, also those of joined errors. The failure that decides the exit code comes
// first; the others keep their order.
func All(err error) []*Error {
	var all []*Error
	collect(err, &all)
	for i, e := range all {
		if i > 0 && e.Code.rank() < all[0].Code.rank() {
			copy(all[1:i+1], all[:i])
			all[0] = e
		}
	}
	return all
}

func collect(err error, into *[]*Error) {
	if err == nil {
		return
	}
	switch e := err.(type) { //nolint:errorlint // the chain is walked step by step
	case *Error:
		*into = append(*into, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			collect(one, into)
		}
	default:
		collect(errors.Unwrap(err), into)
	}
}

// ExitCode returns the process exit code for err; 0 for nil.
func ExitCode(err error) int {
	if e := Of(err); e != nil {
		return int(e.Code)
	}
	return int(OK)
}

// Is reports whether err contains a failure with the code.
func Is(err error, code Code) bool {
	for _, e := range All(err) {
		if e.Code == code {
			return true
		}
	}
	return false
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
