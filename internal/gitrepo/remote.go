package gitrepo

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// remote is a remote repository.
type remote struct {
	url      string // without credentials
	endpoint transport.Endpoint
	client   transport.Transport
	auth     transport.AuthMethod
	secrets  outbound.Secrets
	retry    outbound.Retry
}

func newRemote(address string, over *boundedTransport, o Options) (*remote, error) {
	ep, err := transport.NewEndpoint(address)
	if err != nil {
		// The message does not show the address, because the place of credentials in it is unknown.
		return nil, failure.New(failure.Usage, "reading the address of the repository: it is not a URL").
			Fix("Give https://HOST/OWNER/NAME.")
	}
	m := &remote{retry: outbound.Retry{Attempts: o.Attempts, Sleep: o.Sleep}.WithDefaults()}
	if ep.Protocol == "ssh" && o.Token != "" {
		ep = &transport.Endpoint{Protocol: "https", Host: ep.Host, Path: ep.Path}
	}
	if ep.Protocol == "http" || ep.Protocol == "https" {
		m.takeCredentials(ep, o)
		m.client = githttp.NewClient(&http.Client{Transport: over})
	} else {
		ep.Password = ""
		if m.client, err = client.NewClient(ep); err != nil {
			return nil, failure.New(failure.Usage, "reading the address of the repository: %s is no protocol to reach one by", ep.Protocol).
				Fix("Give https://HOST/OWNER/NAME.")
		}
	}
	m.endpoint = *ep
	m.url = ep.String()
	return m, nil
}

// takeCredentials removes the credentials from the address, because errors would show them.
func (m *remote) takeCredentials(ep *transport.Endpoint, o Options) {
	user, password := ep.User, ep.Password
	m.secrets.Note(password)
	if password == "" {
		m.secrets.Note(user) // GitHub accepts a token as the user name too
	}
	ep.User, ep.Password = "", ""
	if o.Token != "" {
		user, password = o.Username, o.Token
		m.secrets.Note(password)
	}
	if user == "" && password == "" {
		return
	}
	m.auth = &githttp.BasicAuth{Username: user, Password: password}
	m.secrets.Note(base64.StdEncoding.EncodeToString([]byte(user + ":" + password)))
}

// refs holds the branches of a remote at one moment.
type refs struct {
	heads        map[string]plumbing.Hash // by branch
	all          map[string]plumbing.Hash // by full name
	standard     string                   // the default branch; "" if the remote does not name it
	capabilities *capability.List
}

func readRefs(adv *packp.AdvRefs) *refs {
	r := &refs{heads: map[string]plumbing.Hash{}, all: adv.References, capabilities: adv.Capabilities}
	for name, hash := range adv.References {
		if n := plumbing.ReferenceName(name); n.IsBranch() {
			r.heads[n.Short()] = hash
		}
	}
	if all, err := adv.AllReferences(); err == nil {
		if head, err := all.Reference(plumbing.HEAD); err == nil && head.Target().IsBranch() {
			r.standard = head.Target().Short()
		}
	}
	return r
}

// list reads the branches.
func (m *remote) list(ctx context.Context, doing string) (*refs, error) {
	var got *refs
	err := m.fetching(ctx, doing, func(_ transport.UploadPackSession, r *refs) error {
		got = r
		return nil
	})
	return got, err
}

// fetching opens a session for a fetch and calls do in it. It repeats both after a temporary fault.
func (m *remote) fetching(ctx context.Context, doing string, do func(transport.UploadPackSession, *refs) error) error {
	return m.again(ctx, func() error {
		ep := m.endpoint // a session writes redirects into it
		session, err := m.client.NewUploadPackSession(&ep, m.auth)
		if err != nil {
			return err
		}
		defer session.Close()
		adv, err := session.AdvertisedReferencesContext(ctx)
		if errors.Is(err, transport.ErrEmptyRemoteRepository) {
			return do(session, &refs{capabilities: capability.NewList()})
		}
		if err != nil {
			return err
		}
		return do(session, readRefs(adv))
	}, doing, "contents: read")
}

// again repeats do after a wait, as long as the fault may be temporary.
func (m *remote) again(ctx context.Context, do func() error, doing, needs string) error {
	for n := 1; ; n++ {
		err := do()
		if err == nil {
			return nil
		}
		f := m.explain(ctx, doing, needs, err)
		var header http.Header
		if answer := (*githttp.Err)(nil); errors.As(unwrap(err), &answer) {
			header = answer.Response.Header
		}
		wait, worthIt := m.retry.Wait(ctx, n, header)
		if !f.Retryable || !worthIt || f.Code != failure.GitFailed || n >= m.retry.Attempts {
			return f
		}
		if m.retry.Sleep(ctx, wait) != nil {
			return m.explain(ctx, doing, needs, err)
		}
	}
}
