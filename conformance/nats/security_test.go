package nats_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
	"github.com/olmgraft/graft/internal/relay/queue/jetstream"
)

// A stream that differs from the configuration is refused with the differences, and stays unchanged.
func TestStreamDiffers(t *testing.T) {
	url := embedded(t, nil).ClientURL()
	first, err := jetstream.Open(t.Context(), usual(t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, _, err := first.Put(t.Context(), queue.Entry{Key: "a", Within: time.Hour, To: "octo/catalog", From: "quay.io/a/b", Data: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	before := stream(t, url, "GRAFT").CachedInfo().Config
	for says, change := range map[string]func(*jetstream.Options){
		"stream GRAFT: its number of messages is 1000, and the configuration has 7": func(o *jetstream.Options) { o.MaxItems = 7 },
		"stream GRAFT: its number of partitions is 4, and the configuration has 8":  func(o *jetstream.Options) { o.Partitions = 8 },
		"stream GRAFT_KEYS: its age is 1h0m0s, and the configuration has 2h0m0s":    func(o *jetstream.Options) { o.Remember = 2 * time.Hour },
	} {
		o := usual(t, url)
		change(&o)
		_, err := jetstream.Open(t.Context(), o)
		if err == nil || !failure.Is(err, failure.Usage) || !strings.Contains(err.Error(), says) || failure.Of(err).Remedy == "" {
			t.Errorf("%v, want %s", err, says)
		}
	}
	after := stream(t, url, "GRAFT")
	if got := after.CachedInfo(); got.Config.MaxMsgs != before.MaxMsgs || got.State.Msgs != 1 {
		t.Errorf("the stream was changed: %+v", got)
	}
	more := usual(t, url)
	more.Stream, more.Replicas = "MORE", 3
	if _, err := jetstream.Open(t.Context(), more); err == nil || !strings.Contains(err.Error(), "opening the stream MORE: ") {
		t.Errorf("three replicas on one server: %v", err)
	}
}

func stream(t *testing.T, url, name string) natsjs.Stream {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A server with TLS accepts only a relay that trusts it and has its own certificate.
func TestTLS(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, "server")
	s := embedded(t, func(o *server.Options) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		o.TLS, o.TLSVerify, o.TLSTimeout = true, true, 5
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool, MinVersion: tls.VersionTLS12}
	})
	url := strings.Replace(s.ClientURL(), "nats://", "tls://", 1)
	clientCert, clientKey := ca.issue(t, "relay")
	for name, tt := range map[string]struct {
		files jetstream.TLS
		taken bool
	}{
		"both are known":      {jetstream.TLS{CA: ca.file, Cert: clientCert, Key: clientKey}, true},
		"no certificate":      {jetstream.TLS{CA: ca.file}, false},
		"the system's alone":  {jetstream.TLS{Cert: clientCert, Key: clientKey}, false},
		"another authority's": {jetstream.TLS{CA: newAuthority(t).file, Cert: clientCert, Key: clientKey}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := usual(t, url)
			o.TLS = tt.files
			hold(t, o, tt.taken)
		})
	}
}

// hold checks whether a queue can be opened and used.
func hold(t *testing.T, o jetstream.Options, taken bool) {
	t.Helper()
	q, err := jetstream.Open(t.Context(), o)
	if !taken {
		if err == nil || !failure.Is(err, failure.Usage) || !strings.Contains(err.Error(), "connecting to the queue: ") {
			t.Errorf("%v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, _, err := q.Put(ctx, queue.Entry{Key: "a", Within: time.Hour, To: "octo/catalog", From: "quay.io/a/b", Data: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	err = q.Run(ctx, func(items ...queue.Item) {
		for _, item := range items {
			if err := errors.Join(q.Bury(ctx, item, []byte(`{"id":"a"}`)), q.Done(ctx, item)); err != nil {
				t.Error(err)
			}
		}
		cancel()
	})
	if err != nil {
		t.Error(err)
	}
	if s := q.State(t.Context()); s.Items != 0 || s.Refuses != "" {
		t.Errorf("it says %+v", s)
	}
	var letters bytes.Buffer
	if err := jetstream.Letters(t.Context(), o, &letters); err != nil || letters.String() != "{\"id\":\"a\"}\n" {
		t.Errorf("the letters are %q, %v", letters.String(), err)
	}
}

// The permissions that the documentation lists for the relay's user.
var allowed = &server.Permissions{
	Publish:   &server.SubjectPermission{Allow: []string{"$JS.API.>", "$JS.ACK.>", "GRAFT.>"}},
	Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
}

// A server that knows users by keys accepts only a relay with a user's seed. The documented permissions suffice.
func TestNKey(t *testing.T) {
	seed, public := newUser(t)
	s := embedded(t, func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public, Permissions: allowed}} })
	other, _ := newUser(t)
	for name, tt := range map[string]struct {
		seed  string
		taken bool
	}{"known": {seed, true}, "another": {other, false}, "none": {"", false}} {
		t.Run(name, func(t *testing.T) {
			o := usual(t, s.ClientURL())
			o.NKey = tt.seed
			hold(t, o, tt.taken)
		})
	}
}

// newUser returns a file with a seed, and its public key.
func newUser(t *testing.T) (file, public string) {
	t.Helper()
	user := newKey(t, nkeys.CreateUser)
	seed, err := user.pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "seed")
	write(t, file, seed)
	return file, user.public
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// authority signs certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, pool: x509.NewCertPool(), file: filepath.Join(t.TempDir(), "ca.pem")}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	a.pool.AppendCertsFromPEM(text)
	write(t, a.file, text)
	return a
}

// issue makes a certificate and its key, each in a file.
func (a *authority) issue(t *testing.T, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, private.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	write(t, cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
	return cert, key
}

// A server of an operator accepts only a relay with a user's credentials.
func TestCreds(t *testing.T) {
	operator, account, system := newKey(t, nkeys.CreateOperator), newKey(t, nkeys.CreateAccount), newKey(t, nkeys.CreateAccount)
	s := embedded(t, func(o *server.Options) {
		resolver := &server.MemAccResolver{}
		for _, of := range []key{account, system} {
			claims := jwt.NewAccountClaims(of.public)
			if of == account {
				claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
			}
			token, err := claims.Encode(operator.pair)
			if err == nil {
				err = resolver.Store(of.public, token)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		o.TrustedKeys, o.SystemAccount, o.AccountResolver = []string{operator.public}, system.public, resolver
	})
	creds := func(signer key) string {
		user := newKey(t, nkeys.CreateUser)
		token, err := jwt.NewUserClaims(user.public).Encode(signer.pair)
		if err != nil {
			t.Fatal(err)
		}
		seed, err := user.pair.Seed()
		if err != nil {
			t.Fatal(err)
		}
		text, err := jwt.FormatUserConfig(token, seed)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "user.creds")
		write(t, file, text)
		return file
	}
	for name, tt := range map[string]struct {
		creds string
		taken bool
	}{"the account's": {creds(account), true}, "another account's": {creds(newKey(t, nkeys.CreateAccount)), false}, "none": {"", false}} {
		t.Run(name, func(t *testing.T) {
			o := usual(t, s.ClientURL())
			o.Creds = tt.creds
			hold(t, o, tt.taken)
		})
	}
}

type key struct {
	pair   nkeys.KeyPair
	public string
}

func newKey(t *testing.T, create func() (nkeys.KeyPair, error)) key {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key{pair, public}
}
