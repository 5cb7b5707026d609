package unary

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// rawFrame is a frame as a server sends it.
func rawFrame(kind http2.FrameType, flags http2.Flags, stream uint32, content ...byte) []byte {
	return append(appendFrame(nil, frameKind(kind), frameFlags(flags), stream, len(content)), content...)
}

// fields encodes headers without the dynamic table.
func fields(pairs ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		if err := e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1], Sensitive: true}); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

var (
	okHeaders = fields(":status", "200", "content-type", "application/grpc")
	okTrailer = fields("grpc-status", "0")
	hello     = []byte("\x00\x00\x00\x00\x07\x0a\x05hello")
)

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// answers are what a server sends in response to the first call, and what the caller gets: a code, or OK for
// "hello".
var answers = []struct {
	name string
	send []byte
	want Code
}{
	{"plain", join(
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, okHeaders...), rawFrame(http2.FrameData, 0, 1, hello...),
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1, okTrailer...),
	), OK},
	{"in pieces, with padding, priority and other frames between", join(
		rawFrame(http2.FrameSettings, 0, 0), rawFrame(http2.FramePriority, 0, 1, 0, 0, 0, 0, 0), rawFrame(0x77, 0xff, 1, 1, 2, 3),
		rawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersPriority, 1, append([]byte{2, 0, 0, 0, 0, 9}, append(okHeaders[:3:3], 0, 0)...)...),
		rawFrame(http2.FrameContinuation, 0, 1, okHeaders[3:5]...), rawFrame(http2.FrameContinuation, http2.FlagContinuationEndHeaders, 1, okHeaders[5:]...),
		rawFrame(http2.FrameData, http2.FlagDataPadded, 1, append([]byte{3}, append(hello[:2:2], 0, 0, 0)...)...), rawFrame(http2.FrameData, 0, 1),
		rawFrame(http2.FrameData, 0, 1, hello[2:7]...), rawFrame(http2.FrameData, 0, 1, hello[7:]...), rawFrame(http2.FrameData, 0, 99, hello...),
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1, okTrailer...),
	), OK},
	{"only a status", rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1, fields(":status", "200", "grpc-status", "9")...), FailedPrecondition},
	{"no gRPC", rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, fields(":status", "404")...), Unknown},
	{"a status that is no number", rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1, fields("grpc-status", "x")...), Internal},
	{"no message", join(
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, okHeaders...),
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1, okTrailer...),
	), Internal},
	{"half a message", join(
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, okHeaders...), rawFrame(http2.FrameData, 0, 1, hello[:8]...),
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1, okTrailer...),
	), Internal},
	{"two messages", join(
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, okHeaders...), rawFrame(http2.FrameData, 0, 1, join(hello, hello)...),
	), Internal},
	{"no trailers", join(
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, okHeaders...), rawFrame(http2.FrameData, http2.FlagDataEndStream, 1, hello...),
	), Internal},
	{"no headers", rawFrame(http2.FrameData, 0, 1, hello...), Internal},
	{"compressed", join(
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, okHeaders...), rawFrame(http2.FrameData, 0, 1, 1, 0, 0, 0, 0),
	), Internal},
	{"too long", join(
		rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, okHeaders...), rawFrame(http2.FrameData, 0, 1, 0, 0xff, 0xff, 0xff, 0xff),
	), ResourceExhausted},
	{"reset", rawFrame(http2.FrameRSTStream, 0, 1, number(uint32(http2.ErrCodeInternal))...), Internal},
	{"canceled", rawFrame(http2.FrameRSTStream, 0, 1, number(uint32(http2.ErrCodeCancel))...), Canceled},
	{"overloaded", rawFrame(http2.FrameRSTStream, 0, 1, number(uint32(http2.ErrCodeEnhanceYourCalm))...), ResourceExhausted},
	{"gone away, and no second connection", rawFrame(http2.FrameGoAway, 0, 0, make([]byte, 8)...), Unavailable},
	{"a frame that is too long", []byte{1, 0, 0, 0, 0, 0, 0, 0, 1}, Internal},
	{"padding longer than the frame", rawFrame(http2.FrameData, http2.FlagDataPadded, 1, 7, 1), Internal},
	{"data of no stream", rawFrame(http2.FrameData, 0, 0, 1), Internal},
	{"headers of no stream", rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 0, okHeaders...), Internal},
	{"headers that are not decodable", rawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, 0xff, 0xff, 0xff, 0xff, 0xff), Internal},
	{"a continuation of nothing", rawFrame(http2.FrameContinuation, 0, 1), Internal},
	{"a frame within headers", join(rawFrame(http2.FrameHeaders, 0, 1, okHeaders...), rawFrame(http2.FramePing, 0, 0, make([]byte, 8)...)), Internal},
	{"a push", rawFrame(http2.FramePushPromise, 0, 1), Internal},
	{"settings of half a length", rawFrame(http2.FrameSettings, 0, 0, 1, 2), Internal},
	{"a window that is too large", rawFrame(http2.FrameSettings, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff), Internal},
	{"a frame size that is too small", rawFrame(http2.FrameSettings, 0, 0, 0, 5, 0, 0, 0, 1), Internal},
	{"a window that overflows", rawFrame(http2.FrameWindowUpdate, 0, 0, 0x7f, 0xff, 0xff, 0xff), Internal},
	{"a ping of half a length", rawFrame(http2.FramePing, 0, 0, 1), Internal},
	{"half a frame", []byte{0, 0}, Unavailable},
	{"nothing", nil, Unavailable},
}

