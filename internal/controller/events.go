package controller

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/reference"
)

const component = "graft-controller"

// recorder writes events in the background. Errors in writing events are only logged.
func recorder(ctx context.Context, config *rest.Config) (events record.EventRecorder, stop func(), err error) {
	client, err := core.NewForConfig(config)
	if err != nil {
		return nil, nil, unavailable("setting up the client", err)
	}
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx))) // stop ends it after the last event
	broadcaster.StartRecordingToSink(&core.EventSinkImpl{Interface: client.Events("")})
	return broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: component}), broadcaster.Shutdown, nil
}

// posted is a recorder for a single run: it writes each event at once.
type posted struct {
	client core.EventsGetter
	log    *slog.Logger
}

func poster(config *rest.Config, log *slog.Logger) (record.EventRecorder, error) {
	client, err := core.NewForConfig(config)
	if err != nil {
		return nil, unavailable("setting up the client", err)
	}
	return posted{client, log}, nil
}

func (p posted) Event(object runtime.Object, kind, reason, message string) {
	p.AnnotatedEventf(object, nil, kind, reason, "%s", message)
}

func (p posted) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	p.AnnotatedEventf(object, nil, kind, reason, format, args...)
}

func (p posted) AnnotatedEventf(object runtime.Object, annotations map[string]string, kind, reason, format string, args ...any) {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	of, err := reference.GetReference(runtime.NewScheme(), object)
	if err == nil {
		now := metav1.Now()
		_, err = p.client.Events(of.Namespace).Create(ctx, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name + "." + strconv.FormatInt(time.Now().UnixNano(), 16), Annotations: annotations},
			InvolvedObject: *of, Type: kind, Reason: reason, Message: fmt.Sprintf(format, args...), Count: 1,
			Source: corev1.EventSource{Component: component}, FirstTimestamp: now, LastTimestamp: now,
		}, metav1.CreateOptions{})
	}
	if err != nil {
		p.log.Warn("writing an event", "error", err)
	}
}
