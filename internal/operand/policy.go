package operand

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamlread"
)

// The label and annotations of a ConfigMap that graft-controller maintains: the label selects it, one annotation
// lists the operands, the other reports the result.
const (
	KeepLabel        = "graft.olmgraft.io/operands"
	KeepValue        = "keep"
	PolicyAnnotation = "graft.olmgraft.io/operand-policy"
	StatusAnnotation = "graft.olmgraft.io/operand-status"
)

// maxCatalogs bounds the number of catalogs in one policy.
const maxCatalogs = 16

// Policy describes the images that a ConfigMap must contain, as input of Resolve.
type Policy struct {
	Catalogs []PolicyCatalog `json:"catalogs"`
	// Bundle is the name of a bundle. Subscription is the name of an OLM Subscription whose installed bundle
	// applies.
	Bundle       string   `json:"bundle,omitempty"`
	Subscription string   `json:"subscription,omitempty"`
	Operands     []string `json:"operands"`
	Prefix       string   `json:"prefix,omitempty"`
}

// PolicyCatalog is a catalog image, or a cluster object that names one.
type PolicyCatalog struct {
	Image          string `json:"image,omitempty"`
	CatalogSource  string `json:"catalogSource,omitempty"` // NAME, or NAMESPACE/NAME
	ClusterCatalog string `json:"clusterCatalog,omitempty"`
}

func (c PolicyCatalog) named() (n int) {
	for _, name := range []string{c.Image, c.CatalogSource, c.ClusterCatalog} {
		if name != "" {
			n++
		}
	}
	return n
}

// ParsePolicy reads the annotation, and returns the policy and its requests.
func ParsePolicy(text string) (p Policy, requests []Request, err error) {
	if p, err = readPolicy(text); err == nil {
		err = p.check()
	}
	if err != nil {
		return p, nil, failure.New(failure.Config, "reading the annotation %s: %w", PolicyAnnotation, err).
			Fix("Write catalogs, a bundle or a subscription, and operands: docs/operands-reference.md has an example.")
	}
	for _, one := range p.Operands {
		r, err := ParseRequest(one)
		if err != nil {
			return p, nil, failure.New(failure.Config, "reading the annotation %s: %q is not an operand", PolicyAnnotation, one).
				Fix("Write NAME or NAME@RANGE, such as etcd@3.1.1 or etcd@>=3.0.0 <4.0.0.")
		}
		requests = append(requests, r)
	}
	return p, requests, nil
}

func readPolicy(text string) (p Policy, err error) {
	data, err := yamlread.ToJSON([]byte(text))
	if err != nil {
		return p, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil && !errors.Is(err, io.EOF) {
		return p, err
	}
	return p, nil
}

func (p Policy) check() error {
	switch {
	case len(p.Catalogs) == 0 || len(p.Catalogs) > maxCatalogs:
		return fmt.Errorf("it has %d catalogs; 1 to %d are possible", len(p.Catalogs), maxCatalogs)
	case slices.ContainsFunc(p.Catalogs, func(c PolicyCatalog) bool { return c.named() != 1 }):
		return errors.New("each catalog needs exactly one of image, catalogSource and clusterCatalog")
	case (p.Bundle == "") == (p.Subscription == ""):
		return errors.New("it needs exactly one of bundle and subscription")
	case len(p.Operands) == 0:
		return errors.New("it has no operands")
	}
	return nil
}

// Union returns the entries and bundles of several sets.
func Union(all ...*Set) *Set {
	s := &Set{}
	for _, one := range all {
		s.Entries = append(s.Entries, one.Entries...)
		s.Bundles = append(s.Bundles, one.Bundles...)
	}
	s.sort()
	return s
}

func (s *Set) sort() {
	slices.SortFunc(s.Entries, compareEntries)
	slices.SortFunc(s.Bundles, compareBundles)
}

// Small returns a copy that holds only what Resolve needs and does not keep the source text in memory.
func (s *Set) Small() *Set {
	small := &Set{Entries: slices.Clone(s.Entries)}
	for i := range small.Entries {
		e := &small.Entries[i]
		e.Schema, e.Package, e.Bundle, e.File = strings.Clone(e.Schema), strings.Clone(e.Package), strings.Clone(e.Bundle), strings.Clone(e.File)
	}
	for _, b := range s.Bundles {
		if len(b.Claims) == 0 {
			continue
		}
		b.Package, b.Name, b.Image, b.File = strings.Clone(b.Package), strings.Clone(b.Name), strings.Clone(b.Image), strings.Clone(b.File)
		b.Related = nil
		small.Bundles = append(small.Bundles, b)
	}
	return small
}
