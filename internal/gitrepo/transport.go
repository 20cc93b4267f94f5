package gitrepo

import (
	"net/http"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
)

// answerWithin limits the wait for the start of an answer. A server that counts objects or runs hooks sends
// messages meanwhile.
const answerWithin = 5 * time.Minute

// boundedTransport limits the size of an error answer, because go-git reads all of it. It does not retry,
// because a session with a remote has several requests.
type boundedTransport struct{ http.RoundTripper }

func newTransport(given http.RoundTripper) *boundedTransport {
	if given == nil {
		given = outbound.Standard(answerWithin)
	}
	return &boundedTransport{given}
}

func (t *boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		resp.Body = http.MaxBytesReader(nil, resp.Body, 64<<10)
	}
	return resp, err
}

// CloseIdleConnections passes on the call of http.Client.CloseIdleConnections.
func (t *boundedTransport) CloseIdleConnections() {
	if next, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}
