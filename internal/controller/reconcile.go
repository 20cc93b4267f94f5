package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/olmgraft/graft/internal/catalogsource"
)

// next handles one CatalogSource of the queue. It returns false once the queue is shut down.
func (c *Controller) next(ctx context.Context) bool {
	key, shut := c.queue.Get()
	if shut {
		return false
	}
	defer c.queue.Done(key)
	begun := time.Now()
	again, err := c.reconcile(ctx, key)
	c.seconds.Observe(time.Since(begun).Seconds())
	switch {
	case ctx.Err() != nil:
	case apierrors.IsConflict(err):
		c.Metrics.Conflicts.Add(1)
		c.queue.AddRateLimited(key)
	case err != nil:
		c.Metrics.Errors.Add(1)
		c.Log.Warn("resolving", "catalogsource", key, "error", err)
		c.queue.AddRateLimited(key)
	default:
		c.queue.Forget(key)
		if again > 0 {
			c.queue.AddAfter(key, again)
		}
	}
	return true
}

// reconcile updates one CatalogSource from its template, and returns when to check again if no watch would
// trigger that.
func (c *Controller) reconcile(ctx context.Context, key string) (again time.Duration, err error) {
	c.Metrics.Reconciles.Add(1)
	source, ok := c.stored(key)
	if !ok {
		c.forget(key)
		return 0, nil
	}
	if c.stale(key, source) {
		return c.Poll, nil // the watch triggers it sooner
	}
	if source.GetDeletionTimestamp() != nil {
		c.watches.use(key, nil)
		return 0, nil
	}
	work := c.work(source)
	if work.Reference == "" {
		c.unnote(key)
		c.watches.use(key, nil)
		written, err := c.unsay(ctx, source)
		c.wrote(key, written)
		return 0, err
	}
	objects := &watched{controller: c, key: key}
	r := resolve(work.Reference, c.serverVersion(), key, objects.of(ctx))
	c.watches.use(key, objects.used)
	if objects.waiting {
		return time.Second / 5, nil
	}
	c.note(key, r.OK())
	written, err := c.write(ctx, source, work, r)
	c.wrote(key, written)
	if objects.unserved {
		again = c.Poll
	}
	return again, err
}

func (c *Controller) forget(key string) {
	c.watches.use(key, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.written, key)
	delete(c.rivals, key)
	delete(c.resolved, key)
}

// stale reports whether the watch has not yet delivered the last write: a decision on an older version would
// write twice. If the watch does not deliver it for long, the server was restored from a backup.
func (c *Controller) stale(key string, source *unstructured.Unstructured) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.written[key]
	seen, err := strconv.ParseUint(source.GetResourceVersion(), 10, 64)
	return err == nil && seen < last.version && time.Since(last.at) < setBack
}

// setBack is longer than a working watch takes to deliver a write.
const setBack = 2 * time.Minute

// write records a write of a CatalogSource by the resulting version.
type write struct {
	version uint64
	at      time.Time
}

// wrote records the last write; nil means none.
func (c *Controller) wrote(key string, source *unstructured.Unstructured) {
	if source == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, err := strconv.ParseUint(source.GetResourceVersion(), 10, 64); err == nil {
		c.written[key] = write{v, time.Now()}
	}
}

func resolve(reference, version, key string, objects catalogsource.Objects) catalogsource.Resolution {
	kube, _ := catalogsource.ParseKubeVersion(version)
	return catalogsource.Resolve(reference, catalogsource.Values{Kube: kube, Objects: catalogsource.Follow(key, objects), Path: catalogsource.JSONPath})
}

// write sets image and conditions if they differ, based on the version that was read. The next round resolves a
// conflict. It returns the CatalogSource as last written, or nil if nothing was. If an image resolves and
// cannot be set, the conditions say so.
func (c *Controller) write(ctx context.Context, source *unstructured.Unstructured, work catalogsource.Work, r catalogsource.Resolution) (written *unstructured.Unstructured, err error) {
	conditions, refused := r.Conditions(), error(nil)
	spec, _, _ := unstructured.NestedMap(source.Object, "spec")
	field := append([]string{"spec"}, catalogsource.ImageField(spec)...)
	was, _, _ := unstructured.NestedString(source.Object, field...)
	rival := c.rivalOf(source)
	switch {
	case !r.OK():
	case work.Clash:
		conditions = r.Kept(catalogsource.TwoTemplates)
	case len(field) == 1:
		conditions = r.Kept(catalogsource.NoImageSource)
	case rival.undoes(r.Image, was):
		conditions = r.Kept(catalogsource.AnotherWriter)
	case was != r.Image:
		if written, err = c.writeImage(ctx, source, field, was, r.Image); apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			conditions, refused = r.Kept(catalogsource.ImageRefused), err
		} else if err != nil {
			return nil, err
		} else {
			rival.set(r.Image)
			source = written
		}
	}
	after, err := c.writeConditions(ctx, source, work, conditions, func() string {
		if refused != nil {
			return refused.Error()
		}
		return why(r, conditions, was)
	})
	if after != nil {
		written = after
	}
	return written, errors.Join(refused, err)
}

