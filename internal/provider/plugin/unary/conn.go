package unary

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// errUnprocessed is the outcome of a call that the server has not processed and will not.
var errUnprocessed = errors.New("the server did not process the call")

// ackDelay is how long the answer to a ping may wait for something else that is sent. Servers ping whenever
// they receive data, to measure the network. Answered at once, each call would have such a ping.
const ackDelay = 5 * time.Millisecond

// conn is a connection. Calls append their output to out, and one goroutine at a time writes it. So a call
// never waits in a write, whose end would not be in its power. Calls are numbered with odd stream IDs, as
// HTTP/2 has it for clients; once these are used up, the connection drains and the client makes another one.
type conn struct {
	nc        net.Conn
	readEnded chan struct{} // closed when the reading goroutine has ended
	draining  atomic.Bool   // no new calls are accepted

	mu      sync.Mutex
	streams map[uint32]*stream // the calls that wait for their responses
	nextID  uint32
	broken  error // why the connection has ended

	out, spare []byte
	writing    bool
	ackTimer   *time.Timer
	pings      [][8]byte // to be answered
	headers    bytes.Buffer
	encoder    *hpack.Encoder

	// Limits of the server. changed is closed, and replaced, when it allows more; nil if no call waits for
	// that.
	window, initialWindow int64
	frameSize             int
	maxStreams            int
	changed               chan struct{}
}

// stream is a call. The connection protects its fields until done is closed.
type stream struct {
	id       uint32
	window   int64
	response buffer
	headed   bool                  // response headers were received
	each     func(response []byte) // is called with each of many responses; nil if there is one only
	failure  error
	done     chan struct{}
}

// newConn sends the greeting and begins to read. The server's settings need not be awaited: until they come,
// the protocol's defaults apply.
func newConn(nc net.Conn) *conn {
	c := &conn{
		nc: nc, readEnded: make(chan struct{}), streams: map[uint32]*stream{}, nextID: 1,
		window: defaultWindow, initialWindow: defaultWindow, frameSize: maxFrame, maxStreams: 1 << 30,
	}
	c.encoder = hpack.NewEncoder(&c.headers)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = appendGreeting(grow(nil, 4<<10))
	c.flush()
	go c.read()
	return c
}

// call sends a message, which has its prefix, and waits for the response. If there may be many, each is
// called with them, else it is nil.
func (c *conn) call(ctx context.Context, method string, message []byte, each func([]byte)) (buffer, error) {
	s := &stream{each: each, done: make(chan struct{})}
	if err := c.send(ctx, s, method, message); err != nil {
		return buffer{}, err
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		c.abandon(s) // which changes nothing if the response came first
	}
	if errors.Is(s.failure, errAbandoned) {
		return buffer{}, contextError(ctx.Err())
	}
	if deadline, ok := ctx.Deadline(); ok && CodeOf(s.failure) == Canceled && !time.Now().Before(deadline) {
		return buffer{}, contextError(context.DeadlineExceeded) // the server noticed it first
	}
	return s.response, s.failure
}

// send opens a stream and sends the request as far as the server allows. It returns an error if there will be
// no response; if the server ends the call before that, the stream has the outcome.
func (c *conn) send(ctx context.Context, s *stream, method string, message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.draining.Load() && len(c.streams) >= c.maxStreams {
		if err := c.wait(ctx, s); err != nil {
			return err
		}
	}
	if c.draining.Load() {
		return errUnprocessed
	}
	s.id, s.window = c.nextID, c.initialWindow
	c.nextID += 2
	c.draining.Store(c.nextID > maxStreamID)
	c.streams[s.id] = s
	c.appendHeaders(ctx, s, method)
	for {
		n := int(min(int64(len(message)), int64(c.frameSize), s.window, c.window))
		if n <= 0 {
			if err := c.wait(ctx, s); err != nil {
				c.drop(s, errAbandoned)
				return err
			}
			if s.ended() {
				return nil
			}
			continue
		}
		var flags frameFlags
		if n == len(message) {
			flags = flagEndStream
		}
		c.out = append(appendFrame(grow(c.out, frameHead+n), frameData, flags, s.id, n), message[:n]...)
		s.window -= int64(n)
		c.window -= int64(n)
		if message = message[n:]; len(message) == 0 {
			c.flush()
			return nil
		}
	}
}

// wait waits, unlocked, until the server allows more, the stream ends or ctx does, which is an error.
func (c *conn) wait(ctx context.Context, s *stream) error {
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	changed := c.changed
	c.flush()
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-s.done:
		return nil
	case <-ctx.Done():
		return contextError(ctx.Err())
	}
}

