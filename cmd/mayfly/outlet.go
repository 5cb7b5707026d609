package main

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

const (
	// standstill is how long a program that is to end waits for a reader that takes nothing.
	standstill = 5 * time.Second
	// piece is how much is written at once: what shows that a reader goes on.
	piece = 4 << 10
)

// errUnread is the error of writing to a reader that took nothing for too long.
var errUnread = errors.New("its reader stopped reading, and the program was interrupted")

// outlet writes for a program that must be able to end although nobody reads what it writes: a pager that
// waits, a terminal that is held, a full pipe. Writing waits for the reader, however long that takes, until
// patience is over. It is safe for concurrent use.
type outlet struct {
	to       io.Writer
	over     <-chan struct{} // closed when patience is over
	terminal bool

	mu      sync.Mutex // held to write
	pieces  chan []byte
	results chan result
	buf     []byte // handed over, and not touched until there is a result
	unread  bool   // given up: the last piece may still be on its way, and nothing follows it
}

type result struct {
	n   int
	err error
}

func newOutlet(to io.Writer, over <-chan struct{}) *outlet {
	return &outlet{to: to, over: over, terminal: terminalOf(to) != nil}
}

// Write implements io.Writer. It fails with errUnread if it was given up, this time or before.
func (o *outlet) Write(p []byte) (written int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pieces == nil {
		o.pieces, o.results, o.buf = make(chan []byte), make(chan result, 1), make([]byte, piece)
		go pump(o.to, o.pieces, o.results)
	}
	for written < len(p) && err == nil {
		var r result
		r, err = o.writePiece(p[written:])
		written += r.n
	}
	if o.terminal && errors.Is(err, syscall.EIO) { // it was closed
		err = syscall.EPIPE
	}
	return written, err
}

func (o *outlet) writePiece(p []byte) (result, error) {
	if o.unread {
		return result{}, errUnread
	}
	o.pieces <- o.buf[:copy(o.buf, p)]
	select {
	case r := <-o.results:
		return r, r.err
	case <-o.over:
	}
	timer := time.NewTimer(standstill)
	defer timer.Stop()
	select {
	case r := <-o.results:
		return r, r.err
	case <-timer.C:
		o.unread = true
		return result{}, errUnread
	}
}

// pump writes pieces until there are no more. It may stay with one for ever, which nothing but the reader can
// change.
func pump(to io.Writer, pieces <-chan []byte, results chan<- result) {
	for p := range pieces {
		n, err := to.Write(p)
		results <- result{n, err}
	}
}

// close ends the outlet, and reports whether everything was taken that was written.
func (o *outlet) close() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pieces != nil {
		close(o.pieces)
		o.pieces = nil
	}
	return !o.unread
}

// readerGone reports whether writing to an outlet failed because the reader has gone away: a program that has
// ended, or a terminal that was closed.
func readerGone(err error) bool {
	return slices.ContainsFunc(goneErrors, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// terminalOf returns the terminal that a stream is connected to, nil if it is none.
func terminalOf(stream any) *os.File {
	if o, ok := stream.(*outlet); ok {
		stream = o.to
	}
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}

// patience is over once the program was interrupted and the engine has ended: then output alone is no reason
// to stay. The zero value has not ended.
type patience struct {
	mu          sync.Mutex
	interrupted bool
	working     int
	ended       chan struct{}
	closed      bool
}

// over is closed when patience is over.
func (p *patience) over() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.channel()
}

func (p *patience) channel() chan struct{} {
	if p.ended == nil {
		p.ended = make(chan struct{})
	}
	return p.ended
}

func (p *patience) interrupt() { p.change(func() { p.interrupted = true }) }

// during calls f, in which the engine works. Interrupts are its affair: what it says is still wanted.
func (p *patience) during(f func()) {
	p.change(func() { p.working++ })
	defer p.change(func() { p.working-- })
	f()
}

func (p *patience) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	if p.interrupted && p.working == 0 && !p.closed {
		p.closed = true
		close(p.channel())
	}
}