// writeImage returns the CatalogSource as written.
func (c *Controller) writeImage(ctx context.Context, source *unstructured.Unstructured, field []string, was, image string) (*unstructured.Unstructured, error) {
	change := map[string]any{}
	_ = unstructured.SetNestedField(change, image, field...) // change has no conflicting field
	written, err := c.patch(ctx, source, change)
	if err != nil {
		return nil, err
	}
	c.Metrics.Images.Add(1)
	c.event(source, corev1.EventTypeNormal, catalogsource.AllTemplatesResolved, "The image is now %s, it was %q", image, was)
	return written, nil
}

// unsay removes the conditions of a template that is gone, or that is OLM's, which removes its own. It returns
// the CatalogSource as written, or nil if there were none.
func (c *Controller) unsay(ctx context.Context, source *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	c.rivalOf(source).forget()
	types := slices.Clone(catalogsource.GraftTypes)
	if !c.hasOLM() {
		types = append(types, catalogsource.SharedTypes...)
	}
	existing, _, _ := unstructured.NestedSlice(source.Object, "status", "conditions")
	rest, changed := catalogsource.Without(existing, types...)
	if !changed {
		return nil, nil
	}
	return c.patchConditions(ctx, source, rest)
}

// writeConditions returns the CatalogSource as written, or nil if it already has the conditions.
func (c *Controller) writeConditions(ctx context.Context, source *unstructured.Unstructured, work catalogsource.Work, conditions []catalogsource.Condition, why func() string) (*unstructured.Unstructured, error) {
	existing, _, _ := unstructured.NestedSlice(source.Object, "status", "conditions")
	gone, said := false, conditions
	if work.Own {
		conditions, said = catalogsource.OwnTypes(conditions), nil
	} else {
		existing, gone = catalogsource.Without(existing, catalogsource.GraftTypes...)
	}
	merged, changed := catalogsource.Merge(existing, conditions, metav1.Now().UTC().Format(time.RFC3339))
	if changed || gone {
		after, err := c.patchConditions(ctx, source, merged)
		if err != nil {
			return nil, err
		}
		source = after
	}
	c.rivalOf(source).says(said)
	if !changed && !gone {
		return nil, nil
	}
	if last := conditions[len(conditions)-1]; last.Status == "False" {
		c.event(source, corev1.EventTypeWarning, last.Reason, "%s", why())
	}
	return source, nil
}

func (c *Controller) patchConditions(ctx context.Context, source *unstructured.Unstructured, conditions []any) (*unstructured.Unstructured, error) {
	after, err := c.patch(ctx, source, map[string]any{"status": map[string]any{"conditions": conditions}}, "status")
	if err == nil {
		c.Metrics.Statuses.Add(1)
	}
	return after, err
}

func (c *Controller) patch(ctx context.Context, source *unstructured.Unstructured, change map[string]any, subresource ...string) (*unstructured.Unstructured, error) {
	change["metadata"] = map[string]any{"resourceVersion": source.GetResourceVersion()}
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	return c.client.Resource(Resource).Namespace(source.GetNamespace()).
		Patch(ctx, source.GetName(), types.MergePatchType, body, metav1.PatchOptions{FieldManager: "graft-controller"}, subresource...)
}

func (c *Controller) event(source *unstructured.Unstructured, kind, reason, format string, args ...any) {
	c.Log.Info(fmt.Sprintf(format, args...), "catalogsource", source.GetNamespace()+"/"+source.GetName())
	if c.Events != nil {
		c.Events.Eventf(source, kind, reason, format, args...)
	}
}

// watched reads the cluster's objects from watches, and records the lookups of one CatalogSource.
type watched struct {
	controller *Controller
	key        string
	used       []watchKey
	waiting    bool // for a watch that has just started
	unserved   bool // a lookup that no watch covers
}

var errWaiting = errors.New("the watch has no result yet")

func (w *watched) of(ctx context.Context) catalogsource.Objects {
	return func(l catalogsource.Lookup) (any, error) { return w.object(ctx, l) }
}

func (w *watched) object(ctx context.Context, l catalogsource.Lookup) (any, error) {
	resource, err := w.controller.kinds.resource(l)
	if err != nil {
		w.unserved = true
		return nil, steady(l, err)
	}
	at := watchKey{resource, l.Namespace}
	w.used = append(w.used, at)
	store, err := w.controller.watches.store(ctx, at, w.key)
	if err != nil {
		w.waiting = w.waiting || errors.Is(err, errWaiting)
		w.unserved = true
		return nil, steady(l, err)
	}
	return find(l, store)
}

// steady makes an error's text the same each time, because a condition contains it. Network errors have ports
// and times.
func steady(l catalogsource.Lookup, err error) error {
	if isDown(err) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the API server does not answer for %s", l)
	}
	return err
}

// find returns the object of a lookup among those of its kind in its namespace.
func find(l catalogsource.Lookup, store cache.Store) (any, error) {
	var found []any
	if l.Name == "" {
		found = store.List()
	} else if object, ok, err := store.GetByKey(cache.NewObjectName(l.Namespace, l.Name).String()); err == nil && ok {
		found = []any{object}
	}
	object, err := catalogsource.OnlyObject(l, found)
	if err != nil {
		return nil, err
	}
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%s: %w", l, catalogsource.ErrTooLarge)
	}
	return u.Object, nil
}
