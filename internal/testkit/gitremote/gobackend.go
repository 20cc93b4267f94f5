package gitremote

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// goBackend implements version 0 of the protocol without a git program, as far as git and go-git need it for
// full and partial clones, fetches and pushes.
type goBackend struct{}

func (b goBackend) serve(w http.ResponseWriter, _ *http.Request, repo *Repo, kind Kind, body []byte) {
	service := "git-upload-pack"
	if kind == PushRefs || kind == Push {
		service = "git-receive-pack"
	}
	var out bytes.Buffer
	var err error
	form := "result"
	switch kind {
	case Fetch:
		repo.mu.RLock()
		defer repo.mu.RUnlock()
		err = uploadPack(&out, repo, body)
	case Push:
		repo.mu.Lock()
		defer repo.mu.Unlock()
		err = receivePack(&out, repo, body)
	default:
		repo.mu.RLock()
		defer repo.mu.RUnlock()
		form = "advertisement"
		err = advertise(&out, repo, service)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-"+form)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = out.WriteTo(w) // to memory
}

func advertise(w io.Writer, repo *Repo, service string) error {
	adv := packp.NewAdvRefs()
	adv.Prefix = [][]byte{[]byte("# service=" + service), pktline.Flush}
	set := func(c capability.Capability, values ...string) {
		_ = adv.Capabilities.Set(c, values...) // fails only for a capability without its value
	}
	set(capability.Agent, "gitremote")
	set(capability.OFSDelta)
	set(capability.Sideband64k)
	if service == "git-receive-pack" {
		set(capability.ReportStatus)
		set(capability.DeleteRefs)
		set("no-thin") // the pack can then be stored as it arrives
	} else {
		set(capability.MultiACKDetailed)
		set(capability.Shallow)
		set(capability.Filter)
		set(capability.AllowReachableSHA1InWant)
	}
	storage := repo.open()
	iter, err := storage.IterReferences()
	if err != nil {
		return err
	}
	if err := iter.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			adv.References[ref.Name().String()] = ref.Hash()
		}
		return nil
	}); err != nil {
		return err
	}
	if head, err := storage.Reference(plumbing.HEAD); err == nil && service == "git-upload-pack" {
		if hash, ok := adv.References[head.Target().String()]; ok {
			adv.Head = &hash
			set(capability.SymRef, "HEAD:"+head.Target().String())
		}
	}
	return adv.Encode(w)
}

// receivePack compares each command with the branch's present commit, as git does: it does not touch a branch
// that has moved since the client read it.
func receivePack(w io.Writer, repo *Repo, body []byte) error {
	commands, capabilities, pack := readPush(body)
	storage := repo.open()
	report := packp.NewReportStatus()
	report.UnpackStatus = "ok"
	if err := storePack(storage, pack); err != nil {
		report.UnpackStatus = err.Error()
	}
	var progress []string
	for _, c := range commands {
		status := "unpacker error"
		if report.UnpackStatus == "ok" {
			var message string
			if status, message = repo.update(storage, c); message != "" {
				progress = append(progress, message)
			}
		}
		report.CommandStatuses = append(report.CommandStatuses, &packp.CommandStatus{ReferenceName: c.Name, Status: status})
	}
	var out bytes.Buffer
	if err := report.Encode(&out); err != nil {
		return err
	}
	if !strings.Contains(capabilities, string(capability.Sideband64k)) {
		_, err := out.WriteTo(w)
		return err
	}
	mux := sideband.NewMuxer(sideband.Sideband64k, w)
	for _, message := range progress {
		if _, err := mux.WriteChannel(sideband.ProgressMessage, []byte(message+"\n")); err != nil {
			return err
		}
	}
	if _, err := out.WriteTo(mux); err != nil {
		return err
	}
	return pktline.NewEncoder(w).Flush()
}

// readPush parses a push from a clone that is shallow at several commits, which lists them all first. packp's
// decoder does not.
func readPush(body []byte) (commands []*packp.Command, capabilities string, pack []byte) {
	rest := bytes.NewReader(body)
	for s := pktline.NewScanner(rest); s.Scan() && len(s.Bytes()) > 0; {
		line, caps, _ := strings.Cut(string(s.Bytes()), "\x00")
		capabilities += caps
		if f := strings.Fields(line); len(f) == 3 {
			commands = append(commands, &packp.Command{
				Old: plumbing.NewHash(f[0]), New: plumbing.NewHash(f[1]), Name: plumbing.ReferenceName(f[2]),
			})
		}
	}
	return commands, capabilities, body[len(body)-rest.Len():]
}

// update returns git's status for the command, and the message that a hook would print.
func (r *Repo) update(storage referenceStorer, c *packp.Command) (status, message string) {
	if m := r.protected[c.Name.Short()]; m != "" && c.Name.IsBranch() {
		return "pre-receive hook declined", m
	}
	old := plumbing.ZeroHash
	if ref, err := storage.Reference(c.Name); err == nil {
		old = ref.Hash()
	}
	switch {
	case old != c.Old:
		return "failed to update ref", fmt.Sprintf("error: cannot lock ref '%s': is at %s but expected %s", c.Name, old, c.Old)
	case c.Action() == packp.Delete:
		if err := storage.RemoveReference(c.Name); err != nil {
			return err.Error(), ""
		}
		return "ok", ""
	}
	if other := inTheWay(storage, c.Name); other != "" {
		return "failed to update ref", fmt.Sprintf("error: cannot lock ref '%s': '%s' exists; cannot create it", c.Name, other)
	}
	if err := storage.HasEncodedObject(c.New); err != nil {
		return "missing necessary objects", ""
	}
	if err := r.setReference(c.Name, c.New); err != nil {
		return err.Error(), ""
	}
	return "ok", ""
}

type referenceStorer interface {
	storer.ReferenceStorer
	storer.EncodedObjectStorer
}

// inTheWay finds a branch whose name is a folder of the new name, or the other way round.
func inTheWay(storage storer.ReferenceStorer, name plumbing.ReferenceName) (other string) {
	iter, err := storage.IterReferences()
	if err != nil {
		return ""
	}
	_ = iter.ForEach(func(ref *plumbing.Reference) error {
		a, b := ref.Name().String(), name.String()
		if strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/") {
			other = a
		}
		return nil
	})
	return other
}
