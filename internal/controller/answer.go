package controller

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
)

// Answer tells the cluster's version, and then a value for each lookup that it reads, until
// there are no more. That the cluster does not answer is told and returned.
func (c *Controller) Answer(ctx context.Context, in io.Reader, out io.Writer) error {
	say := json.NewEncoder(out)
	if err := c.pollVersion(); err != nil {
		return errors.Join(err, say.Encode(catalogsource.Answer{Unavailable: failure.Of(err).Message}))
	}
	if err := say.Encode(catalogsource.Answer{Version: c.serverVersion()}); err != nil {
		return err
	}
	for read := json.NewDecoder(in); ; {
		var l catalogsource.Lookup
		err := read.Decode(&l)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return failure.New(failure.Usage, "reading a lookup: %w", err).Fix("Let graft catalogsource resolve --kubeconfig ask.")
		}
		answer, err := c.answer(ctx, l)
		if err := errors.Join(err, say.Encode(answer)); err != nil {
			return err
		}
	}
}

// answer looks one value up. An API server that refuses is an answer as well; one that
// cannot be reached is none.
func (c *Controller) answer(ctx context.Context, l catalogsource.Lookup) (out catalogsource.Answer, err error) {
	object, err := asked{ctx, c}.Object(l)
	if err == nil {
		out.Value, err = Path(object, l.JSONPath)
	}
	unreached := (*url.Error)(nil)
	switch {
	case errors.As(err, &unreached):
		err = unavailable("looking up "+l.String(), err)
		return catalogsource.Answer{Unavailable: failure.Of(err).Message}, err
	case err != nil:
		out.Error = err.Error()
	}
	return out, nil
}
