package oci

import (
	"context"
	"net/url"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"golang.org/x/net/publicsuffix"
)

// trusts reports whether the server at a realm may receive the registry's credentials: it is the same host, has
// the same owner by its domain, or has credentials of its own. Graft asks any other realm for a token without
// credentials.
func (k *keychain) trusts(ctx context.Context, realm string, registry name.Registry) bool {
	at, err := url.Parse(realm)
	if err != nil {
		return false
	}
	own := (&url.URL{Host: registry.RegistryStr()}).Hostname()
	if at.Hostname() == own {
		return true
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(own)
	if other, otherErr := publicsuffix.EffectiveTLDPlusOne(at.Hostname()); err == nil && otherErr == nil && domain == other {
		return true
	}
	repo, err := name.NewRepository(at.Host + "/token")
	if err != nil {
		return false
	}
	known, err := k.resolve(ctx, repo)
	return err == nil && known.config != (authn.AuthConfig{}) && !known.implied
}
