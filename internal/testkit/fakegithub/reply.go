package fakegithub

import (
	"net/http"
	"strconv"
	"time"
)

const documentation = "https://docs.github.com/rest"

// fields is a JSON object.
type fields = map[string]any

type reply struct {
	status int
	header http.Header
	body   any
}

func ok(body any) reply      { return reply{status: http.StatusOK, body: body} }
func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
func empty() reply           { return reply{status: http.StatusNoContent} }

// failed returns GitHub's error body.
func failed(status int, message string) reply {
	return reply{status: status, body: fields{
		"message": message, "documentation_url": documentation, "status": strconv.Itoa(status),
	}}
}

func notFound() reply { return failed(http.StatusNotFound, "Not Found") }

// invalid returns a 422 with one error for each field.
func invalid(errors ...fields) reply {
	r := failed(http.StatusUnprocessableEntity, "Validation Failed")
	list := make([]any, len(errors))
	for i, e := range errors {
		list[i] = e
	}
	r.body.(fields)["errors"] = list
	return r
}

// custom returns an error with the code that GitHub uses where it has no specific one.
func custom(resource, message string) fields {
	return fields{"resource": resource, "code": "custom", "message": message}
}

func wrong(resource, field, code string) fields {
	return fields{"resource": resource, "field": field, "code": code}
}

// Fault describes a fault of one answer.
type Fault struct {
	// Status and Message replace the answer. If Message is "", the status' own text is used.
	Status  int
	Message string
	Header  http.Header
	// Acted executes the request anyway, so that only its answer is lost.
	Acted bool
	// Cut closes the connection instead of answering.
	Cut bool
	// Truncate sends this many bytes of the answer and closes the connection.
	Truncate int
	// Delay waits before anything else.
	Delay time.Duration
}

// ServerError returns a 5xx fault. acted reports whether the server executes the request first.
func ServerError(status int, acted bool) *Fault {
	return &Fault{Status: status, Message: "Server Error", Acted: acted}
}

// PrimaryLimit returns the hourly limit, which ends at the given time.
func PrimaryLimit(until time.Time) *Fault {
	return &Fault{
		Status: http.StatusForbidden, Message: "API rate limit exceeded for user ID 1.",
		Header: http.Header{
			"X-Ratelimit-Remaining": {"0"},
			"X-Ratelimit-Reset":     {strconv.FormatInt(until.Unix(), 10)},
		},
	}
}

// SecondaryLimit returns the limit on concurrent requests, as a 403 or a 429.
func SecondaryLimit(status int, after time.Duration) *Fault {
	f := &Fault{Status: status, Message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
	if after > 0 {
		f.Header = http.Header{"Retry-After": {strconv.Itoa(int(after / time.Second))}}
	}
	return f
}

func (f Fault) replaces() bool { return f.Status != 0 || f.Cut }

func (f Fault) reply() reply {
	message := f.Message
	if message == "" {
		message = http.StatusText(f.Status)
	}
	r := failed(f.Status, message)
	r.header = f.Header
	return r
}