func TestAnswers(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			here, there := net.Pipe()
			dials := 0
			c := newClient(t, func(context.Context) (net.Conn, error) {
				if dials++; dials > 1 {
					return nil, errors.New("only one connection")
				}
				return here, nil
			})
			go func() {
				_, _ = there.Read(make([]byte, 4096)) // the greeting, or part of it
				go func() { _, _ = io.Copy(io.Discard, there) }()
				waitForCall(c)
				_, _ = there.Write(a.send)
				if a.want == Unavailable {
					there.Close()
				}
			}()
			t.Cleanup(func() { there.Close() })
			got, err := ask(soon(t), c, []byte("hi"))
			if CodeOf(err) != a.want || err == nil && string(got) != "hello" {
				t.Errorf("call: got %q, %v, want \"hello\" or the code %v", got, err, a.want)
			}
		})
	}
}

// waitForCall waits until the client has opened a stream.
func waitForCall(c *Client) {
	for {
		if cn := c.current.Load(); cn != nil {
			cn.mu.Lock()
			open := len(cn.streams) > 0
			cn.mu.Unlock()
			if open {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// Pings are answered, together with what else is sent or soon after.
func TestPing(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	cn := newConn(here)
	defer func() {
		cn.end(errUnprocessed)
		<-cn.readEnded
	}()
	answered := make(chan bool)
	go func() {
		var all []byte
		in := make([]byte, 4096)
		for {
			n, err := there.Read(in)
			all = append(all, in[:n]...)
			if found := bytes.Contains(all, rawFrame(http2.FramePing, http2.FlagPingAck, 0, []byte("payload1")...)); found || err != nil {
				answered <- found
				return
			}
		}
	}()
	if _, err := there.Write(rawFrame(http2.FramePing, 0, 0, []byte("payload1")...)); err != nil {
		t.Fatal(err)
	}
	if !<-answered {
		t.Error("the ping was not answered")
	}
}

// Whatever a server sends, the connection ends without a panic when the server does.
func FuzzRead(f *testing.F) {
	for _, a := range answers {
		f.Add(a.send)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		here, there := net.Pipe()
		cn := newConn(here)
		go func() { _, _ = io.Copy(io.Discard, there) }()
		s := &stream{id: 1, done: make(chan struct{})}
		cn.mu.Lock()
		cn.streams[1] = s
		cn.mu.Unlock()
		_, _ = there.Write(data)
		there.Close()
		<-cn.readEnded
		<-s.done
	})
}

// TestAnnouncedLength gives a response that announces two gigabytes no such memory in advance.
func TestAnnouncedLength(t *testing.T) {
	s := &stream{headed: true}
	if err := s.receive([]byte{0, 0x7f, 0xff, 0xff, 0xf0, 1}); err != nil {
		t.Fatal(err)
	}
	if got := cap(s.response.bytes); got > firstRoom {
		t.Errorf("the response has room for %d bytes, more than %d", got, firstRoom)
	}
}
