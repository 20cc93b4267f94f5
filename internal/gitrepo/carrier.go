package gitrepo

import (
	"net/http"
	"time"
)

// answerWithin bounds the wait for an answer to begin; a server that counts objects or
// runs hooks says so meanwhile.
const answerWithin = 5 * time.Minute

// carrier bounds what is read of an answer that is no success: go-git reads all of it.
type carrier struct{ base http.RoundTripper }

func newCarrier(given http.RoundTripper) *carrier {
	if given != nil {
		return &carrier{base: given}
	}
	base := http.DefaultTransport
	if t, ok := base.(*http.Transport); ok {
		own := t.Clone()
		own.ResponseHeaderTimeout = answerWithin
		base = own
	}
	return &carrier{base: base}
}

func (c *carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.base.RoundTrip(req)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		resp.Body = http.MaxBytesReader(nil, resp.Body, 64<<10)
	}
	return resp, err
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (c *carrier) CloseIdleConnections() {
	if base, ok := c.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
