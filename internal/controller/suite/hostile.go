package suite

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/controller"
)

// An object over 1 MiB is refused, and the conditions say so. Once it is smaller it is used again.
func testLarge(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "large")
	large := c.Create(Samples, Sample("large", "one", "v2")+"data: "+strings.Repeat("x", budget.TemplateObject)+"\n")
	c.Create(controller.Resource, CatalogSource("large", "one", SampleTemplate("large", "one"), "{sourceType: grpc, image: 'a/b:v1'}"))
	if err := c.Controller.Once(context.Background()); err == nil || !strings.Contains(err.Error(), "the object is larger than 1 MiB") {
		t.Errorf("once: %v", err)
	}
	c.Start()
	c.Eventually("the size is reported", func() bool {
		message, _ := Condition(c.Get("large/one"), "TemplatesHaveResolved")["message"].(string)
		return strings.Contains(message, "the object is larger than 1 MiB")
	})
	if got := Image(c.Get("large/one")); got != "a/b:v1" {
		t.Errorf("the image is %s", got)
	}
	delete(large.Object, "data")
	if _, err := c.Resource(Samples).Namespace("large").Update(context.Background(), large, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Follows("large/one", "quay.io/sample/catalog:v2")
}

// The CatalogSources of one namespace may have a limited number of watches, and their conditions report the
// limit. Freed watches are available to others of that namespace.
func testManyWatches(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "many-hostile", "many-quiet")
	var watches atomic.Int64
	var seen sync.Map // a watch can take several requests
	c.Meanwhile = func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/samples") && strings.Contains(r.URL.Path, "/nowhere-") {
			if _, again := seen.LoadOrStore(r.URL.Path, true); !again {
				watches.Add(1)
			}
		}
		return 0
	}
	template := func(first int) string {
		all := "a/b:"
		for i := range 10 {
			all += strings.TrimPrefix(SampleTemplate(fmt.Sprint("nowhere-", first+i), "one"), "quay.io/sample/catalog:")
		}
		return all
	}
	const sources = 2 + budget.NamespaceWatches/10
	for i := range sources {
		c.Create(controller.Resource, CatalogSource("many-hostile", fmt.Sprint("x", i), template(10*i), "{sourceType: grpc, image: 'a/b:v1'}"))
	}
	c.Start()
	refused := func() (n int) {
		for i := range sources {
			message, _ := Condition(c.Get(fmt.Sprint("many-hostile/x", i)), "TemplatesHaveResolved")["message"].(string)
			if strings.Contains(message, "the CatalogSources of namespace many-hostile look up more than 50 kinds") {
				n++
			}
		}
		return n
	}
	// CatalogSources that are reconciled concurrently share the limit, so more of them report it.
	c.Eventually("more refusals are reported", func() bool { return refused() >= 2 })
	c.Create(Samples, Sample("many-quiet", "one", "v2"))
	c.Create(controller.Resource, CatalogSource("many-quiet", "one", SampleTemplate("many-quiet", "one"), "{sourceType: grpc, image: 'a/b:v1'}"))
	c.Follows("many-quiet/one", "quay.io/sample/catalog:v2")
	if n := watches.Load(); n > budget.NamespaceWatches {
		t.Errorf("%d watches were begun", n)
	}
	for i := range sources {
		c.Change(fmt.Sprint("many-hostile/x", i), func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{"olm.catalogImageTemplate": template(0)})
		})
	}
	c.Eventually("freed watches are available", func() bool { return refused() == 0 })
}

// A group whose server hangs delays the CatalogSources that name it, and none in another namespace.
func testHangs(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "hangs", "hangs-not")
	begun, end := make(chan bool, 100), make(chan bool)
	c.Meanwhile = func(r *http.Request) int {
		if !strings.HasPrefix(r.URL.Path, "/apis/hangs") {
			return 0
		}
		begun <- true
		select {
		case <-end:
		case <-r.Context().Done():
		}
		return http.StatusServiceUnavailable
	}
	for i := range 3 * c.Options.Workers {
		template := strings.Replace(SampleTemplate("hangs", "one"), "group:foo", fmt.Sprintf("group:hangs%d", i), 1)
		c.Create(controller.Resource, CatalogSource("hangs", fmt.Sprint("x", i), template, V119))
	}
	c.Start()
	t.Cleanup(func() { close(end) })
	for range c.Options.Workers - 1 {
		<-begun
	}
	for i := range 10 {
		name := fmt.Sprint("kube", i)
		c.Create(controller.Resource, CatalogSource("hangs-not", name, KubeTemplate, V119))
		c.Follows("hangs-not/"+name, "quay.io/kube-release-v1/catalog:v1.20")
	}
	if n := len(begun); n > 0 {
		t.Errorf("%d workers more hang: the others waited for them", n)
	}
}
