package controller

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What a server says of an object is an answer; that it does not work is none.
func TestIsDown(t *testing.T) {
	of := schema.GroupResource{Group: "g", Resource: "r"}
	for _, c := range []struct {
		err  error
		down bool
	}{
		{nil, false},
		{errors.New("there are 2 objects"), false},
		{apierrors.NewNotFound(of, "x"), false},
		{apierrors.NewForbidden(of, "x", errors.New("no")), false},
		{apierrors.NewInternalError(errors.New("x")), true},
		{apierrors.NewServiceUnavailable("x"), true},
		{apierrors.NewTooManyRequests("x", 1), true},
		{apierrors.NewUnauthorized("x"), true},
		{fmt.Errorf("asking: %w", &url.Error{Op: "Get", URL: "u", Err: errors.New("refused")}), true},
	} {
		if got := isDown(c.err); got != c.down {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
