package config

import (
	"io/fs"

	"github.com/olmgraft/graft/internal/plan"
)

// Commits is the configuration of a repository as its commits have it. Each file of a commit
// is read once. The zero value is ready.
type Commits struct{ known map[string]*commit }

type commit struct {
	config *Config
	setups map[string]*plan.Setup // by package and version
}

// At is the configuration that the content of a commit has.
func (c *Commits) At(content fs.FS, id string) (*Config, error) {
	at, err := c.at(content, id)
	if err != nil {
		return nil, err
	}
	return at.config, nil
}

func (c *Commits) at(content fs.FS, id string) (*commit, error) {
	if known := c.known[id]; known != nil {
		return known, nil
	}
	read, err := Read(content)
	if err != nil {
		return nil, err
	}
	if c.known == nil {
		c.known = map[string]*commit{}
	}
	c.known[id] = &commit{config: read, setups: map[string]*plan.Setup{}}
	return c.known[id], nil
}

// Setup is what the commit says of the places of a bundle.
func (c *Commits) Setup(content fs.FS, id, pkg, version string) (*plan.Setup, error) {
	at, err := c.at(content, id)
	if err != nil {
		return nil, err
	}
	key := pkg + "/" + version
	if known := at.setups[key]; known != nil {
		return known, nil
	}
	setup, _, err := at.config.Setup(content, pkg, version)
	if err == nil {
		at.setups[key] = setup
	}
	return setup, err
}
