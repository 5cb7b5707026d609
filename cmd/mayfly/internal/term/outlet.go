package term

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	xterm "golang.org/x/term"
)

const (
	// standstill is how long a program that should end waits for a reader that takes nothing.
	standstill = 5 * time.Second
	// piece is how many bytes are written at once. A piece taken shows that the reader is alive.
	piece = 4 << 10
)

// ErrUnread is the error of writing to a reader that took nothing for too long.
var ErrUnread = errors.New("its reader stopped reading, and the program was interrupted")

// Outlet writes output for a program that must be able to end even if its output is not read: a pager that
// waits, a stopped terminal, a full pipe. A write blocks until the reader has taken it or patience is over.
// It is safe for concurrent use.
type Outlet struct {
	// Filter replaces the bytes that Write is given, and may return the same slice; nil to write everything
	// as it is. It is set before the first Write.
	Filter func([]byte) []byte
	// Bottom is the bottom of the terminal: text appears above it. It is set before the first Write, and nil
	// if there is none.
	Bottom *Bottom

	to       io.Writer
	over     <-chan struct{} // closed when patience is over
	terminal bool

	mu      sync.Mutex // held to write
	pieces  chan []byte
	results chan result
	buf     []byte // handed over, and not touched until there is a result
	unread  bool   // given up: nothing follows the last piece, which may still be in flight
	failed  error  // the first one of a write, unless there was no reader any more
}

type result struct {
	n   int
	err error
}

// NewOutlet returns an outlet to a stream. over is closed when the program no longer waits for its reader.
func NewOutlet(to io.Writer, over <-chan struct{}) *Outlet {
	return &Outlet{to: to, over: over, terminal: Of(to) != nil}
}

// Write implements io.Writer. It fails with ErrUnread once the outlet has given up on its reader.
func (o *Outlet) Write(p []byte) (written int, err error) {
	var to io.Writer = direct{o}
	pass := to.Write
	if o.Bottom != nil && o.terminal {
		pass = func(p []byte) (int, error) { return o.Bottom.pass(to, p) }
	}
	if o.Filter == nil {
		return pass(p)
	}
	written, err = pass(o.Filter(p))
	if err == nil {
		written = len(p)
	}
	return min(written, len(p)), err
}

// Direct returns the bare stream, on which a status is drawn.
func (o *Outlet) Direct() io.Writer { return direct{o} }

type direct struct{ o *Outlet }

// Write implements io.Writer.
func (d direct) Write(p []byte) (int, error) { return d.o.write(p) }

func (o *Outlet) write(p []byte) (written int, err error) {
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
	if o.failed == nil && err != nil && !ReaderGone(err) {
		o.failed = err
	}
	return written, err
}

// writePiece hands a piece to the pump and waits for its result. The write itself is on another goroutine,
// because a blocked write to a pipe or terminal cannot be cancelled.
func (o *Outlet) writePiece(p []byte) (result, error) {
	if o.unread {
		return result{}, ErrUnread
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
		return result{}, ErrUnread
	}
}

// pump writes pieces until the channel is closed. It may block forever if the reader does.
func pump(to io.Writer, pieces <-chan []byte, results chan<- result) {
	for p := range pieces {
		n, err := to.Write(p)
		results <- result{n, err}
	}
}

// Close ends the outlet. It returns the error of the first write that failed, ErrUnread included; nil if all
// output was taken or its reader has gone.
func (o *Outlet) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pieces != nil {
		close(o.pieces)
		o.pieces = nil
	}
	return o.failed
}

// ReaderGone reports whether a write failed because its reader has gone: a program that has ended or a
// terminal that was closed.
func ReaderGone(err error) bool {
	return slices.ContainsFunc(goneErrors, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// Of returns the terminal that a stream is connected to, nil if it is not connected to one.
func Of(stream any) *os.File {
	if o, ok := stream.(*Outlet); ok {
		stream = o.to
	}
	f, ok := stream.(*os.File)
	if !ok || !xterm.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}

// Width returns the number of columns of a terminal. ok is false if it does not know.
func Width(terminal *os.File) (columns int, ok bool) {
	columns, _, err := xterm.GetSize(int(terminal.Fd()))
	return columns, err == nil
}

// Patience is over once the program was interrupted and the engine has stopped: output alone is then no
// reason to stay. Its zero value is ready to use.
type Patience struct {
	mu          sync.Mutex
	interrupted bool
	working     int
	ended       chan struct{}
	closed      bool
}

// Over is closed when patience is over.
func (p *Patience) Over() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.channel()
}

func (p *Patience) channel() chan struct{} {
	if p.ended == nil {
		p.ended = make(chan struct{})
	}
	return p.ended
}

// Interrupt notes that the program was interrupted.
func (p *Patience) Interrupt() { p.change(func() { p.interrupted = true }) }

// During calls f, which runs the engine. Patience is never over meanwhile: the engine handles interrupts,
// and its messages are still wanted.
func (p *Patience) During(f func()) {
	p.change(func() { p.working++ })
	defer p.change(func() { p.working-- })
	f()
}

func (p *Patience) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	if p.interrupted && p.working == 0 && !p.closed {
		p.closed = true
		close(p.channel())
	}
}
