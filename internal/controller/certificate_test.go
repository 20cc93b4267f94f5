package controller

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair returns a certificate that is valid for 90 days from the given time, and its key.
func pair(t *testing.T, serial int64, from time.Time) (cert, key []byte, parsed *x509.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"webhook"}, NotBefore: from, NotAfter: from.Add(90 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	if parsed, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), parsed
}

// served returns the certificate that a server with the files of a folder presents.
func served(t *testing.T, config *tls.Config) (*x509.Certificate, error) {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		defer there.Close()
		_ = tls.Server(there, config).HandshakeContext(t.Context())
	}()
	client := tls.Client(here, &tls.Config{InsecureSkipVerify: true, ServerName: "webhook"}) //nolint:gosec // the certificate is checked below
	if err := client.HandshakeContext(t.Context()); err != nil {
		return nil, err
	}
	return client.ConnectionState().PeerCertificates[0], nil
}

// A new certificate is served once its files are complete. Until then the old one is served, while files are
// replaced one by one, incomplete or missing.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := certificate(dir); err == nil {
		t.Error("without files it begins")
	}
	begun := time.Unix(1_800_000_000, 0)
	cert, key, _ := pair(t, 1, begun)
	write("tls.crt", cert)
	write("tls.key", key)
	config, err := certificate(dir)
	if err != nil {
		t.Fatal(err)
	}
	is := func(what string, want int64) {
		t.Helper()
		if got, err := served(t, config); err != nil || got.SerialNumber.Int64() != want {
			t.Errorf("%s: %v, want %d", what, err, want)
		}
	}
	is("at first", 1)
	cert, key, _ = pair(t, 2, begun)
	write("tls.crt", cert)
	is("with the key of the one before", 1)
	write("tls.key", key[:len(key)/2])
	is("with half a key", 1)
	write("tls.key", key)
	is("renewed", 2)
	write("tls.crt", nil)
	is("emptied", 2)
	if err := os.Remove(filepath.Join(dir, "tls.key")); err != nil {
		t.Fatal(err)
	}
	is("gone", 2)
	cert, key, _ = pair(t, 3, begun)
	write("tls.crt", cert)
	write("tls.key", key)
	is("renewed once more", 3)
}

// The client's clock jumps forwards and backwards, and certificates are renewed in time. The server serves the
// certificate in the folder and uses no clock of its own.
func TestCertificatesWhileTheClockWalks(t *testing.T) {
	dir, begun := t.TempDir(), time.Unix(1_800_000_000, 0)
	const day = 24 * time.Hour
	roots, number := x509.NewCertPool(), int64(0)
	renew := func(from time.Time) {
		t.Helper()
		number++
		cert, key, parsed := pair(t, number, from)
		roots.AddCert(parsed)
		for name, text := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	renew(begun)
	config, err := certificate(dir)
	if err != nil {
		t.Fatal(err)
	}
	good := func(now time.Time) bool {
		got, err := served(t, config)
		if err != nil {
			t.Fatal(err)
		}
		_, err = got.Verify(x509.VerifyOptions{Roots: roots, DNSName: "webhook", CurrentTime: now})
		return err == nil
	}
	now := begun
	for _, step := range []time.Duration{day, 60 * day, -61*day + time.Hour, 89 * day, 30 * day, -20 * day, 365 * day, -365 * day, 40 * day} {
		if now = now.Add(step); !good(now) {
			renew(now.Add(-time.Hour)) // as cert-manager does by that clock
		}
		if !good(now) {
			t.Errorf("%v from the beginning: what is served is not good", now.Sub(begun))
		}
	}
	if number < 4 {
		t.Errorf("renewed %d times", number)
	}
}
