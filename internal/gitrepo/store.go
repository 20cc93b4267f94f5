package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/olmgraft/graft/internal/atomicfile"
)

// store holds the objects in layers: those of a checkout, which are only read, then the fetched ones in files,
// and the new ones in memory. It is safe for concurrent use.
type store struct {
	mu      sync.Mutex
	made    *memory.Storage
	fetched layers
	local   *filesystem.Storage    // nil without a checkout, or if it lacks objects
	remove  func() error           // removes the files
	shallow map[plumbing.Hash]bool // commits whose parents are missing locally
}

// newStore keeps everything in memory if there is no place for temporary files, as in an image without /tmp.
func newStore(tempDir string, c *checkout) *store {
	s := &store{made: memory.NewStorage(), shallow: map[plumbing.Hash]bool{}}
	if c != nil && !c.partial() {
		s.local, s.fetched.below = c.storage, c.storage
		if cut, err := c.storage.Shallow(); err == nil {
			s.note(cut, nil)
		}
	}
	temp, remove, err := atomicfile.TempDir(tempDir, "graft-git")
	if err == nil {
		s.remove = remove
		onDisk := filesystem.NewStorage(osfs.New(temp), cache.NewObjectLRUDefault())
		if err = onDisk.Init(); err == nil {
			s.fetched.Storer = onDisk
		}
	}
	if err != nil {
		s.fetched.Storer = memory.NewStorage()
	}
	return s
}

func (s *store) close() error {
	if s.remove == nil {
		return nil
	}
	return s.remove()
}

// locked calls do with exclusive access to the objects, because go-git does not document which operations may
// run concurrently.
func (s *store) locked(do func(layers) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return do(layers{Storer: s.made, below: s.fetched})
}

// above adds another layer on top. Use it only within locked.
func (s *store) above(top storer.Storer) layers {
	return layers{Storer: top, below: layers{Storer: s.made, below: s.fetched}}
}

func (s *store) commit(hash plumbing.Hash) (c *object.Commit, err error) {
	err = s.locked(func(o layers) error {
		c, err = object.GetCommit(o, hash)
		return about("commit", hash, err)
	})
	return c, err
}

func (s *store) tree(hash plumbing.Hash) (t *object.Tree, err error) {
	err = s.locked(func(o layers) error {
		t, err = object.GetTree(o, hash)
		return about("tree", hash, err)
	})
	return t, err
}

func (s *store) blob(hash plumbing.Hash) (data []byte, err error) {
	err = s.locked(func(o layers) error {
		b, err := object.GetBlob(o, hash)
		if err != nil {
			return about("file", hash, err)
		}
		r, err := b.Reader()
		if err != nil {
			return about("file", hash, err)
		}
		data = make([]byte, b.Size)
		_, err = io.ReadFull(r, data)
		return about("file", hash, errors.Join(err, r.Close()))
	})
	return data, err
}

func (s *store) size(hash plumbing.Hash) (n int64, err error) {
	err = s.locked(func(o layers) error {
		n, err = o.EncodedObjectSize(hash)
		return about("file", hash, err)
	})
	return n, err
}

func about(what string, hash plumbing.Hash, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("reading the %s %s: %w", what, hash, err)
}

// encode stores an object and returns its hash.
func (s *store) encode(of interface {
	Encode(plumbing.EncodedObject) error
}) (hash plumbing.Hash, err error) {
	o := &plumbing.MemoryObject{}
	if err := of.Encode(o); err != nil {
		return hash, err
	}
	err = s.locked(func(to layers) error {
		hash, err = to.SetEncodedObject(o)
		return err
	})
	return hash, err
}

// forget drops new objects.
func (s *store) forget(objects []plumbing.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range objects {
		delete(s.made.Objects, h)
		delete(s.made.Blobs, h)
		delete(s.made.Trees, h)
		delete(s.made.Commits, h)
	}
}

// unpack stores the objects from a remote and records where it cut the history.
func (s *store) unpack(pack io.Reader, thin bool, shallow, unshallow []plumbing.Hash) error {
	return s.locked(func(layers) error {
		s.note(shallow, unshallow)
		return s.fetched.unpack(pack, thin)
	})
}

// forgetLocal drops the checkout's objects from the store.
func (s *store) forgetLocal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local == nil {
		return
	}
	if cut, err := s.local.Shallow(); err == nil {
		s.note(nil, cut)
	}
	s.local, s.fetched.below = nil, nil
}

// localTips returns commits of the checkout that a remote probably knows.
func (s *store) localTips(base string) (all []plumbing.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	local := s.local
	if local == nil {
		return nil
	}
	for _, name := range []plumbing.ReferenceName{plumbing.HEAD, plumbing.NewRemoteReferenceName("origin", base)} {
		ref, err := storer.ResolveReference(local, name)
		if err == nil && local.HasEncodedObject(ref.Hash()) == nil && !slices.Contains(all, ref.Hash()) {
			all = append(all, ref.Hash())
		}
	}
	return all
}

func (s *store) note(shallow, unshallow []plumbing.Hash) {
	for _, h := range shallow {
		s.shallow[h] = true
	}
	for _, h := range unshallow {
		delete(s.shallow, h)
	}
}

// layers stores new objects and reads from the layers below too.
type layers struct {
	storer.Storer
	below storer.EncodedObjectStorer // nil if there is none
}

// unpack resolves a thin pack, whose deltas refer to objects below. It stores other packs as they are.
func (l layers) unpack(pack io.Reader, thin bool) error {
	if !thin {
		if err := packfile.UpdateObjectStorage(l.Storer, pack); !errors.Is(err, packfile.ErrEmptyPackfile) {
			return err
		}
		return nil
	}
	p, err := packfile.NewParserWithStorage(packfile.NewScanner(pack), l)
	if err != nil {
		return err
	}
	_, err = p.Parse()
	return err
}

func (l layers) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	o, err := l.Storer.EncodedObject(t, h)
	if errors.Is(err, plumbing.ErrObjectNotFound) && l.below != nil {
		return l.below.EncodedObject(t, h)
	}
	return o, err
}

func (l layers) HasEncodedObject(h plumbing.Hash) error {
	err := l.Storer.HasEncodedObject(h)
	if errors.Is(err, plumbing.ErrObjectNotFound) && l.below != nil {
		return l.below.HasEncodedObject(h)
	}
	return err
}

func (l layers) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	n, err := l.Storer.EncodedObjectSize(h)
	if errors.Is(err, plumbing.ErrObjectNotFound) && l.below != nil {
		return l.below.EncodedObjectSize(h)
	}
	return n, err
}
