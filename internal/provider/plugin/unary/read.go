package unary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"golang.org/x/net/http2/hpack"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// violation is a breach of the protocol by the server.
type violation errorCode

// Error implements error.
func (v violation) Error() string {
	return fmt.Sprintf("the server violated the protocol (%s)", errorCode(v))
}

// reader is the state of the goroutine that reads a connection.
type reader struct {
	c       *conn
	decoder *hpack.Decoder
	fields  responseFields
	block   []byte // header block without its end
	open    frame  // frame that began the block; its stream is 0 if none is open
	credit  uint32 // bytes received that the server's window has not been given back
}

// responseFields are the relevant response headers and trailers.
type responseFields struct {
	httpStatus, grpcStatus, message string
}

// read reads until the connection ends, and gives the calls that wait then their outcome.
func (c *conn) read() {
	defer close(c.readEnded)
	r := &reader{c: c}
	r.decoder = hpack.NewDecoder(4096, r.field)
	r.decoder.SetMaxStringLength(maxHeaders)
	err := bug.Catch(r.frames)
	if v, ok := errors.AsType[violation](err); ok {
		c.end(fail(Internal, "%s", v))
		return
	}
	if defect, ok := errors.AsType[*bug.Error](err); ok {
		err = fail(Internal, "%s", defect)
	} else {
		err = lost(err)
	}
	c.end(err)
}

