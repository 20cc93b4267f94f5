// Package operands keeps ConfigMaps in a cluster up to date with the operands of a bundle: each holds the
// images that its policy selects from catalogs, and changes when the policy or a catalog changes.
package operands

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/pause"
)

// The resources that the keeper reads.
var (
	ConfigMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	catalogSources  = schema.GroupVersionResource{Group: catalogsource.Group, Version: catalogsource.Stored, Resource: "catalogsources"}
	subscriptions   = schema.GroupVersionResource{Group: catalogsource.Group, Version: catalogsource.Stored, Resource: "subscriptions"}
	clusterCatalogs = schema.GroupVersionResource{Group: catalogsource.ClusterGroup, Version: catalogsource.ClusterVersion, Resource: "clustercatalogs"}
)

// Options configure a Keeper.
type Options struct {
	Config     *rest.Config
	Namespaces []string // namespaces of kept ConfigMaps
	Poll       time.Duration
	Registry   *oci.Client
	Events     record.EventRecorder // may be nil
	Log        *slog.Logger
	// Resource is the resource of ConfigMaps. An API server without ConfigMaps has another kind in their place.
	Resource schema.GroupVersionResource
}

// Keeper keeps ConfigMaps. It is not safe for concurrent use.
type Keeper struct {
	Options
	client   dynamic.Interface
	catalogs map[string]*operand.Set // by reference with digest; from the last round
	watches  *watches                // nil unless Run has started them
}

// New sends no request.
func New(o Options) (*Keeper, error) {
	client, err := dynamic.NewForConfig(o.Config)
	if err != nil {
		return nil, failure.New(failure.ClusterUnavailable, "setting up the client: %w", err)
	}
	return &Keeper{Options: o, client: client}, nil
}

// Run checks all ConfigMaps until ctx ends: when a policy or an object that it names changes, and once in each
// Poll, because a moved tag of a catalog image causes no event. Failures are in their status, and are tried
// again.
func (k *Keeper) Run(ctx context.Context) {
	k.watches = newWatches(k.client)
	defer k.watches.running.Wait()
	tick := time.NewTicker(k.Poll)
	defer tick.Stop()
	for {
		if err := k.Once(ctx); err != nil && ctx.Err() == nil {
			k.Log.Warn("updating operands", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-k.watches.changed:
			_ = pause.For(ctx, settle) // the loop ends with ctx
		}
	}
}

// Once checks all ConfigMaps once. Each policy that does not resolve is a failure.
func (k *Keeper) Once(ctx context.Context) error {
	r := &round{Keeper: k, digests: map[string]digest{}, read: map[string]reading{}}
	var errs []error
	for _, namespace := range k.Namespaces {
		k.watches.policies(ctx, k.Resource, namespace)
		list, err := k.client.Resource(k.Resource).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: operand.KeepLabel + "=" + operand.KeepValue})
		if err != nil {
			errs = append(errs, failure.New(failure.ClusterUnavailable, "listing the ConfigMaps of %s: %w", namespace, err))
			continue
		}
		for i := range list.Items {
			if one := &list.Items[i]; one.GetLabels()[operand.KeepLabel] == operand.KeepValue && one.GetDeletionTimestamp() == nil {
				errs = append(errs, r.keep(ctx, one))
			}
		}
	}
	k.watches.looked()
	k.catalogs = map[string]*operand.Set{}
	for reference, one := range r.read {
		if one.err == nil {
			k.catalogs[reference] = one.set
		}
	}
	return errors.Join(errs...)
}

// oneLine makes a cause fit into a status, which is written again if it differs.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
