package gitrepo

import (
	"net/http"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
)

// answerWithin bounds the wait for an answer to begin; a server that counts objects or
// runs hooks says so meanwhile.
const answerWithin = 5 * time.Minute

// boundedTransport bounds what is read of an answer that is no success: go-git reads all of
// it. Nothing is tried again here, for a session with a remote is more than one request.
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

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (t *boundedTransport) CloseIdleConnections() {
	if next, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}
