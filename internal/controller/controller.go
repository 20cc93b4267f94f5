// Package controller updates the images of CatalogSources in a cluster from their templates when the
// annotation, a looked-up object or the server's version changes.
package controller

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
)

// Resource is the resource of CatalogSources.
var Resource = schema.GroupVersionResource{Group: catalogsource.Group, Version: catalogsource.Stored, Resource: "catalogsources"}

// Options configure a Controller.
type Options struct {
	Config     *rest.Config
	Namespaces []string             // none means all
	Poll       time.Duration        // between checks of the server's version and of kinds that are not served
	OLM        string               // whether OLM resolves templates too: OLMAuto, OLMPresent, OLMAbsent
	Workers    int                  // that resolve concurrently
	Events     record.EventRecorder // may be nil
	Log        *slog.Logger
}

// Controller resolves the templates of CatalogSources. Use each one once.
type Controller struct {
	Options
	Metrics Metrics

	client    dynamic.Interface
	discovery discovery.DiscoveryInterface
	kinds     *kinds
	queue     *turns
	sources   []cache.SharedIndexInformer
	watches   *watches
	seconds   prometheus.Histogram // durations of reconciles

	mu       sync.Mutex
	version  string            // gitVersion of the server
	olm      bool              // whether OLM is installed
	written  map[string]write  // the last write of each CatalogSource
	rivals   map[string]*rival // of each CatalogSource
	ready    bool
	working  bool            // Run is in progress
	standby  bool            // another replica led
	resolved map[string]bool // whether each template resolved last time
}

// New sends no request to the server.
func New(o Options) (*Controller, error) {
	client, err := dynamic.NewForConfig(o.Config)
	if err != nil {
		return nil, unavailable("setting up the client", err)
	}
	patient := rest.CopyConfig(o.Config)
	patient.Timeout = patience // a worker waits for each answer
	disco, err := discovery.NewDiscoveryClientForConfig(patient)
	if err != nil {
		return nil, unavailable("setting up the client", err)
	}
	return &Controller{
		Options: o, client: client, discovery: disco,
		kinds:   newKinds(disco.ServerResourcesForGroupVersion, o.Poll),
		queue:   newTurns(o.Workers),
		written: map[string]write{}, rivals: map[string]*rival{}, resolved: map[string]bool{}, seconds: newReconcileSeconds(),
	}, nil
}

func unavailable(doing string, err error) error {
	return failure.New(failure.ClusterUnavailable, "%s: %w", doing, err)
}

// Run works until ctx ends, and returns once all work in progress is finished. It fails if the cluster does not
// answer at the start; later it waits for the cluster.
func (c *Controller) Run(ctx context.Context) error {
	c.works(true)
	defer c.works(false)
	if err := c.pollServer(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	defer c.queue.ShutDown()
	defer stop() // before waiting

	c.watches = newWatches(&running, c.client, c.queue.Add)
	for _, namespace := range c.namespaces() {
		informer := dynamicinformer.NewFilteredDynamicInformer(c.client, Resource, namespace, 0, cache.Indexers{}, nil).Informer()
		if _, err := informer.AddEventHandler(c.handler()); err != nil {
			return unavailable("watching CatalogSources", err)
		}
		if err := informer.SetTransform(withoutManagers); err != nil {
			return unavailable("watching CatalogSources", err)
		}
		c.sources = append(c.sources, informer)
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	for _, informer := range c.sources {
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return nil
		}
	}
	c.mu.Lock()
	c.ready = true
	c.mu.Unlock()
	for range max(1, c.Workers) {
		running.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	c.follow(ctx)
	return nil
}

// withoutManagers removes managedFields, which are large and unused.
func withoutManagers(object any) (any, error) {
	if u, ok := object.(*unstructured.Unstructured); ok {
		u.SetManagedFields(nil)
	}
	return object, nil
}

// Ready reports whether the controller knows all CatalogSources, or can take over from another replica that leads.
func (c *Controller) Ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready || c.standby && !c.working
}

// Standby records that another replica leads.
func (c *Controller) Standby() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.standby = true
}

func (c *Controller) works(now bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.working = now
}

func (c *Controller) namespaces() []string {
	if len(c.Namespaces) == 0 {
		return []string{metav1.NamespaceAll}
	}
	return c.Namespaces
}

func (c *Controller) handler() cache.ResourceEventHandler {
	add := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			c.queue.Add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, now any) { add(now) }, DeleteFunc: add}
}

// follow polls the server's version and OLM until ctx ends.
func (c *Controller) follow(ctx context.Context) {
	tick := time.NewTicker(c.Poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		version, olm := c.serverVersion(), c.hasOLM()
		if err := c.pollServer(); err != nil {
			c.Metrics.Errors.Add(1)
			c.Log.Warn("asking for the server's version", "error", err)
			continue
		}
		if c.serverVersion() != version || c.hasOLM() != olm {
			c.Log.Info("the server changed", "from", version, "to", c.serverVersion(), "olm", c.hasOLM())
			for _, informer := range c.sources {
				for _, key := range informer.GetStore().ListKeys() {
					c.queue.Add(key)
				}
			}
		}
	}
}

// pollServer reads the values that all templates depend on.
func (c *Controller) pollServer() error {
	return errors.Join(c.pollVersion(), c.pollOLM())
}

func (c *Controller) pollVersion() error {
	info, err := c.discovery.ServerVersion()
	if err != nil {
		return unavailable("asking for the server's version", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = info.GitVersion
	return nil
}

func (c *Controller) serverVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// stored returns a CatalogSource as last seen.
func (c *Controller) stored(key string) (*unstructured.Unstructured, bool) {
	for _, informer := range c.sources {
		if object, ok, err := informer.GetStore().GetByKey(key); err == nil && ok {
			u, ok := object.(*unstructured.Unstructured)
			return u, ok
		}
	}
	return nil, false
}
