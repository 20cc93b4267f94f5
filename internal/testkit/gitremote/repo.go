package gitremote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/olmgraft/graft/internal/testkit/gitobjects"
)

// DefaultBranch is the default branch of repositories that Create makes.
const DefaultBranch = "main"

// Repo is one bare repository. Its methods may be called while it is served, and are atomic with respect to
// pushes.
type Repo struct {
	// Name is OWNER/NAME.
	Name string

	server    *Server
	dir       string
	mu        sync.RWMutex
	protected map[string]string
}

// Commit is one commit of a log.
type Commit struct {
	SHA, Tree           string
	Parents             []string
	Author, Committer   string // Name <email>
	Message             string
	AuthorDate, Written time.Time
}

// Change describes a commit to a branch. A file has mode 0644 unless Modes sets it; the content of a symbolic
// link is its target. Author is Name <email>, and defaults to a third person.
type Change struct {
	Author, Committer string
	Message           string
	Files             map[string]string
	Modes             map[string]fs.FileMode
	Deleted           []string
}

// Create makes OWNER/NAME with the files as the first commit of the default branch. Without files the
// repository stays empty.
func (s *Server) Create(name string, files map[string]string) (*Repo, error) {
	r, err := s.adopt(name)
	if err != nil {
		return nil, err
	}
	storage := r.open()
	head := plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.NewBranchReferenceName(DefaultBranch))
	if err := errors.Join(storage.Init(), storage.SetReference(head), os.WriteFile(filepath.Join(r.dir, "config"), []byte(gitConfig), 0o600)); err != nil {
		return nil, err
	}
	if len(files) > 0 {
		if _, err := r.Commit(DefaultBranch, Change{Message: "First commit", Files: files}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Fork copies a repository with all of its branches under another name.
func (s *Server) Fork(of *Repo, name string) (*Repo, error) {
	r, err := s.adopt(name)
	if err != nil {
		return nil, err
	}
	of.mu.RLock()
	defer of.mu.RUnlock()
	if err := os.Remove(r.dir); err != nil {
		return nil, err
	}
	return r, os.CopyFS(r.dir, os.DirFS(of.dir))
}

func (s *Server) adopt(name string) (*Repo, error) {
	r := &Repo{Name: name, server: s, dir: filepath.Join(s.dir, filepath.FromSlash(name)+".git"), protected: map[string]string{}}
	if err := os.MkdirAll(filepath.Dir(r.dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		return nil, err
	}
	s.set(func() { s.repos[name] = r })
	return r, nil
}

// URL returns the address for clones and pushes.
func (r *Repo) URL() string { return r.server.URL + "/" + r.Name + ".git" }

// Dir returns the folder of the bare repository.
func (r *Repo) Dir() string { return r.dir }

// open reads the folder again, because git also writes to it.
func (r *Repo) open() *filesystem.Storage {
	return filesystem.NewStorage(osfs.New(r.dir), cache.NewObjectLRUDefault())
}

// Protect makes the server refuse every push to the branch with a message. "" ends the protection.
func (r *Repo) Protect(branch, message string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.protected[branch] = message
	if message == "" {
		delete(r.protected, branch)
	}
	return r.writeHook()
}

// Branches returns the commit of each branch by name.
func (r *Repo) Branches() (map[string]string, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	iter, err := r.open().IterReferences()
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	return all, iter.ForEach(func(ref *plumbing.Reference) error {
		if ref.Name().IsBranch() {
			all[ref.Name().Short()] = ref.Hash().String()
		}
		return nil
	})
}

// Head returns the commit of a branch, or "" if there is no such branch.
func (r *Repo) Head(branch string) (string, error) {
	all, err := r.Branches()
	return all[branch], err
}

// Move points a branch at a commit, whatever its old commit was. "" removes the branch.
func (r *Repo) Move(branch, commit string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := plumbing.NewBranchReferenceName(branch)
	if commit == "" {
		return r.open().RemoveReference(name)
	}
	return r.setReference(name, plumbing.NewHash(commit))
}

// setReference replaces the file as git does. go-git would write into the file, and a concurrent reader would
// find it empty.
func (r *Repo) setReference(name plumbing.ReferenceName, commit plumbing.Hash) error {
	file, err := os.CreateTemp(r.dir, "ref")
	if err != nil {
		return err
	}
	at := filepath.Join(r.dir, filepath.FromSlash(name.String()))
	_, err = fmt.Fprintln(file, commit)
	if err = errors.Join(err, file.Close(), os.MkdirAll(filepath.Dir(at), 0o755)); err == nil {
		err = os.Rename(file.Name(), at)
	}
	return err
}

// Log returns the history of a branch by first parents, newest first.
func (r *Repo) Log(branch string) ([]Commit, error) {
	head, err := r.Head(branch)
	if err != nil {
		return nil, err
	}
	storage := r.open()
	var all []Commit
	for next := head; next != ""; {
		c, err := object.GetCommit(storage, plumbing.NewHash(next))
		if err != nil {
			return nil, err
		}
		one := Commit{
			SHA: c.Hash.String(), Tree: c.TreeHash.String(), Message: c.Message,
			Author: signed(c.Author), Committer: signed(c.Committer), AuthorDate: c.Author.When, Written: c.Committer.When,
		}
		for _, p := range c.ParentHashes {
			one.Parents = append(one.Parents, p.String())
		}
		all = append(all, one)
		if next = ""; len(one.Parents) > 0 {
			next = one.Parents[0]
		}
	}
	return all, nil
}

func signed(s object.Signature) string { return s.Name + " <" + s.Email + ">" }

// Read returns a file at a branch or commit, or the target of a symbolic link.
func (r *Repo) Read(at, file string) (string, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	storage := r.open()
	files, err := r.files(storage, at)
	if err != nil {
		return "", err
	}
	entry, ok := files[file]
	if !ok {
		return "", fmt.Errorf("%s is not in %s: %w", file, at, fs.ErrNotExist)
	}
	text, err := gitobjects.ReadBlob(storage, entry.Hash)
	return string(text), err
}

// Modes returns the files of a branch or commit with git's modes, such as 100644.
func (r *Repo) Modes(at string) (map[string]string, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	files, err := r.files(r.open(), at)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for name, e := range files {
		all[name] = fmt.Sprintf("%06o", uint32(e.Mode))
	}
	return all, nil
}

// Changed returns the paths in which a commit differs from its first parent.
func (r *Repo) Changed(commit string) ([]string, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	storage := r.open()
	c, err := object.GetCommit(storage, plumbing.NewHash(commit))
	if err != nil {
		return nil, err
	}
	after, err := r.files(storage, commit)
	if err != nil {
		return nil, err
	}
	var before gitobjects.Files
	if len(c.ParentHashes) > 0 {
		if before, err = r.files(storage, c.ParentHashes[0].String()); err != nil {
			return nil, err
		}
	}
	return gitobjects.Changed(before, after), nil
}

// files returns the files at a branch or commit.
func (r *Repo) files(storage *filesystem.Storage, at string) (gitobjects.Files, error) {
	commit := plumbing.NewHash(at)
	if ref, err := storage.Reference(plumbing.NewBranchReferenceName(at)); err == nil {
		commit = ref.Hash()
	}
	c, err := object.GetCommit(storage, commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return gitobjects.ReadFiles(storage, c.TreeHash)
}

// parseIdentity parses Name <email>.
func parseIdentity(s string, when time.Time) object.Signature {
	if s == "" {
		s = "Somebody Else <somebody@example.com>"
	}
	name, email, _ := strings.Cut(s, "<")
	return object.Signature{Name: strings.TrimSpace(name), Email: strings.TrimSuffix(email, ">"), When: when}
}