// allow wakes the calls that wait for the server to allow more.
func (c *conn) allow() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// appendHeaders appends the HEADERS frame of a call. The header table makes it a few bytes after the first
// one.
func (c *conn) appendHeaders(ctx context.Context, s *stream, method string) {
	c.headers.Reset()
	field := func(name, value string) {
		// Writing to a bytes.Buffer does not fail.
		_ = c.encoder.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	field(":method", "POST")
	field(":scheme", "http")
	field(":path", method)
	field(":authority", "localhost")
	field("content-type", "application/grpc")
	field("te", "trailers")
	if deadline, ok := ctx.Deadline(); ok {
		left := max(0, time.Until(deadline).Milliseconds()) + 1                                                  // the server should not be the first to notice its end
		_ = c.encoder.WriteField(hpack.HeaderField{Name: "grpc-timeout", Value: timeout(left), Sensitive: true}) // not worth a place in the table
	}
	if s := trace.Of(ctx); s.Traceparent() != "" { // differs in each call, so that it is not worth a place either
		_ = c.encoder.WriteField(hpack.HeaderField{Name: "traceparent", Value: s.Traceparent(), Sensitive: true})
		if s.State != "" {
			_ = c.encoder.WriteField(hpack.HeaderField{Name: "tracestate", Value: s.State, Sensitive: true})
		}
	}
	c.out = grow(c.out, frameHead+c.headers.Len())
	c.out = appendFrame(c.out, frameHeaders, flagEndHeaders, s.id, c.headers.Len())
	c.out = append(c.out, c.headers.Bytes()...)
}

// timeout returns milliseconds in the form of the header, which has at most eight digits.
func timeout(millis int64) string {
	if millis < 1e8 {
		return strconv.FormatInt(millis, 10) + "m"
	}
	return strconv.FormatInt(min(millis/1000+1, 1e8-1), 10) + "S"
}

// errAbandoned is the failure of a stream whose caller has left.
var errAbandoned = errors.New("abandoned")

// abandon ends a call whose context has ended, unless it has its outcome.
func (c *conn) abandon(s *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(s, errAbandoned)
}

// drop ends a stream from this side.
func (c *conn) drop(s *stream, failure error) {
	if s.ended() {
		return
	}
	c.out = appendReset(grow(c.out, frameHead+4), s.id, resetCancel)
	c.finish(s, failure)
	c.flush()
}

// finish gives a call its outcome. The caller holds mu; the stream must not have ended.
func (c *conn) finish(s *stream, failure error) {
	delete(c.streams, s.id)
	if s.failure = failure; failure != nil {
		s.response.free()
		s.response = buffer{}
	}
	close(s.done)
	if len(c.streams)+1 >= c.maxStreams {
		c.allow()
	}
	c.endDrained()
}

// endDrained ends a connection that accepts no more calls and has none.
func (c *conn) endDrained() {
	if c.draining.Load() && len(c.streams) == 0 {
		c.fail(errUnprocessed)
	}
}

// ended reports whether the call has its outcome.
func (s *stream) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// flush makes sure that out is written. The caller holds mu. A write that is under way takes along bytes
// appended meanwhile.
func (c *conn) flush() {
	c.appendAcks()
	if !c.writing && len(c.out) > 0 && c.broken == nil {
		c.writing = true
		go c.write()
	}
}

// write writes out until it is empty. It does not hold mu while it writes, so that a server that does not
// read blocks this goroutine alone.
func (c *conn) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.out) > 0 && c.broken == nil {
		b := c.out
		c.out, c.spare = c.spare[:0], nil
		c.mu.Unlock()
		_, err := c.nc.Write(b)
		clear(b)
		c.mu.Lock()
		if cap(b) <= keptBuffer {
			c.spare = b
		}
		if err != nil {
			c.fail(lost(err))
		}
	}
	c.writing = false
}

// acknowledge answers a ping soon.
func (c *conn) acknowledge(ping [8]byte) {
	c.pings = append(c.pings, ping)
	if len(c.pings) > 1 {
		return
	}
	if c.ackTimer == nil {
		c.ackTimer = time.AfterFunc(ackDelay, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.flush()
		})
		return
	}
	c.ackTimer.Reset(ackDelay)
}

// appendAcks appends the answers to the pings that came.
func (c *conn) appendAcks() {
	if len(c.pings) == 0 {
		return
	}
	c.ackTimer.Stop()
	for _, p := range c.pings {
		c.out = append(appendFrame(grow(c.out, frameHead+len(p)), framePing, flagAck, 0, len(p)), p[:]...)
	}
	c.pings = c.pings[:0]
}

// hasEnded reports whether nothing can arrive any more.
func (c *conn) hasEnded() bool {
	select {
	case <-c.readEnded:
		return true
	default:
		return false
	}
}

// end ends the connection.
func (c *conn) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail(why)
}

// fail ends the connection and gives all calls the same outcome. The first reason counts. The caller holds
// mu.
func (c *conn) fail(why error) {
	if c.broken != nil {
		return
	}
	c.broken = why
	c.draining.Store(true)
	if c.ackTimer != nil {
		c.ackTimer.Stop()
	}
	under := c.nc
	if encrypted, ok := under.(*tls.Conn); ok {
		under = encrypted.NetConn() // closing the encrypted one would wait for writes
	}
	under.Close()
	for _, s := range c.streams {
		c.finish(s, why)
	}
	clear(c.out)
	c.out = nil
	c.allow()
}

// lost describes a connection that broke.
func lost(err error) error { return fail(Unavailable, "the connection broke: %s", err) }
