package storetest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Cut is what a Proxy does to one message of a client.
type Cut int

// Ways of cutting a connection.
const (
	NoCut  Cut = iota
	Before     // the message does not arrive, and the connection is gone
	After      // the message arrives, and the connection is gone before the answer
)

// Proxy passes TCP connections on to a server, and cuts one of them at a message. A message is what a client
// sends at once. It is safe for concurrent use.
type Proxy struct {
	// Addr is the address that clients connect to.
	Addr string

	target   string
	mu       sync.Mutex
	messages int
	at       int
	cut      Cut
}

// NewProxy returns a proxy for the server at an address, which cuts a connection at the message with that
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
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// next counts a message, and returns what to do to it.
func (p *Proxy) next() Cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.messages++; p.messages == p.at {
		return p.cut
	}
	return NoCut
}
