package controller

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
)

// conversionReview is an API server's request and its answer: apiextensions.k8s.io/v1.
type conversionReview struct {
	metav1.TypeMeta `json:",inline"`
	Request         *conversionRequest  `json:"request,omitempty"`
	Response        *conversionResponse `json:"response,omitempty"`
}

type conversionRequest struct {
	UID               types.UID              `json:"uid"`
	DesiredAPIVersion string                 `json:"desiredAPIVersion"`
	Objects           []runtime.RawExtension `json:"objects"`
}

type conversionResponse struct {
	UID              types.UID        `json:"uid"`
	ConvertedObjects []map[string]any `json:"convertedObjects"`
	Result           metav1.Status    `json:"result"`
}

// maxReview limits a request: an API server sends all objects of a list at once.
const maxReview = 32 << 20

// Webhook converts CatalogSources between their versions, at /convert.
func Webhook() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /convert", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReview))
		var review conversionReview
		if err == nil {
			err = json.Unmarshal(body, &review)
		}
		if err == nil && review.Request == nil {
			err = fmt.Errorf("it has no request")
		}
		if err != nil {
			http.Error(w, "reading the ConversionReview: "+err.Error(), http.StatusBadRequest)
			return
		}
		review.Response, review.Request = review.Request.answer(), nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review) // the client may be gone
	})
	return mux
}

// answer converts all objects or none.
func (r *conversionRequest) answer() *conversionResponse {
	out := &conversionResponse{UID: r.UID, ConvertedObjects: []map[string]any{}, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range r.Objects {
		var object map[string]any
		err := utiljson.Unmarshal(raw.Raw, &object)
		if err == nil {
			object, err = catalogsource.ConvertObject(object, r.DesiredAPIVersion)
		}
		if err != nil {
			return &conversionResponse{UID: r.UID, ConvertedObjects: []map[string]any{}, Result: metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}}
		}
		out.ConvertedObjects = append(out.ConvertedObjects, object)
	}
	return out
}

// certificate returns the configuration for the certificate in a directory, in the layout of mounted Secrets of
// type kubernetes.io/tls. It reads the files for each connection, because they are renewed while the process
// runs. If they are incomplete or missing, it keeps the last certificate.
func certificate(dir string) (*tls.Config, error) {
	var last atomic.Pointer[tls.Certificate]
	read := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
		if err == nil {
			last.Store(&pair)
		}
		if known := last.Load(); known != nil {
			return known, nil
		}
		return nil, err
	}
	if _, err := read(nil); err != nil {
		return nil, failure.New(failure.Usage, "reading the webhook's certificate: %w", err).Fix("Give --webhook-cert with a directory that has tls.crt and tls.key.")
	}
	return &tls.Config{GetCertificate: read, MinVersion: tls.VersionTLS12}, nil
}
