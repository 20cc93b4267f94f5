package config

import "io/fs"

// Commits are the configurations of a repository at its commits, each read once.
type Commits map[string]*Config

// At is what the content of a commit has.
func (c Commits) At(content fs.FS, commit string) (*Config, error) {
	if known := c[commit]; known != nil {
		return known, nil
	}
	read, err := Read(content)
	if err == nil {
		c[commit] = read
	}
	return read, err
}
