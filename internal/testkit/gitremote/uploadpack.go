package gitremote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// deltaWindow is the number of objects to try as the base of another, as in git.
const deltaWindow = 10

type hashes map[plumbing.Hash]bool

// wish holds the commits that a client wants and has.
type wish struct {
	wants, haves []plumbing.Hash
	shallow      hashes // commits whose parents the client lacks
	depth        int
	filter       string
	sideband     bool
	ofsDelta     bool
	detailed     bool // each have is answered
	ended        bool // the haves ended with a flush, and another request may bring more
	done         bool
}

func readWish(body []byte) (wish, error) {
	w := wish{shallow: hashes{}}
	wants := true
	s := pktline.NewScanner(bytes.NewReader(body))
	for s.Scan() {
		line := strings.TrimSuffix(string(s.Bytes()), "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "":
			w.ended = !wants
			wants = false
		case "want":
			hash, caps, _ := strings.Cut(rest, " ")
			w.wants = append(w.wants, plumbing.NewHash(hash))
			w.sideband = w.sideband || strings.Contains(caps, "side-band-64k")
			w.ofsDelta = w.ofsDelta || strings.Contains(caps, "ofs-delta")
			w.detailed = w.detailed || strings.Contains(caps, "multi_ack_detailed")
		case "have":
			w.haves = append(w.haves, plumbing.NewHash(rest))
		case "shallow":
			w.shallow[plumbing.NewHash(rest)] = true
		case "deepen":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return wish{}, err
			}
			w.depth = n
		case "filter":
			w.filter = rest
		case "done":
			w.done = true
		default:
			return wish{}, fmt.Errorf("cannot %s", word)
		}
	}
	return w, s.Err()
}

// uploadPack answers one round of a fetch over HTTP: it acknowledges the common commits, and sends the pack
// once the client is done.
func uploadPack(out io.Writer, repo *Repo, body []byte) error {
	w, err := readWish(body)
	if err != nil {
		return err
	}
	storage := repo.open()
	send, update, err := w.commits(storage)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return (&pktline.ErrorLine{Text: "upload-pack: not our ref"}).Encode(out)
	}
	if err != nil {
		return err
	}
	if w.depth > 0 {
		if err := update.Encode(out); err != nil {
			return err
		}
	}
	if err := w.acknowledge(out, storage); err != nil || !w.done {
		return err
	}
	objects, err := w.objects(storage, send)
	if err != nil {
		return err
	}
	if w.sideband {
		mux := sideband.NewMuxer(sideband.Sideband64k, out)
		if _, err := packfile.NewEncoder(mux, storage, !w.ofsDelta).Encode(objects, deltaWindow); err != nil {
			return err
		}
		return pktline.NewEncoder(out).Flush()
	}
	_, err = packfile.NewEncoder(out, storage, !w.ofsDelta).Encode(objects, deltaWindow)
	return err
}

// acknowledge reports which of the haves exist here. A client that asks for details gets one line for each and
// repeats the acknowledged ones in its next request. Other clients get the first only and must send everything
// in one request.
func (w wish) acknowledge(out io.Writer, storage *filesystem.Storage) error {
	var lines []string
	common := ""
	for _, h := range w.haves {
		if storage.HasEncodedObject(h) != nil {
			continue
		}
		switch {
		case w.detailed:
			lines = append(lines, "ACK "+h.String()+" common\n")
		case common == "":
			lines = append(lines, "ACK "+h.String()+"\n")
		}
		common = h.String()
	}
	switch {
	case w.done && common == "", !w.done && w.ended && (w.detailed || common == ""):
		lines = append(lines, "NAK\n")
	case w.done && w.detailed:
		lines = append(lines, "ACK "+common+"\n")
	}
	return pktline.NewEncoder(out).EncodeString(lines...)
}

// commits returns the wanted commits within the depth that the client lacks.
func (w wish) commits(storage *filesystem.Storage) (send []*object.Commit, update packp.ShallowUpdate, err error) {
	has := hashes{}
	for _, h := range w.haves {
		if err := w.closure(storage, h, has); err != nil {
			return nil, update, err
		}
	}
	seen := hashes{}
	for level, next := 1, w.wants; len(next) > 0; level++ {
		var parents []plumbing.Hash
		for _, h := range next {
			if seen[h] || has[h] && w.depth == 0 {
				continue
			}
			seen[h] = true
			c, err := object.GetCommit(storage, h)
			if err != nil {
				return nil, update, err
			}
			if !has[h] {
				send = append(send, c)
			}
			cut := level == w.depth && len(c.ParentHashes) > 0
			switch {
			case cut && !w.shallow[h]:
				update.Shallows = append(update.Shallows, h)
			case !cut && w.shallow[h]:
				update.Unshallows = append(update.Unshallows, h)
			}
			if !cut {
				parents = append(parents, c.ParentHashes...)
			}
		}
		next = parents
	}
	return send, update, nil
}

// closure adds a commit and all of its history that the client has.
func (w wish) closure(storage *filesystem.Storage, from plumbing.Hash, into hashes) error {
	for todo := []plumbing.Hash{from}; len(todo) > 0; {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if into[h] {
			continue
		}
		c, err := object.GetCommit(storage, h)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			continue // only the client has it
		}
		if err != nil {
			return err
		}
		into[h] = true
		if !w.shallow[h] {
			todo = append(todo, c.ParentHashes...)
		}
	}
	return nil
}

// objects returns the objects of the commits that the client lacks.
func (w wish) objects(storage *filesystem.Storage, send []*object.Commit) ([]plumbing.Hash, error) {
	seen := hashes{}
	if w.filter == "" {
		for _, h := range w.haves {
			c, err := object.GetCommit(storage, h)
			if errors.Is(err, plumbing.ErrObjectNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if err := w.addTree(storage, c.TreeHash, seen, nil); err != nil {
				return nil, err
			}
		}
	}
	var all []plumbing.Hash
	for _, c := range send {
		all = append(all, c.Hash)
		if w.filter == "tree:0" {
			continue
		}
		if err := w.addTree(storage, c.TreeHash, seen, &all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (w wish) addTree(storage *filesystem.Storage, tree plumbing.Hash, seen hashes, into *[]plumbing.Hash) error {
	add := func(h plumbing.Hash) bool {
		if seen[h] {
			return false
		}
		seen[h] = true
		if into != nil {
			*into = append(*into, h)
		}
		return true
	}
	if !add(tree) {
		return nil
	}
	t, err := object.GetTree(storage, tree)
	if err != nil {
		return err
	}
	for _, e := range t.Entries {
		switch {
		case e.Mode == filemode.Dir:
			if err := w.addTree(storage, e.Hash, seen, into); err != nil {
				return err
			}
		case e.Mode != filemode.Submodule && w.filter != "blob:none":
			add(e.Hash)
		}
	}
	return nil
}

// storePack accepts an empty pack, which git sends if all objects are known, and no pack, which git sends when
// it removes a branch.
func storePack(storage *filesystem.Storage, pack []byte) error {
	const header = 12 // its last four bytes count the objects
	if len(pack) < header || bytes.Equal(pack[header-4:header], make([]byte, 4)) {
		return nil
	}
	return packfile.UpdateObjectStorage(storage, bytes.NewReader(pack))
}
