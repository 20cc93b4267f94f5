// Package forge is what Graft asks of wherever a repository is hosted, in words that fit
// any forge: a change goes onto a branch, and is proposed; a proposal is what one forge
// calls a pull request and another a merge request. Each forge is a folder below.
package forge

import "context"

// Proposals are those of one repository, to one base branch.
type Proposals interface {
	// Open gives the open proposals of ours whose key begins with the prefix, the oldest
	// first, from places that only those push to who may. What a marker holds those may
	// have edited, so it is checked like any other request.
	Open(ctx context.Context, prefix string) ([]Proposal, error)
	// Titled gives the open proposals of a title, from branches of the repository itself that
	// begin with the prefix: anybody can give a proposal a title.
	Titled(ctx context.Context, title, prefix string) ([]Proposal, error)
	// Propose makes the proposal of a change be as asked.
	Propose(ctx context.Context, c Change) (Result, error)
	// Past gives the closed and merged proposals of ours from a branch, the newest first.
	Past(ctx context.Context, branch string) ([]Past, error)
	// Ended reports whether a branch at that commit is what a closed or merged proposal
	// left, and no open one has it.
	Ended(ctx context.Context, branch, commit string) (bool, error)
	// Close closes one, with a comment that says why. What goes before it may close it as well; where
	// that fails, it stays open, so that the next run finds it.
	Close(ctx context.Context, number int, why string, before func() error) error
}

// Forge hosts a repository.
type Forge interface {
	Proposals
	// UseFork has branches go to a fork of the repository, which is made or brought up to
	// date: one that the owner has, or whoever the token is of where that is "".
	UseFork(ctx context.Context, owner string) (Repository, error)
	// Tip is the commit that the base branch is at; "" where there is no such branch.
	Tip(ctx context.Context) (string, error)
	// Commit makes a commit and puts its branch on it; it gives the commit's name. Where the
	// files are what the parent holds already, that is the parent's. A branch that is not
	// where it was said to be is git-race-lost.
	Commit(ctx context.Context, c Commit) (string, error)
	// Signs reports whether commits that name nobody are made in the forge's own name and
	// signed, as it does for apps and workflows, not for users.
	Signs(ctx context.Context) (bool, error)
}

// Repository is one on the forge.
type Repository struct{ Owner, Name string }

func (r Repository) String() string { return r.Owner + "/" + r.Name }

// Settings are what each proposal is given.
type Settings struct {
	Labels, Reviewers []string
	// TeamReviewers are names of teams, with or without ORGANIZATION/.
	TeamReviewers []string
	Assignees     []string
	// Milestone is a number or a title.
	Milestone string
	// Draft and MaintainerCanModify are for the creation; later they are the people's.
	Draft, MaintainerCanModify bool
	// AutoMerge is "", merge, squash or rebase.
	AutoMerge string
}

// Change is what is on a branch, as it should be proposed.
type Change struct {
	Branch, Title, Body string
	Key                 string   // there is one open proposal for it
	Requests            []string // that it answers
	// ByHand says why a person is to merge it, whatever the settings say; empty: nothing does.
	ByHand string
}

// Proposal is an open proposal as Graft sees it; Head is the branch that it is made from.
type Proposal struct {
	Number int
	URL    string
	Head   string
	Marker Marker
}

// Past is a proposal that is not open any more.
type Past struct {
	Proposal
	// Rejected says that somebody closed it: it was not merged, and Close did not close it.
	Rejected bool
}

// Operation is what was done to a proposal.
type Operation string

// The operations.
const (
	Created   Operation = "created"
	Updated   Operation = "updated"
	Unchanged Operation = "unchanged"
	Closed    Operation = "closed"
)

// Result is what became of a proposal. Notes are what could not be done although it stands:
// a label, a reviewer, a milestone.
type Result struct {
	Number    int
	URL       string
	Operation Operation
	Notes     []string
}

// Commit is a commit that the forge is to make.
type Commit struct {
	// Branch is where it goes, without refs/heads/.
	Branch string
	// Parent is the commit whose tree the files are put into.
	Parent string
	// Tip is what the branch must be at; "" means that it must not exist. Where Tip is
	// not Parent the branch is replaced, not extended.
	Tip string
	// Files are what changes, by path. One that is there keeps its mode.
	Files map[string][]byte
	// Deleted are the paths where nothing is to stand.
	Deleted []string
	Message string
	// Author and Committer are best left nil where the forge signs.
	Author, Committer *Signature
}

// Signature is a name in a commit.
type Signature struct{ Name, Email string }
