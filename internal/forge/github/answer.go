package github

import (
	"errors"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
)

// Answer is what is known of the answer behind a failure, for those who try again by
// themselves. Its zero value is no answer.
type Answer struct {
	Status int
	// RetryAt is when the forge asks to come again.
	RetryAt time.Time
}

// AnswerOf finds the answer that a failure came from.
func AnswerOf(err error, now time.Time) Answer {
	var limited *outbound.RateLimited
	if errors.As(err, &limited) {
		return Answer{RetryAt: limited.Until}
	}
	answer := answerOf(err)
	if answer == nil {
		return Answer{}
	}
	a := Answer{Status: answer.Response.StatusCode}
	if wait, ok := outbound.RetryAfter(answer.Response.Header, now); ok {
		a.RetryAt = now.Add(wait)
	}
	return a
}