// frames handles frames until the connection ends. The buffer has room for two frames and is overwritten as
// they are handled.
func (r *reader) frames() error {
	in := make([]byte, 2*(frameHead+maxFrame))
	have := 0
	for {
		n, err := r.c.nc.Read(in[have:])
		have += n
		used := 0
		for used < have {
			f, size, err := parseFrame(in[used:have])
			if err != nil {
				return err
			}
			if size == 0 {
				break
			}
			if err := r.frame(f); err != nil {
				return err
			}
			used += size
		}
		copy(in, in[used:have])
		clear(in[have-used : have])
		have -= used
		if err != nil {
			if have > 0 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
}

// frame handles one frame. An error ends the connection: after a breach of the protocol, the meaning of later
// frames is not certain.
func (r *reader) frame(f frame) error {
	if r.open.stream != 0 && (f.kind != frameContinuation || f.stream != r.open.stream) {
		return violation(resetProtocol)
	}
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f.kind {
	case frameData:
		return r.data(f)
	case frameHeaders:
		return r.headers(f)
	case frameContinuation:
		return r.continuation(f)
	case frameReset:
		return r.reset(f)
	case frameSettings:
		return c.settings(f)
	case framePing:
		return c.ping(f)
	case frameGoAway:
		return c.goAway(f)
	case frameWindow:
		return c.windowUpdate(f)
	case framePush:
		return violation(resetProtocol)
	default:
		return nil // unknown frames are ignored, and priorities mean nothing to a client
	}
}

// data handles a part of a response.
func (r *reader) data(f frame) error {
	if f.stream == 0 {
		return violation(resetProtocol)
	}
	// Streams have a window for a whole message; the connection's is given back now and then.
	if r.credit += uint32(len(f.content)); r.credit > maxWindow/2 {
		r.c.out = appendWindow(grow(r.c.out, frameHead+4), 0, r.credit)
		r.credit = 0
		r.c.flush()
	}
	content, err := f.unpadded()
	if err != nil {
		return err
	}
	s := r.c.streams[f.stream]
	if s == nil {
		return nil // its caller has left
	}
	if failure := s.receive(content); failure != nil {
		r.c.drop(s, failure)
		return nil
	}
	if s.each != nil && len(f.content) > 0 { // the responses together may have any length
		r.c.out = appendWindow(grow(r.c.out, frameHead+4), f.stream, uint32(len(f.content)))
		r.c.flush()
	}
	if f.flags.Has(flagEndStream) {
		r.c.finish(s, fail(Internal, "the server ended the response without a status"))
	}
	return nil
}

// receive appends to the response, or passes on each that is complete if there may be many.
func (s *stream) receive(content []byte) error {
	for {
		rest, err := s.collect(content)
		switch {
		case err != nil:
			return err
		case s.each == nil && len(rest) > 0:
			return fail(Internal, "the response is longer than it says")
		case s.each == nil || !s.complete():
			return nil
		}
		s.each(s.response.content())
		clear(s.response.bytes)
		s.response.bytes = s.response.bytes[:0]
		if content = rest; len(content) == 0 {
			return nil
		}
	}
}

// collect appends to one response, and returns the rest after it.
func (s *stream) collect(content []byte) (rest []byte, err error) {
	b := s.response.bytes
	if !s.headed {
		return nil, fail(Internal, "the response has no headers")
	}
	if len(b) < prefix {
		n := min(prefix-len(b), len(content))
		if b == nil {
			b = newBuffer(prefix).bytes
		}
		b, content = append(b, content[:n]...), content[n:]
		s.response.bytes = b
		if len(b) < prefix {
			return nil, nil
		}
		size := binary.BigEndian.Uint32(b[1:])
		switch {
		case b[0] != 0:
			return nil, fail(Internal, "the response is compressed, which was not allowed")
		case size > maxMessage-prefix:
			return nil, fail(ResourceExhausted, "the response has %d bytes, more than %d", size, maxMessage-prefix)
		}
		// The announced bytes may never come, so a long message gets its memory as it arrives.
		if need := min(prefix+int(size), firstRoom); cap(b) < need {
			b = append(newBuffer(need).bytes, b...)
		}
	}
	size := prefix + int(binary.BigEndian.Uint32(b[1:]))
	n := min(size-len(b), len(content))
	s.response.bytes = append(grow(b, n), content[:n]...)
	return content[n:], nil
}

// complete reports whether the response is all there.
func (s *stream) complete() bool {
	b := s.response.bytes
	return len(b) >= prefix && len(b) == prefix+int(binary.BigEndian.Uint32(b[1:]))
}

// headers handles the begin of headers or trailers.
func (r *reader) headers(f frame) error {
	content, err := f.unpadded()
	if err != nil {
		return err
	}
	if f.stream == 0 {
		return violation(resetProtocol)
	}
	if !f.flags.Has(flagEndHeaders) {
		r.open, r.block = f, append(r.block[:0], content...)
		return nil
	}
	return r.headerBlock(f, content)
}

// continuation appends to headers that take several frames.
func (r *reader) continuation(f frame) error {
	if r.open.stream == 0 {
		return violation(resetProtocol)
	}
	if r.block = append(r.block, f.content...); len(r.block) > maxHeaders {
		return violation(resetEnhanceYourCalm)
	}
	if !f.flags.Has(flagEndHeaders) {
		return nil
	}
	begin, block := r.open, r.block
	r.open, r.block = frame{}, nil
	return r.headerBlock(begin, block)
}

// headerBlock handles complete headers. They are decoded for abandoned streams too, since later ones refer to
// them.
func (r *reader) headerBlock(f frame, block []byte) error {
	r.fields = responseFields{}
	if _, err := r.decoder.Write(block); err != nil {
		return violation(resetCompression)
	}
	if err := r.decoder.Close(); err != nil {
		return violation(resetCompression)
	}
	s := r.c.streams[f.stream]
	if s == nil {
		return nil
	}
	s.headed = true
	if !f.flags.Has(flagEndStream) {
		if r.fields.httpStatus != "200" {
			r.c.drop(s, r.fields.outcome())
		}
		return nil
	}
	failure := r.fields.outcome()
	if failure == nil && !s.complete() && (s.each == nil || len(s.response.bytes) > 0) {
		failure = fail(Internal, "the response is incomplete")
	}
	r.c.finish(s, failure)
	return nil
}

// field takes over a decoded header.
func (r *reader) field(f hpack.HeaderField) {
	switch f.Name {
	case ":status":
		r.fields.httpStatus = f.Value
	case "grpc-status":
		r.fields.grpcStatus = f.Value
	case "grpc-message":
		r.fields.message = f.Value
	}
}

// outcome returns the error that the fields express, or nil.
func (f responseFields) outcome() error {
	if f.grpcStatus == "" {
		return fail(Unknown, "the server does not answer as a gRPC server (HTTP status %q)", f.httpStatus)
	}
	code, err := strconv.ParseUint(f.grpcStatus, 10, 32)
	if err != nil {
		return fail(Internal, "the server answered with an invalid status")
	}
	message, err := url.PathUnescape(f.message)
	if err != nil {
		message = f.message
	}
	return fail(Code(code), "%s", message)
}

// reset handles the end of a stream by the server.
func (r *reader) reset(f frame) error {
	if len(f.content) != 4 || f.stream == 0 {
		return violation(resetFrameSize)
	}
	s := r.c.streams[f.stream]
	if s == nil {
		return nil
	}
	code := errorCode(binary.BigEndian.Uint32(f.content))
	failure := fail(Internal, "the server reset the call (%s)", code)
	switch code {
	case resetRefusedStream:
		failure = errUnprocessed
	case resetCancel:
		failure = fail(Canceled, "the server canceled the call")
	case resetEnhanceYourCalm:
		failure = fail(ResourceExhausted, "the server refuses more calls")
	}
	r.c.finish(s, failure)
	return nil
}

// settings takes over the limits of the server, and acknowledges them.
func (c *conn) settings(f frame) error {
	if f.flags.Has(flagAck) {
		return nil
	}
	if len(f.content)%6 != 0 || f.stream != 0 {
		return violation(resetFrameSize)
	}
	for at := 0; at < len(f.content); at += 6 {
		value := binary.BigEndian.Uint32(f.content[at+2:])
		switch binary.BigEndian.Uint16(f.content[at:]) {
		case settingHeaderTable:
			c.encoder.SetMaxDynamicTableSizeLimit(value)
		case settingStreams:
			c.maxStreams = int(min(value, 1<<30))
		case settingWindow:
			if value > maxWindow {
				return violation(resetFlowControl)
			}
			for _, s := range c.streams {
				s.window += int64(value) - c.initialWindow
			}
			c.initialWindow = int64(value)
		case settingFrame:
			if value < maxFrame || value > 1<<24-1 {
				return violation(resetProtocol)
			}
			c.frameSize = int(value)
		}
	}
	c.out = appendFrame(grow(c.out, frameHead), frameSettings, flagAck, 0, 0)
	c.flush()
	c.allow()
	return nil
}

// ping answers a ping. Answers to pings are ignored, since this side sends none.
func (c *conn) ping(f frame) error {
	if len(f.content) != 8 || f.stream != 0 {
		return violation(resetFrameSize)
	}
	if !f.flags.Has(flagAck) {
		c.acknowledge([8]byte(f.content))
	}
	return nil
}

// goAway handles that the server accepts no more calls and ends calls after the last that it processes.
func (c *conn) goAway(f frame) error {
	if len(f.content) < 8 || f.stream != 0 {
		return violation(resetFrameSize)
	}
	last := binary.BigEndian.Uint32(f.content) & (1<<31 - 1)
	c.draining.Store(true)
	for id, s := range c.streams {
		if id > last {
			c.finish(s, errUnprocessed)
		}
	}
	c.allow()
	c.endDrained()
	return nil
}

// windowUpdate lets a call, or all of them, send more.
func (c *conn) windowUpdate(f frame) error {
	if len(f.content) != 4 {
		return violation(resetFrameSize)
	}
	window := &c.window
	if f.stream != 0 {
		s := c.streams[f.stream]
		if s == nil {
			return nil
		}
		window = &s.window
	}
	if *window += int64(binary.BigEndian.Uint32(f.content) & (1<<31 - 1)); *window > maxWindow {
		return violation(resetFlowControl)
	}
	c.allow()
	return nil
}
