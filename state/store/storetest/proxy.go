package storetest

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Cut is the way in which a Proxy disturbs one message of a client.
type Cut int

// Ways of cutting a connection.
const (
	NoCut  Cut = iota
	Before     // the message does not arrive, and the connection is gone
	After      // the message arrives, and the connection is gone before the answer
	Late       // the connection is gone, and the message arrives when the client has tried again
	Twice      // the message also arrives on a connection of its own, whose answer is lost
)

// late is after how long a late message arrives: later than a first attempt is repeated.
const late = 300 * time.Millisecond

// Proxy passes TCP connections on to a server, and disturbs one of them at a message. A message is the data
// that a client sends at once. It is safe for concurrent use.
type Proxy struct {
	// Addr is the address that clients connect to.
	Addr string

	target   string
	mu       sync.Mutex
	messages int
	at       int
	cut      Cut
}

// NewProxy returns a proxy for the server at an address, which disturbs a connection at the message with that
// number, from 1. It ends with the test.
func NewProxy(t testing.TB, target string, at int, cut Cut) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &Proxy{Addr: l.Addr().String(), target: target, at: at, cut: cut}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(client)
		}
	}()
	return p
}

// Messages returns the number of messages so far.
func (p *Proxy) Messages() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.messages
}

// pass carries one connection. It cuts messages of the client as next says: most are passed on.
func (p *Proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	buf := make([]byte, 1<<20)
	for {
		n, err := client.Read(buf)
		if err != nil {
			server.Close()
			<-answers
			return
		}
		switch p.next() {
		case Before:
			return
		case After:
			client.Close() // before the server can answer
			_, _ = server.Write(buf[:n])
			return // closes the connection when the message was passed on
		case Late:
			client.Close()
			time.Sleep(late)
			_, _ = server.Write(buf[:n])
			time.Sleep(late) // for the server to carry it out
			return
		case Twice:
			p.send(buf[:n])
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// send sends a message on a connection of its own, and waits for the beginning of the answer.
func (p *Proxy) send(message []byte) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if _, err := server.Write(message); err == nil {
		_ = server.SetReadDeadline(time.Now().Add(late)) // it may be a part of a request, which has no answer
		_, _ = server.Read(make([]byte, 1))
	}
}

// next counts a message, and returns the cut for it.
func (p *Proxy) next() Cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.messages++; p.messages == p.at {
		return p.cut
	}
	return NoCut
}
