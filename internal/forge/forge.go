// Package forge defines Graft's interface to the host of a repository, in words that fit any forge: a change
// goes onto a branch and is proposed. A proposal is a pull request on one forge and a merge request on another.
// Each forge is a folder below.
package forge

import "context"

// Proposals manages the proposals of one repository to one base branch.
type Proposals interface {
	// Open returns Graft's open proposals whose key begins with the prefix, oldest first. They come from
	// branches that only people with push permission can push to. Those people may have edited the marker, so
	// callers check its content like any other request.
	Open(ctx context.Context, prefix string) ([]Proposal, error)
	// Titled returns the open proposals with a title, from branches of the repository itself that begin with
	// the prefix. Anyone can give a proposal a title.
	Titled(ctx context.Context, title, prefix string) ([]Proposal, error)
	// Propose creates or updates the proposal of a change.
	Propose(ctx context.Context, c Change) (Result, error)
	// Past returns Graft's closed and merged proposals from a branch, newest first.
	Past(ctx context.Context, branch string) ([]Past, error)
	// Numbered returns one of Graft's proposals, open or not, or none if the number is not that of one.
	Numbered(ctx context.Context, number int) (Past, error)
	// Ended reports whether a closed or merged proposal left the branch at that commit, and no open one uses it.
	Ended(ctx context.Context, branch, commit string) (bool, error)
	// Close closes a proposal with a comment that gives the reason. It calls before first, which may close the
	// proposal as well. If before fails, the proposal stays open, so that the next run finds it.
	Close(ctx context.Context, number int, c Closing, before func() error) error
}

// Forge is the host of a repository.
type Forge interface {
	Proposals
	// UseFork sends branches to a fork of the repository, which it creates or updates. The fork belongs to
	// owner, or to the token's account if owner is "".
	UseFork(ctx context.Context, owner string) (Repository, error)
	// Tip returns the commit of the base branch, or "" if there is no such branch.
	Tip(ctx context.Context) (string, error)
	// Commit makes a commit, points its branch at it, and returns the commit's name. If the parent already has
	// the files, it returns the parent's. If the branch is not at Tip, it returns git-race-lost.
	Commit(ctx context.Context, c Commit) (string, error)
	// Signs reports whether the forge makes commits without an author in its own name and signs them, as it
	// does for apps and workflows and not for users.
	Signs(ctx context.Context) (bool, error)
}

// Repository is a repository on the forge.
type Repository struct{ Owner, Name string }

func (r Repository) String() string { return r.Owner + "/" + r.Name }

// Settings apply to each proposal.
type Settings struct {
	Labels, Reviewers []string
	// TeamReviewers are names of teams, with or without ORGANIZATION/.
	TeamReviewers []string
	Assignees     []string
	// Milestone is a number or a title.
	Milestone string
	// Draft and MaintainerCanModify apply to the creation only. Later, people change them.
	Draft, MaintainerCanModify bool
	// AutoMerge is "", merge, squash or rebase.
	AutoMerge string
}

// Change is the content of a branch with the text of its proposal.
type Change struct {
	Branch, Title, Body string
	Key                 string   // at most one open proposal has this key
	Requests            []string // the requests that it answers
	// Content is what the change makes, if the requests do not determine that.
	Content []string
	// ByHand is the reason why a person must merge it despite the settings, or "".
	ByHand string
}

// Proposal is an open proposal. Head is its branch.
type Proposal struct {
	Number int
	URL    string
	Head   string
	Marker Marker
}

// Closing is the reason for closing a proposal.
type Closing struct {
	Why string
	// Within is the number of the proposal that contains it from now on, or 0.
	Within int
}

// Past is a proposal that is no longer open.
type Past struct {
	Proposal
	// Rejected reports that a person closed it: it was not merged, and Close did not close it.
	Rejected bool
}

// Operation is what Propose did.
type Operation string

// The operations.
const (
	Created   Operation = "created"
	Updated   Operation = "updated"
	Unchanged Operation = "unchanged"
	Closed    Operation = "closed"
)

// Result is the result of Propose. Notes are the parts that could not be set on the proposal: a label, a
// reviewer, a milestone.
type Result struct {
	Number    int
	URL       string
	Operation Operation
	Notes     []string
}

// Commit describes a commit for the forge to make.
type Commit struct {
	// Branch is the target branch, without refs/heads/.
	Branch string
	// Parent is the commit to whose tree the files are added.
	Parent string
	// Tip is the required commit of the branch; "" means that it must not exist. If Tip differs from Parent,
	// the branch is replaced rather than extended.
	Tip string
	// Files are the changed files by path. An existing file keeps its mode.
	Files map[string][]byte
	// Deleted are the paths to delete.
	Deleted []string
	Message string
	// Author and Committer should be nil if the forge signs.
	Author, Committer *Signature
}

// Signature is the identity of an author or committer.
type Signature struct{ Name, Email string }
