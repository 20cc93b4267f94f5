package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/cache"
	format "github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/olmgraft/graft/internal/failure"
)

// checkout is a work tree with its repository. Graft opens it without go-git's PlainOpen, which refuses
// repositories with extensions that only affect the work tree, such as that of a sparse checkout.
type checkout struct {
	root    string
	storage *filesystem.Storage
	config  *config.Config
}

// findCheckout looks for .git in dir and the folders above. It returns nil if there is none.
func findCheckout(dir string) (*checkout, error) {
	if dir == "" {
		return nil, nil
	}
	start, err := filepath.Abs(dir)
	if err != nil {
		return nil, failure.New(failure.GitFailed, "opening %s: %w", dir, err)
	}
	for root := start; ; root = filepath.Dir(root) {
		info, err := os.Stat(filepath.Join(root, ".git"))
		switch {
		case err == nil:
			return openCheckout(root, info)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, failure.New(failure.GitFailed, "opening %s: %w", dir, err)
		case root == filepath.Dir(root):
			return nil, nil
		}
	}
}

func openCheckout(root string, dotGit fs.FileInfo) (*checkout, error) {
	c := &checkout{root: root}
	dir, err := gitDir(root, dotGit)
	if err == nil {
		c.storage = filesystem.NewStorage(dir, cache.NewObjectLRUDefault())
		c.config, err = c.storage.Config()
	}
	if err != nil {
		return nil, failure.New(failure.GitFailed, "opening the checkout %s: %w", root, err).
			Fix("Check that git status works there.")
	}
	if names := c.config.Raw.Section("extensions").Option("objectformat"); names != "" && names != "sha1" {
		return nil, failure.New(failure.GitFailed, "opening the checkout %s: its objects are named by %s", root, names).
			Fix("Use a repository in the sha1 object format: Graft supports no other.")
	}
	return c, nil
}

// gitDir follows the files by which a linked work tree names its repository.
func gitDir(root string, dotGit fs.FileInfo) (billy.Filesystem, error) {
	dir := filepath.Join(root, ".git")
	if dotGit.Mode().IsRegular() {
		text, err := os.ReadFile(dir)
		if err != nil {
			return nil, err
		}
		target, ok := strings.CutPrefix(string(text), "gitdir:")
		if !ok {
			return nil, errors.New(".git does not say gitdir")
		}
		dir = under(root, strings.TrimSpace(target))
	}
	own := osfs.New(dir)
	text, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return own, nil
	}
	if err != nil {
		return nil, err
	}
	common := under(dir, strings.TrimSpace(string(text)))
	return dotgit.NewRepositoryFilesystem(own, osfs.New(common)), nil
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// address returns the address from which the checkout fetches.
func (c *checkout) address() (string, error) {
	remote := c.config.Remotes["origin"]
	if remote == nil && len(c.config.Remotes) == 1 {
		for _, only := range c.config.Remotes {
			remote = only
		}
	}
	if remote == nil || len(remote.URLs) == 0 {
		return "", failure.New(failure.GitFailed, "opening the checkout %s: it has no remote origin", c.root).
			Fix("Name the repository, or run git remote add origin URL.")
	}
	address := remote.URLs[0]
	if !strings.Contains(address, ":") {
		address = under(c.root, address) // git resolves a relative path from there too
	}
	return address, nil
}

// partial reports whether objects may be missing that git would fetch on demand.
func (c *checkout) partial() bool {
	if c.config.Raw.Section("extensions").Option("partialclone") != "" {
		return true
	}
	return slices.ContainsFunc(c.config.Raw.Section("remote").Subsections, func(s *format.Subsection) bool {
		return s.Option("promisor") == "true"
	})
}
