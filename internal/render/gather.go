package render

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// gather gets the document of every bundle from the base, the cache or a pull.
func (r *renderer) gather(ctx context.Context, images []string) error {
	var missing []string
	for _, image := range images {
		if r.bundles[image] != nil {
			continue
		}
		b := r.fromBase(image)
		if b == nil {
			missing = append(missing, image)
			b = &rendered{}
		}
		r.bundles[image] = b
	}
	if r.o.RefreshTags {
		moved, err := r.refresh(ctx, images)
		if err != nil {
			return err
		}
		missing = append(missing, moved...)
	}
	return r.each(ctx, missing, func(image string) error {
		b, err := r.fresh(ctx, image)
		if err == nil {
			*r.bundles[image] = *b
		}
		return err
	}, r.o.Progress)
}

// each calls work for all images, several at a time, and joins the failures. It stops early if the registry is
// unavailable, because the other images would fail as well.
func (r *renderer) each(ctx context.Context, images []string, work func(image string) error, progress func(done, total int, image string)) error {
	jobs := r.o.Jobs
	if jobs <= 0 {
		jobs = 8
	}
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		errs = make([]error, len(images))
		next int
		done int
		stop bool
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if stop || next == len(images) || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(jobs, len(images)) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				err := work(images[i])
				mu.Lock()
				errs[i] = err
				stop = stop || failure.Is(err, failure.RegistryUnavailable) || failure.Is(err, failure.RegistryAuth)
				if done++; err == nil && progress != nil {
					progress(done, len(images), images[i])
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil || next == len(images) {
		return err
	}
	return failure.New(failure.Interrupted, "rendering: %d of %d bundles were done: %w", done, len(images), ctx.Err())
}

// fresh returns the document of a bundle from the cache, or else by a pull.
func (r *renderer) fresh(ctx context.Context, image string) (*rendered, error) {
	if r.o.Cache != nil {
		digest, err := r.o.Registry.Resolve(ctx, image)
		if err != nil {
			return nil, err
		}
		if b := r.fromCache(image, digest); b != nil {
			return b, nil
		}
	}
	b, err := r.pull(ctx, image)
	if err != nil {
		return nil, err
	}
	if err := r.checkSum(image, b.digest); err != nil {
		return nil, err
	}
	if r.o.Cache != nil {
		// If the cache cannot be written, only the next run is slower.
		_ = r.o.Cache.Put(r.cacheKind(image), b.digest, b.blob.Body)
	}
	return b, nil
}

// cacheKind distinguishes the documents of one digest. The document contains the image's name in the catalog, so
// one digest under two names has two documents. The name is hashed, because the cache uses kinds as names of
// folders.
func (r *renderer) cacheKind(image string) string {
	kind := "yaml"
	if r.o.Format == fbc.JSON {
		kind = "json"
	}
	if r.o.Metadata == bundle.CSVMetadata {
		kind += "-csv-metadata"
	}
	return fmt.Sprintf("%s %x", kind, sha256.Sum256(fmt.Append([]byte(image), r.o.Rewrite)))
}

func (r *renderer) fromCache(image, digest string) *rendered {
	text, ok := r.o.Cache.Get(r.cacheKind(image), digest)
	if !ok {
		return nil
	}
	docs, err := fbc.Read(image, text)
	if err != nil || len(docs) != 1 {
		return nil
	}
	facts, err := docs[0].Facts()
	if err != nil || docs[0].Image != r.o.Rewrite.Of(image) || r.checkSum(image, digest) != nil {
		return nil
	}
	blob := fbc.Blob{Schema: fbc.SchemaBundle, Package: docs[0].Package, Name: docs[0].Name, Body: text, Format: r.o.Format}
	return &rendered{facts: facts, blob: blob, digest: digest, reused: true}
}

// pull pulls and renders a bundle.
func (r *renderer) pull(ctx context.Context, image string) (*rendered, error) {
	pulled, err := r.o.Registry.Pull(ctx, image)
	if err != nil {
		return nil, err
	}
	parsed, err := bundle.Parse(ctx, bundle.Image{Ref: image, Labels: pulled.Labels, Files: pulled.Files})
	if err != nil {
		return nil, err
	}
	doc, err := parsed.Named(r.o.Rewrite.Of(image)).Render(r.o.Metadata)
	if err != nil {
		return nil, err
	}
	doc = bundle.Rewritten(doc, r.o.Rewrite)
	text, err := bundle.Document(doc)
	if err != nil {
		return nil, err
	}
	body, err := fbc.Encode(r.o.Format, text)
	if err != nil {
		return nil, err
	}
	facts, err := fbc.FactsOf(doc)
	if err != nil {
		return nil, err
	}
	show := parsed.Showcase()
	return &rendered{
		facts:  facts,
		blob:   fbc.Blob{Schema: doc.Schema, Package: doc.Package, Name: doc.Name, Body: body, Format: r.o.Format},
		digest: pulled.Digest,
		show:   &show,
	}, nil
}
