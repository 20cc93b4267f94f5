// Package install tests the manifests, the charts and the bundle of deploy on a complete API server:
// kube-apiserver, which go.mod names, on Debian's etcd. There are no nodes, so pods are admitted and never run.
package install

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	authentication "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

var (
	admin    *rest.Config // may do everything
	auditLog string       // requests of the users in the audit policy
	scratch  string
)

// auditPolicy records the controller's requests.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["system:serviceaccount:graft-controller:graft-controller"]
- level: None
`

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	log.SetOutput(io.Discard) // helm reports each link that it follows
	var err error
	if scratch, err = os.MkdirTemp("", "graft-install"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(scratch)
	stop, err := startServer()
	defer stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// startServer starts etcd and kube-apiserver. stop ends them, also after an error.
func startServer() (stop func(), err error) {
	var running []*exec.Cmd
	stop = func() {
		for _, c := range running {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	begin := func(name string, args ...string) error {
		c := exec.Command(name, args...)
		said, err := os.Create(filepath.Join(scratch, filepath.Base(name)+".log"))
		if err != nil {
			return err
		}
		c.Stdout, c.Stderr = said, said
		if err := c.Start(); err != nil {
			return err
		}
		running = append([]*exec.Cmd{c}, running...)
		return nil
	}
	client, peer, address := "http://"+freeAddress(), "http://"+freeAddress(), freeAddress()
	if err := begin("etcd", "--data-dir", filepath.Join(scratch, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--unsafe-no-fsync"); err != nil {
		return stop, fmt.Errorf("etcd is missing: apt-get install etcd-server: %w", err)
	}
	program, err := apiserver()
	if err != nil {
		return stop, err
	}
	file := func(name string, text []byte) string {
		at := filepath.Join(scratch, name)
		if err := os.WriteFile(at, text, 0o600); err != nil {
			panic(err)
		}
		return at
	}
	_, port, _ := net.SplitHostPort(address)
	key, certs := file("key", signingKey()), filepath.Join(scratch, "certs")
	auditLog = filepath.Join(scratch, "audit.log")
	err = begin(program, "--etcd-servers="+client, "--bind-address=127.0.0.1", "--secure-port="+port, "--cert-dir="+certs, "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file="+key, "--service-account-key-file="+key,
		"--disable-admission-plugins=StorageObjectInUseProtection", // no controller here would release a claim
		"--authorization-mode=RBAC", "--token-auth-file="+file("tokens.csv", []byte("admin,admin,1,system:masters\n")),
		"--audit-policy-file="+file("audit.yaml", []byte(auditPolicy)), "--audit-log-path="+auditLog)
	if err != nil {
		return stop, err
	}
	return stop, ready("https://"+address, filepath.Join(certs, "apiserver.crt"), filepath.Join(scratch, "kube-apiserver.log"))
}

// apiserver builds the program that go.mod names, with the version string of a release.
func apiserver() (string, error) {
	at := filepath.Join(scratch, "kube-apiserver")
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return "", fmt.Errorf("asking go.mod for the version of kubernetes: %w", err)
	}
	build := exec.Command("go", "build", "-o", at, "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion="+string(version[:len(version)-1]), "k8s.io/kubernetes/cmd/kube-apiserver")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building kube-apiserver: %w\n%s", err, out)
	}
	return at, nil
}

// ready waits until the server answers. Its error includes the server's output.
func ready(host, certificate, said string) error {
	var err error
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var ca []byte
		if ca, err = os.ReadFile(certificate); err != nil {
			continue // the server creates it at the start
		}
		admin = &rest.Config{Host: host, BearerToken: "admin", QPS: -1, WarningHandler: rest.NoWarnings{}, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
		if _, err = kubernetes.NewForConfigOrDie(admin).Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(context.Background()); err == nil {
			return nil
		}
	}
	text, _ := os.ReadFile(said)
	return fmt.Errorf("kube-apiserver does not get ready: %w\n%s", err, text[max(0, len(text)-4000):])
}

func signingKey() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// as returns the configuration of a service account.
func as(t *testing.T, namespace, name string) *rest.Config {
	t.Helper()
	hour := int64(3600)
	request := &authentication.TokenRequest{Spec: authentication.TokenRequestSpec{ExpirationSeconds: &hour}}
	token, err := kubernetes.NewForConfigOrDie(admin).CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(admin)
	config.BearerToken = token.Status.Token
	return config
}

func unyaml(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
