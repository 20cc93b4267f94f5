package nats_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fault is what happens to one request to the server.
type fault string

// The faults of a request. After the cuts the client has to connect again.
const (
	cutBefore    fault = "cut before the server has it"
	cutAfter     fault = "cut before the answer"
	dropRequest  fault = "lost"
	dropAnswer   fault = "answer lost"
	late         fault = "three seconds late"
	unavailable  fault = "refused by JetStream for now"
	noResponders fault = "answered by nobody"
)

// place is a request of a run: the nth of its kind.
type place struct {
	kind string
	nth  int
}

func (p place) String() string { return fmt.Sprint(p.kind, ", number ", p.nth) }

// faults returns the faults that can happen to a request of a kind. Only JetStream's API and the storing of messages
// answer with errors.
func (p place) faults() []fault {
	all := []fault{cutBefore, cutAfter, dropRequest, dropAnswer, late, noResponders}
	if !strings.HasPrefix(p.kind, "ACK") && !strings.HasPrefix(p.kind, "API.CONSUMER.MSG") && !strings.HasPrefix(p.kind, "API.DIRECT") {
		all = append(all, unavailable)
	}
	return all
}

// proxy passes connections of clients to a server, and counts the requests. One of them fails, once.
type proxy struct {
	listener net.Listener
	server   string
	stream   string // the name that kinds leave out

	fails place
	how   fault

	mu     sync.Mutex
	seen   map[string]int
	order  []place
	failed bool
}

func newProxy(t *testing.T, server, stream string, fails place, how fault) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server, stream: stream, fails: fails, how: how, seen: map[string]int{}}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return p
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

// requests returns the requests so far, and whether one failed.
func (p *proxy) requests() ([]place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]place(nil), p.order...), p.failed
}

// kindOf returns the kind of a request by its subject: without names, numbers and keys.
func (p *proxy) kindOf(subject string) string {
	subject = strings.ReplaceAll(subject, p.stream, "S")
	var words []string
	for word := range strings.SplitSeq(strings.TrimPrefix(subject, "$JS."), ".") {
		if words = append(words, word); len(words) == 4 || words[0] == "ACK" || words[0] == "S" && len(words) == 2 {
			break
		}
	}
	return strings.Join(words, ".")
}

// decide counts a request and returns its fault, "" for none.
func (p *proxy) decide(subject string) fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := p.kindOf(subject)
	p.seen[kind]++
	at := place{kind, p.seen[kind]}
	p.order = append(p.order, at)
	if p.failed || at != p.fails {
		return ""
	}
	p.failed = true
	return p.how
}

// link is one connection of a client and that to the server.
type link struct {
	client, server net.Conn

	mu    sync.Mutex
	subs  map[string]string // identifiers of subscriptions, by subject
	drops string            // the subject whose next message is lost
	deaf  bool              // the client receives nothing more
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server, subs: map[string]string{}}
	defer l.close()
	go func() {
		defer l.close()
		_ = l.answers()
	}()
	_ = p.pass(l) // the end of one connection ends the other
}

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// message is a line of the protocol with its payload, if it has one.
func message(r *bufio.Reader) (words []string, text []byte, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, nil, err
	}
	words = strings.Fields(line)
	text = []byte(line)
	if len(words) == 0 {
		return []string{""}, text, nil
	}
	switch words[0] {
	case "PUB", "HPUB", "MSG", "HMSG":
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return nil, nil, err
		}
		body := make([]byte, size+2)
		if _, err := io.ReadFull(r, body); err != nil {
			return nil, nil, err
		}
		text = append(text, body...)
	}
	return words, text, nil
}

// pass forwards the client's messages to the server.
func (p *proxy) pass(l *link) error {
	r := bufio.NewReader(l.client)
	for {
		words, text, err := message(r)
		if err != nil {
			return err
		}
		how, reply := fault(""), ""
		switch words[0] {
		case "SUB":
			l.mu.Lock()
			l.subs[words[1]] = words[len(words)-1]
			l.mu.Unlock()
		case "PUB", "HPUB":
			if without := map[string]int{"PUB": 3, "HPUB": 4}[words[0]]; len(words) > without {
				reply = words[2]
			}
			how = p.decide(words[1])
		}
		switch how {
		case cutBefore:
			return io.EOF
		case dropRequest:
			continue
		case unavailable, noResponders:
			l.refuse(reply, how)
			continue
		case late:
			go func() {
				time.Sleep(3 * time.Second)
				_, _ = l.server.Write(text) // one write, as each message is
			}()
			continue
		case cutAfter, dropAnswer:
			l.mu.Lock()
			l.drops, l.deaf = reply, how == cutAfter
			l.mu.Unlock()
		}
		if _, err := l.server.Write(text); err != nil {
			return err
		}
		if how == cutAfter {
			time.Sleep(100 * time.Millisecond) // in which the server acts
			return io.EOF
		}
	}
}

// refuse answers a request instead of the server.
func (l *link) refuse(reply string, how fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for subject, id := range l.subs {
		if before, _ := strings.CutSuffix(subject, "*"); reply == "" || !strings.HasPrefix(reply, before) {
			continue
		}
		text := `{"error": {"code": 503, "err_code": 10008, "description": "JetStream system temporarily unavailable"}}`
		answer := fmt.Sprintf("MSG %s %s %d\r\n%s\r\n", reply, id, len(text), text)
		if how == noResponders {
			text = "NATS/1.0 503\r\n\r\n"
			answer = fmt.Sprintf("HMSG %s %s %d %d\r\n%s\r\n", reply, id, len(text), len(text), text)
		}
		_, _ = l.client.Write([]byte(answer))
		return
	}
}

// answers forwards the server's messages to the client.
func (l *link) answers() error {
	r := bufio.NewReader(l.server)
	for {
		words, text, err := message(r)
		if err != nil {
			return err
		}
		l.mu.Lock()
		dropped := l.deaf || l.drops != "" && len(words) > 1 && words[1] == l.drops
		if dropped {
			l.drops = ""
		} else {
			_, err = l.client.Write(text)
		}
		l.mu.Unlock()
		if err != nil {
			return err
		}
	}
}
