package unary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// violation is a breach of the protocol by the server.
type violation http2.ErrCode

// Error implements error.
func (v violation) Error() string {
	return fmt.Sprintf("the server violated the protocol (%s)", http2.ErrCode(v))
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

// responseFields are what matters of response headers and trailers.
type responseFields struct {
	httpStatus, grpcStatus, message string
}

// read reads until the connection ends, and gives the calls that wait then their outcome.
func (c *conn) read() {
	defer close(c.readEnded)
	r := &reader{c: c}
	r.decoder = hpack.NewDecoder(4096, r.field)
	r.decoder.SetMaxStringLength(maxHeaders)
	err := r.frames()
	if v, ok := errors.AsType[violation](err); ok {
		c.end(status.Error(codes.Internal, v.Error()))
		return
	}
	c.end(lost(err))
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

// frame handles one frame. An error ends the connection: after a breach of the protocol, the meaning of
// what follows is not certain.
func (r *reader) frame(f frame) error {
	if r.open.stream != 0 && (f.kind != http2.FrameContinuation || f.stream != r.open.stream) {
		return violation(http2.ErrCodeProtocol)
	}
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f.kind {
	case http2.FrameData:
		return r.data(f)
	case http2.FrameHeaders:
		return r.headers(f)
	case http2.FrameContinuation:
		return r.continuation(f)
	case http2.FrameRSTStream:
		return r.reset(f)
	case http2.FrameSettings:
		return c.settings(f)
	case http2.FramePing:
		return c.ping(f)
	case http2.FrameGoAway:
		return c.goAway(f)
	case http2.FrameWindowUpdate:
		return c.windowUpdate(f)
	case http2.FramePushPromise:
		return violation(http2.ErrCodeProtocol)
	default:
		return nil // unknown frames are ignored, and priorities mean nothing to a client
	}
}

// data handles a part of a response.
func (r *reader) data(f frame) error {
	if f.stream == 0 {
		return violation(http2.ErrCodeProtocol)
	}
	// Streams have a window for a whole message; that of the connection is given back now and then.
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
	if f.flags.Has(http2.FlagDataEndStream) {
		r.c.finish(s, status.Error(codes.Internal, "the server ended the response without a status"))
	}
	return nil
}

// receive appends to the response.
func (s *stream) receive(content []byte) error {
	b := s.response.bytes
	if !s.headed {
		return status.Error(codes.Internal, "the response has no headers")
	}
	if len(b) < prefix {
		n := min(prefix-len(b), len(content))
		if b == nil {
			b = newBuffer(prefix).bytes
		}
		b, content = append(b, content[:n]...), content[n:]
		s.response.bytes = b
		if len(b) < prefix {
			return nil
		}
		size := binary.BigEndian.Uint32(b[1:])
		switch {
		case b[0] != 0:
			return status.Error(codes.Internal, "the response is compressed, which was not allowed")
		case size > maxMessage-prefix:
			return status.Errorf(codes.ResourceExhausted, "the response has %d bytes, more than %d", size, maxMessage-prefix)
		}
		// What the prefix announces may never come, so a long message gets its memory as it arrives.
		if need := min(prefix+int(size), firstRoom); cap(b) < need {
			b = append(newBuffer(need).bytes, b...)
		}
	}
	size := prefix + int(binary.BigEndian.Uint32(b[1:]))
	if len(content) > size-len(b) {
		return status.Error(codes.Internal, "the response is longer than it says")
	}
	s.response.bytes = append(grow(b, len(content)), content...)
	return nil
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
		return violation(http2.ErrCodeProtocol)
	}
	if !f.flags.Has(http2.FlagHeadersEndHeaders) {
		r.open, r.block = f, append(r.block[:0], content...)
		return nil
	}
	return r.headerBlock(f, content)
}

// continuation appends to headers that take several frames.
func (r *reader) continuation(f frame) error {
	if r.open.stream == 0 {
		return violation(http2.ErrCodeProtocol)
	}
	if r.block = append(r.block, f.content...); len(r.block) > maxHeaders {
		return violation(http2.ErrCodeEnhanceYourCalm)
	}
	if !f.flags.Has(http2.FlagContinuationEndHeaders) {
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
		return violation(http2.ErrCodeCompression)
	}
	if err := r.decoder.Close(); err != nil {
		return violation(http2.ErrCodeCompression)
	}
	s := r.c.streams[f.stream]
	if s == nil {
		return nil
	}
	s.headed = true
	if !f.flags.Has(http2.FlagHeadersEndStream) {
		if r.fields.httpStatus != "200" {
			r.c.drop(s, r.fields.outcome())
		}
		return nil
	}
	failure := r.fields.outcome()
	if failure == nil && !s.complete() {
		failure = status.Error(codes.Internal, "the response is incomplete")
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
		return status.Errorf(codes.Unknown, "the server does not answer as a gRPC server (HTTP status %q)", f.httpStatus)
	}
	code, err := strconv.ParseUint(f.grpcStatus, 10, 32)
	if err != nil {
		return status.Error(codes.Internal, "the server answered with an invalid status")
	}
	message, err := url.PathUnescape(f.message)
	if err != nil {
		message = f.message
	}
	return status.Error(codes.Code(code), message)
}

// reset handles the end of a stream by the server.
func (r *reader) reset(f frame) error {
	if len(f.content) != 4 || f.stream == 0 {
		return violation(http2.ErrCodeFrameSize)
	}
	s := r.c.streams[f.stream]
	if s == nil {
		return nil
	}
	code := http2.ErrCode(binary.BigEndian.Uint32(f.content))
	failure := status.Errorf(codes.Internal, "the server reset the call (%s)", code)
	switch code {
	case http2.ErrCodeRefusedStream:
		failure = errUnprocessed
	case http2.ErrCodeCancel:
		failure = status.Error(codes.Canceled, "the server canceled the call")
	case http2.ErrCodeEnhanceYourCalm:
		failure = status.Error(codes.ResourceExhausted, "the server refuses more calls")
	}
	r.c.finish(s, failure)
	return nil
}

// settings takes over what the server allows, and acknowledges it.
func (c *conn) settings(f frame) error {
	if f.flags.Has(http2.FlagSettingsAck) {
		return nil
	}
	if len(f.content)%6 != 0 || f.stream != 0 {
		return violation(http2.ErrCodeFrameSize)
	}
	for at := 0; at < len(f.content); at += 6 {
		value := binary.BigEndian.Uint32(f.content[at+2:])
		switch http2.SettingID(binary.BigEndian.Uint16(f.content[at:])) {
		case http2.SettingHeaderTableSize:
			c.encoder.SetMaxDynamicTableSizeLimit(value)
		case http2.SettingMaxConcurrentStreams:
			c.maxStreams = int(min(value, 1<<30))
		case http2.SettingInitialWindowSize:
			if value > maxWindow {
				return violation(http2.ErrCodeFlowControl)
			}
			for _, s := range c.streams {
				s.window += int64(value) - c.initialWindow
			}
			c.initialWindow = int64(value)
		case http2.SettingMaxFrameSize:
			if value < maxFrame || value > 1<<24-1 {
				return violation(http2.ErrCodeProtocol)
			}
			c.frameSize = int(value)
		}
	}
	c.out = appendFrame(grow(c.out, frameHead), http2.FrameSettings, http2.FlagSettingsAck, 0, 0)
	c.flush()
	c.allow()
	return nil
}

// ping answers a ping. Answers to pings are ignored, since this side sends none.
func (c *conn) ping(f frame) error {
	if len(f.content) != 8 || f.stream != 0 {
		return violation(http2.ErrCodeFrameSize)
	}
	if !f.flags.Has(http2.FlagPingAck) {
		c.acknowledge([8]byte(f.content))
	}
	return nil
}

// goAway handles that the server accepts no more calls and ends those after the last that it processes.
func (c *conn) goAway(f frame) error {
	if len(f.content) < 8 || f.stream != 0 {
		return violation(http2.ErrCodeFrameSize)
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
		return violation(http2.ErrCodeFrameSize)
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
		return violation(http2.ErrCodeFlowControl)
	}
	c.allow()
	return nil
}
