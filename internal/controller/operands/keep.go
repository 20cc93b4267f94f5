package operands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/operand"
)

// resolved starts the status of a kept ConfigMap. Otherwise the status starts with the class of a failure.
const resolved = "resolved"

// keep updates one ConfigMap from its policy. If the policy does not resolve, the data stays.
func (r *round) keep(ctx context.Context, m *unstructured.Unstructured) error {
	name := m.GetNamespace() + "/" + m.GetName()
	images, status, err := r.resolve(ctx, m)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the run ends without a result
	}
	change := map[string]any{}
	if err == nil {
		change = differs(m, images)
	} else {
		status = told(err)
	}
	if len(change) == 0 && m.GetAnnotations()[operand.StatusAnnotation] == status {
		return prefixed(name, err)
	}
	if writing := r.write(ctx, m, change, status); writing != nil {
		return prefixed(name, errors.Join(err, writing))
	}
	switch {
	case err != nil:
		r.event(m, corev1.EventTypeWarning, reason(err), status)
	case len(change) > 0:
		r.event(m, corev1.EventTypeNormal, "OperandsChanged", said(m, change))
	default:
		r.event(m, corev1.EventTypeNormal, "OperandsResolved", status)
	}
	return prefixed(name, err)
}

// resolve returns the images by the names of their variables, and their sources.
func (r *round) resolve(ctx context.Context, m *unstructured.Unstructured) (map[string]string, string, error) {
	policy, requests, err := operand.ParsePolicy(m.GetAnnotations()[operand.PolicyAnnotation])
	if err != nil {
		return nil, "", err
	}
	bundle := policy.Bundle
	if bundle == "" {
		if bundle, err = r.installed(ctx, m.GetNamespace(), policy.Subscription); err != nil {
			return nil, "", err
		}
	}
	set, catalogs, err := r.catalogsOf(ctx, m.GetNamespace(), policy.Catalogs)
	if err != nil {
		return nil, "", err
	}
	b, err := set.Bundle(bundle)
	if err != nil {
		return nil, "", err
	}
	chosen, err := set.Resolve(b, requests)
	if err != nil {
		return nil, "", err
	}
	all, err := chosen.Variables(policy.Prefix)
	if err != nil {
		return nil, "", err
	}
	images := map[string]string{}
	for _, v := range all {
		images[v.Name] = v.Image
	}
	var versions []string
	for _, c := range chosen.Asked {
		versions = append(versions, c.Entry.Name+" "+c.Entry.Version.String())
	}
	return images, fmt.Sprintf("%s: %s for %s, from %s", resolved, strings.Join(versions, ", "), bundle, strings.Join(catalogs, ", ")), nil
}

// installed returns the bundle that OLM installed for a Subscription.
func (r *round) installed(ctx context.Context, namespace, name string) (string, error) {
	object, err := r.get(ctx, namespace, subscriptions, namespace, name)
	if err != nil {
		return "", err
	}
	bundle, _, _ := unstructured.NestedString(object.Object, "status", "installedCSV")
	if bundle == "" {
		return "", failure.New(failure.OperandUnresolvable, "finding the bundle of the Subscription %s: it has installed no bundle yet", name).
			Fix("Wait for OLM, or name a bundle in the policy.")
	}
	return bundle, nil
}

// differs returns the merge patch for the data, all of which belongs to the policy.
func differs(m *unstructured.Unstructured, images map[string]string) map[string]any {
	had, _, _ := unstructured.NestedMap(m.Object, "data")
	change := map[string]any{}
	for name, image := range images {
		if had[name] != image {
			change[name] = image
		}
	}
	for name := range had {
		if _, stays := images[name]; !stays {
			change[name] = nil
		}
	}
	return change
}

// told returns a failure as a status.
func told(err error) string {
	f := failure.Of(err)
	message := f.Message
	if f.Code == failure.RegistryUnavailable { // the network's texts have ports and times
		message, _, _ = strings.Cut(message, ": ")
	}
	return oneLine(f.Class + ": " + message)
}

// reason returns the class of a failure in the form of events: OperandUnresolvable for operand-unresolvable.
func reason(err error) string {
	var b strings.Builder
	for word := range strings.SplitSeq(failure.Of(err).Class, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func said(m *unstructured.Unstructured, change map[string]any) string {
	had, _, _ := unstructured.NestedMap(m.Object, "data")
	var all []string
	for _, name := range slices.Sorted(maps.Keys(change)) {
		switch was, now := had[name], change[name]; {
		case now == nil:
			all = append(all, name+" is gone")
		case was == nil:
			all = append(all, fmt.Sprintf("%s is now %v", name, now))
		default:
			all = append(all, fmt.Sprintf("%s is now %v, it was %v", name, now, was))
		}
	}
	return strings.Join(all, "; ")
}

// write sends one patch for the version that was read. The next round resolves a conflict. If the data may not
// change, as in an immutable ConfigMap, the status says so.
func (r *round) write(ctx context.Context, m *unstructured.Unstructured, change map[string]any, status string) error {
	err := r.patch(ctx, m, change, status)
	if apierrors.IsInvalid(err) && len(change) > 0 {
		refused := failure.New(failure.EditRefused, "writing the ConfigMap: %w", err).Fix("Make the ConfigMap mutable.")
		if told := told(refused); m.GetAnnotations()[operand.StatusAnnotation] != told {
			if err := r.patch(ctx, m, nil, told); err == nil {
				r.event(m, corev1.EventTypeWarning, reason(refused), told)
			}
		}
		return refused
	}
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return failure.New(failure.ClusterUnavailable, "writing the ConfigMap: %w", err)
	}
	return nil
}

func (r *round) patch(ctx context.Context, m *unstructured.Unstructured, change map[string]any, status string) error {
	body := map[string]any{"metadata": map[string]any{
		"resourceVersion": m.GetResourceVersion(), "annotations": map[string]any{operand.StatusAnnotation: status},
	}}
	if len(change) > 0 {
		body["data"] = change
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = r.client.Resource(r.Resource).Namespace(m.GetNamespace()).
		Patch(ctx, m.GetName(), types.MergePatchType, text, metav1.PatchOptions{FieldManager: "graft-controller"})
	return err
}

func (r *round) event(m *unstructured.Unstructured, kind, reason, message string) {
	r.Log.Info(message, "configmap", m.GetNamespace()+"/"+m.GetName())
	if r.Events != nil {
		r.Events.Event(m, kind, reason, message)
	}
}

// prefixed adds the name of the ConfigMap to failures.
func prefixed(name string, err error) error {
	var errs []error
	for _, f := range failure.All(err) {
		again := *f
		again.Message = name + ": " + f.Message
		errs = append(errs, &again)
	}
	return errors.Join(errs...)
}
