package controller_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/controller/operands"
	"github.com/olmgraft/graft/internal/operand"
)

// The command keeps ConfigMaps in the given namespaces only. Their status shows it.
func TestCommandKeepsOperands(t *testing.T) {
	s := newServer(t)
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"kept", "other"} {
		m := &unstructured.Unstructured{}
		m.SetAPIVersion("v1")
		m.SetKind("ConfigMap")
		m.SetName("one")
		m.SetLabels(map[string]string{operand.KeepLabel: operand.KeepValue})
		if _, err := client.Resource(operands.ConfigMaps).Namespace(namespace).Create(context.Background(), m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	status := func(namespace string) string {
		t.Helper()
		m, err := client.Resource(operands.ConfigMaps).Namespace(namespace).Get(context.Background(), "one", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return m.GetAnnotations()[operand.StatusAnnotation]
	}
	var said bytes.Buffer
	once := func(args ...string) int {
		said.Reset()
		return controller.Main(context.Background(), append(args, "--once", "--kubeconfig", s.Kubeconfig(t)), "one", nil, io.Discard, &said)
	}
	if code := once(); code != 0 || status("kept") != "" {
		t.Errorf("unasked it ended with %d, and the status is %q: %s", code, status("kept"), &said)
	}
	if code := once("--operands-namespace", "kept", "--operands-poll", "0"); code != 2 {
		t.Errorf("it ended with %d: %s", code, &said)
	}
	if code := once("--operands-namespace", "kept", "--registries-conf", "gone"); code != 2 || status("kept") != "" {
		t.Errorf("it ended with %d: %s", code, &said)
	}
	p := begin(t, s, "--operands-namespace", "kept", "--operands-poll", "20ms")
	for deadline := time.Now().Add(s.Patience); status("kept") == ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has no status")
		}
	}
	p.ends(t)
	if code := once("--operands-namespace", "kept"); code != 3 || !strings.Contains(said.String(), "graft-controller: kept/one: reading the annotation") {
		t.Errorf("it ended with %d: %s", code, &said)
	}
	if got := status("kept"); !strings.HasPrefix(got, "config-invalid: ") || status("other") != "" {
		t.Errorf("the status is %q, and elsewhere %q", got, status("other"))
	}
}
