package controller

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
)

// answerLookups answers the lookups of graft catalogsource resolve --kubeconfig. An error is the last answer.
func (c *command) answerLookups(ctx context.Context) error {
	say := json.NewEncoder(c.out)
	work, err := c.controller()
	if err == nil {
		err = work.Answer(ctx, c.in, say)
	}
	if err == nil {
		return nil
	}
	f := failure.Of(err)
	return errors.Join(err, say.Encode(catalogsource.Answer{Error: f.Message, Code: f.Code}))
}

// Answer writes the cluster's version, and then a value for each lookup that it reads, until the input ends.
func (c *Controller) Answer(ctx context.Context, in io.Reader, say *json.Encoder) error {
	if err := c.pollVersion(); err != nil {
		return err
	}
	if err := say.Encode(catalogsource.Answer{Version: c.serverVersion()}); err != nil {
		return err
	}
	type asked struct {
		catalogsource.Lookup
		err error
	}
	lookups, read := make(chan asked), json.NewDecoder(in)
	go func() { // a read of standard input does not end with ctx
		for {
			var one asked
			one.err = read.Decode(&one.Lookup)
			select {
			case lookups <- one:
			case <-ctx.Done():
			}
			if one.err != nil {
				return
			}
		}
	}()
	for {
		var one asked
		select {
		case <-ctx.Done():
			return failure.New(failure.Interrupted, "answering lookups: %w", context.Cause(ctx))
		case one = <-lookups:
		}
		if errors.Is(one.err, io.EOF) {
			return nil
		}
		if one.err != nil {
			return failure.New(failure.Usage, "reading a lookup: %w", one.err).Fix("Run graft catalogsource resolve --kubeconfig instead.")
		}
		answer, err := c.answer(ctx, one.Lookup)
		if err == nil {
			err = say.Encode(answer)
		}
		if err != nil {
			return err
		}
	}
}

// answer looks up one value. A missing or forbidden object is an answer; a server that does not work is a failure.
func (c *Controller) answer(ctx context.Context, l catalogsource.Lookup) (out catalogsource.Answer, err error) {
	object, err := c.ask(ctx)(l)
	if err == nil {
		out.Value, err = catalogsource.JSONPath(object, l.JSONPath)
	}
	switch {
	case isDown(err):
		return out, unavailable("looking up "+l.String(), err)
	case err != nil:
		out.Error = err.Error()
	}
	return out, nil
}

// isDown reports whether an error concerns the connection or the server rather than the requested object.
func isDown(err error) bool {
	unreached, status := (*url.Error)(nil), apierrors.APIStatus(nil)
	if errors.As(err, &unreached) {
		return true
	}
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || code == http.StatusUnauthorized
}
