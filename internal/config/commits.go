package config

import "io/fs"

// Commits caches the configurations of a repository by commit.
type Commits map[string]*Config

// At returns the configuration in the content of a commit, and reads it only once for each commit.
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
