// Package tcpproxy is a network for tests that is slow, stands still, and breaks after a number of bytes: a
// proxy before one server.
//
// It may import the testing package. It must not know any other package of this module.
package tcpproxy

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Direction is the end that bytes go to.
type Direction int

// The directions.
const (
	ToServer Direction = iota
	ToClient
)

// Cut breaks a connection.
type Cut struct {
	Direction Direction
	// After is how many bytes pass in the direction, on all connections since the cut was set. The next ones
	// break their connection.
	After int64
	// Late has the bytes that break a connection to the server arrive there so much later. Zero loses them.
	Late time.Duration
	// Do is called when it happens, before bytes are lost or arrive late. Nil does nothing.
	Do func()
}

// Counts are numbers of bytes and requests that have passed.
type Counts struct {
	Bytes      [2]int64 // by Direction
	RoundTrips int64    // requests that came after an answer, or first on their connection
}

// Proxy is a running proxy.
type Proxy struct {
	Port int

	target   string
	listener net.Listener
	bytes    [2]atomic.Int64
	turns    atomic.Int64

	mu     sync.Mutex
	cut    *Cut
	left   int64 // bytes until the cut
	delay  time.Duration
	frozen time.Time // nothing passes until then
	dead   bool
	held   [2]chan struct{} // by Direction; nil while it passes, closed when the proxy ends
	conns  map[net.Conn]struct{}
}

// Start starts a proxy before a port of this machine. It ends with the test.
func Start(t testing.TB, port int) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Port: l.Addr().(*net.TCPAddr).Port, target: fmt.Sprintf("127.0.0.1:%d", port), listener: l, conns: map[net.Conn]struct{}{}}
	go p.serve()
	t.Cleanup(p.Kill)
	return p
}

// Break sets the next cut, in place of one that has not happened.
func (p *Proxy) Break(c Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.left = &c, c.After
}

// Pending reports whether a cut is set that has not happened.
func (p *Proxy) Pending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut != nil
}

// Connected reports whether a connection is there, with bytes of a client that may still pass.
func (p *Proxy) Connected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns) > 0
}

// Delay has everything take so much longer, half of it in each direction: a round trip takes it once.
func (p *Proxy) Delay(roundTrip time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = roundTrip / 2
}

// Freeze lets nothing pass for some time.
func (p *Proxy) Freeze(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = time.Now().Add(d)
}

// Hold lets nothing pass in a direction until the proxy is killed, which loses it.
func (p *Proxy) Hold(d Direction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[d] == nil {
		p.held[d] = make(chan struct{})
	}
}

// Kill breaks all connections and refuses others, for good.
func (p *Proxy) Kill() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for c := range p.conns {
		_ = c.Close()
	}
	for d, held := range p.held {
		if held != nil {
			close(held)
			p.held[d] = nil
		}
	}
}

// Counts returns the counts so far.
func (p *Proxy) Counts() Counts {
	return Counts{[2]int64{p.bytes[ToServer].Load(), p.bytes[ToClient].Load()}, p.turns.Load()}
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		if p.dead {
			_, _ = client.Close(), server.Close()
		}
		p.conns[client], p.conns[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		pair := &pair{Proxy: p, ends: [2]net.Conn{ToServer: server, ToClient: client}}
		pair.answered.Store(true)
		go pair.pass(ToServer)
		go pair.pass(ToClient)
	}
}

// pair is a connection of a client with the one to the server that belongs to it.
type pair struct {
	*Proxy
	ends     [2]net.Conn // by the Direction that leads there
	answered atomic.Bool // the server has said something since the client has
}

// piece are bytes that were read at once, and the time from which they may pass on.
type piece struct {
	bytes []byte
	at    time.Time
}

// pass passes the bytes of one direction on. A delay holds each back without holding up the next.
func (p *pair) pass(d Direction) {
	from, to := p.ends[1-d], p.ends[d]
	queue := make(chan piece, 1024)
	go func() {
		defer close(queue)
		for buf := make([]byte, 64<<10); ; {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			p.bytes[d].Add(int64(n))
			if d == ToClient {
				p.answered.Store(true)
			} else if p.answered.Swap(false) {
				p.turns.Add(1)
			}
			p.mu.Lock()
			at := time.Now().Add(p.delay)
			p.mu.Unlock()
			queue <- piece{append([]byte(nil), buf[:n]...), at}
		}
	}()
	for next := range queue {
		time.Sleep(time.Until(next.at))
		p.thaw()
		p.wait(d)
		if c := p.breaks(d, int64(len(next.bytes))); c != nil {
			p.broken(to, next.bytes, c)
			break
		}
		if _, err := to.Write(next.bytes); err != nil {
			break
		}
	}
	p.close(from, to)
	for range queue { // its reader ends, since the connection is closed
	}
}

// broken ends the connection of the client. The bytes that break it may reach the server later.
func (p *pair) broken(to net.Conn, bytes []byte, c *Cut) {
	if c.Do != nil {
		c.Do()
	}
	if c.Direction == ToServer && c.Late > 0 {
		p.close(p.ends[ToClient])
		time.Sleep(c.Late)
		_, _ = to.Write(bytes)
		time.Sleep(c.Late) // a server that sees the end of the connection first may not read it
	}
}

// thaw waits while nothing may pass.
func (p *Proxy) thaw() {
	for {
		p.mu.Lock()
		rest := time.Until(p.frozen)
		p.mu.Unlock()
		if rest <= 0 {
			return
		}
		time.Sleep(rest)
	}
}

// wait waits while nothing may pass in a direction.
func (p *Proxy) wait(d Direction) {
	p.mu.Lock()
	held := p.held[d]
	p.mu.Unlock()
	if held != nil {
		<-held
	}
}

// breaks returns the cut, once, if it is among the next n bytes of a direction.
func (p *Proxy) breaks(d Direction, n int64) *Cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut == nil || p.cut.Direction != d {
		return nil
	}
	if p.left -= n; p.left > 0 {
		return nil
	}
	c := p.cut
	p.cut = nil
	return c
}

func (p *Proxy) close(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}
