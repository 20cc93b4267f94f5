package controller

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgraft/graft/internal/catalogsource"
)

func TestKinds(t *testing.T) {
	asked, served := 0, []metav1.APIResource(nil)
	var down error
	k := newKinds(func(gv string) (*metav1.APIResourceList, error) {
		asked++
		if gv != "a.b/v1" {
			t.Errorf("asked for %s", gv)
		}
		return &metav1.APIResourceList{APIResources: served}, down
	}, 0)
	one := catalogsource.Lookup{Group: "a.b", Version: "v1", Kind: "One", Namespace: "ns"}
	if _, err := k.resource(one); err == nil || err.Error() != "the server has no kind One in a.b/v1" {
		t.Errorf("got %v", err)
	}
	served = []metav1.APIResource{{Name: "ones/status", Kind: "One", Namespaced: true}, {Name: "ones", Kind: "One", Namespaced: true}, {Name: "twos", Kind: "Two"}}
	for range 3 {
		if r, err := k.resource(one); err != nil || r.Resource != "ones" {
			t.Errorf("got %v, %v", r, err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	one.Namespace = ""
	if _, err := k.resource(one); err == nil || err.Error() != "One has a namespace, and the template names none" {
		t.Errorf("got %v", err)
	}
	if _, err := k.resource(catalogsource.Lookup{Group: "a.b", Version: "v1", Kind: "Two", Namespace: "ns"}); err == nil || err.Error() != "Two has no namespace, and the template names one" {
		t.Errorf("got %v", err)
	}
	down = errors.New("down")
	if _, err := k.resource(catalogsource.Lookup{Group: "a.b", Version: "v1", Kind: "Three"}); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}

// Made-up groups in templates displace no group of the server.
func TestKindsThatAreMadeUp(t *testing.T) {
	asked := map[string]int{}
	k := newKinds(func(gv string) (*metav1.APIResourceList, error) {
		asked[gv]++
		if gv != "a.b/v1" {
			return nil, errors.New("there is none")
		}
		return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "ones", Kind: "One"}}}, nil
	}, time.Hour)
	for i := range 5 * maxKnown {
		if _, err := k.resource(catalogsource.Lookup{Group: fmt.Sprint("made.up", i), Version: "v1", Kind: "One"}); err == nil {
			t.Fatal("it is served")
		}
		if _, err := k.resource(catalogsource.Lookup{Group: "a.b", Version: "v1", Kind: "One"}); err != nil {
			t.Fatal(err)
		}
	}
	if asked["a.b/v1"] != 1 || len(k.known) > maxKnown {
		t.Errorf("asked %d times, %d are known", asked["a.b/v1"], len(k.known))
	}
}
