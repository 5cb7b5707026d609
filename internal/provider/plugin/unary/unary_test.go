package unary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is the method of a test server.
type answer func(ctx context.Context, request []byte) ([]byte, error)

const method = "/test.Service/Method"

// TestStream receives many responses, in pieces and together of more bytes than a window has.
func TestStream(t *testing.T) {
	s := grpc.NewServer(grpc.MaxSendMsgSize(1 << 30))
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "test.Service", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{
		StreamName: "Many", ServerStreams: true,
		Handler: func(_ any, stream grpc.ServerStream) error {
			for i := range 100 {
				if err := stream.SendMsg(wrapperspb.Bytes(bytes.Repeat([]byte{byte(i)}, i*i*10))); err != nil {
					return err
				}
			}
			return status.Error(codes.Aborted, "enough")
		},
	}}}, struct{}{})
	listener := bufconn.Listen(1 << 10)
	go func() { _ = s.Serve(listener) }() // returns when the server is stopped
	defer s.Stop()
	c := newClient(t, listener.DialContext)
	n := 0
	err := c.Stream(soon(t), "/test.Service/Many", wrapperspb.Bytes(nil), func(response []byte) {
		var got wrapperspb.BytesValue
		if err := proto.Unmarshal(response, &got); err != nil || !bytes.Equal(got.Value, bytes.Repeat([]byte{byte(n)}, n*n*10)) {
			t.Errorf("response %d: got %d bytes, %v, want %d bytes %d", n, len(got.Value), err, n*n*10, n)
		}
		n++
	})
	if n != 100 || CodeOf(err) != Aborted {
		t.Errorf("got %d responses, and then %v, want 100, and then the code %v", n, err, Aborted)
	}
	if n := 0; c.Stream(soon(t), "/test.Service/Missing", wrapperspb.Bytes(nil), func([]byte) { n++ }) == nil || n > 0 {
		t.Error("a method that does not exist answers")
	}
}

// serve starts a gRPC server.
func serve(t testing.TB, f answer, options ...grpc.ServerOption) (*grpc.Server, *bufconn.Listener) {
	t.Helper()
	s := grpc.NewServer(append(options, grpc.MaxRecvMsgSize(1<<30), grpc.MaxSendMsgSize(1<<30))...)
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "test.Service", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Method",
		Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var in wrapperspb.BytesValue
			if err := decode(&in); err != nil {
				return nil, err
			}
			out, err := f(ctx, in.Value)
			return wrapperspb.Bytes(out), err
		},
	}}}, struct{}{})
	listener := bufconn.Listen(1 << 16)
	var wg sync.WaitGroup
	wg.Go(func() {
		// Serve returns when the server is stopped.
		_ = s.Serve(listener)
	})
	t.Cleanup(func() {
		s.Stop()
		wg.Wait()
	})
	return s, listener
}

func newClient(t testing.TB, dial func(context.Context) (net.Conn, error)) *Client {
	c := NewClient(dial)
	t.Cleanup(c.Close)
	return c
}

// connected returns a client of a server that answers with f.
func connected(t testing.TB, f answer, options ...grpc.ServerOption) *Client {
	_, listener := serve(t, f, options...)
	return newClient(t, listener.DialContext)
}

func echo(_ context.Context, request []byte) ([]byte, error) { return request, nil }

func ask(ctx context.Context, c *Client, request []byte) ([]byte, error) {
	var out wrapperspb.BytesValue
	err := c.Call(ctx, method, wrapperspb.Bytes(request), &out)
	return out.Value, err
}

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestMessagesOfAllSizes(t *testing.T) {
	c := connected(t, echo)
	for _, size := range []int{0, 1, 300, maxFrame - prefix - 3, maxFrame, 1 << 16, 1<<20 + 1, 9 << 20} {
		want := bytes.Repeat([]byte{'x'}, size)
		got, err := ask(soon(t), c, want)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %d bytes back, %v, want the %d bytes that were sent", len(got), err, size)
		}
	}
	raw, err := c.CallRaw(soon(t), method, wrapperspb.Bytes([]byte("raw")))
	if err != nil || string(raw) != "\x0a\x03raw" {
		t.Errorf("CallRaw: got %q, %v, want the encoded response %q", raw, err, "\x0a\x03raw")
	}
}

func TestConcurrentCalls(t *testing.T) {
	for _, limit := range []uint32{1, 3, 1000} {
		c := connected(t, echo, grpc.MaxConcurrentStreams(limit))
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				want := bytes.Repeat([]byte{byte(i)}, 1+i*i*50)
				if got, err := ask(soon(t), c, want); err != nil || !bytes.Equal(got, want) {
					t.Errorf("limit %d, call %d: got %d bytes, %v, want the %d bytes that were sent", limit, i, len(got), err, len(want))
				}
			})
		}
		wg.Wait()
	}
}

func TestStatus(t *testing.T) {
	want := status.Error(codes.FailedPrecondition, "50 % of \"ä\"\nare missing")
	c := connected(t, func(context.Context, []byte) ([]byte, error) { return nil, want })
	if _, err := ask(soon(t), c, nil); CodeOf(err) != FailedPrecondition || !strings.HasSuffix(err.Error(), status.Convert(want).Message()) {
		t.Errorf("got the error %v, want the code %v and the message %q", err, FailedPrecondition, status.Convert(want).Message())
	}
	if err := c.Call(soon(t), "/test.Service/Missing", wrapperspb.Bytes(nil), &wrapperspb.BytesValue{}); CodeOf(err) != Unimplemented {
		t.Errorf("missing method: got %v, want the code %v", err, Unimplemented)
	}
}

func TestEndOfTheContext(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	c := connected(t, func(ctx context.Context, request []byte) ([]byte, error) {
		if len(request) == 0 {
			return nil, nil
		}
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(soon(t))
	go func() {
		<-began
		cancel()
	}()
	if _, err := ask(ctx, c, []byte("wait")); CodeOf(err) != Canceled {
		t.Errorf("canceled call: got %v, want the code %v", err, Canceled)
	}
	<-ended
	ctx, cancel = context.WithTimeout(soon(t), 30*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, c, []byte("wait")); CodeOf(err) != DeadlineExceeded {
		t.Errorf("call out of time: got %v, want the code %v", err, DeadlineExceeded)
	}
	<-ended
	if _, err := ask(soon(t), c, nil); err != nil {
		t.Errorf("after that, calls fail: %v", err)
	}
}

// A peer that reads nothing must not hold a caller.
func TestStuckServer(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	c := newClient(t, func(context.Context) (net.Conn, error) { return here, nil })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, c, make([]byte, 1<<20)); CodeOf(err) != DeadlineExceeded {
		t.Errorf("call whose request does not get through: got %v, want the code %v", err, DeadlineExceeded)
	}
}

func TestServerGoesAway(t *testing.T) {
	began, proceed := make(chan struct{}), make(chan struct{})
	first, listener := serve(t, func(_ context.Context, request []byte) ([]byte, error) {
		close(began)
		<-proceed
		return request, nil
	})
	_, second := serve(t, echo)
	var dials atomic.Int32
	c := newClient(t, func(ctx context.Context) (net.Conn, error) {
		if dials.Add(1) == 1 {
			return listener.DialContext(ctx)
		}
		return second.DialContext(ctx)
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		if got, err := ask(soon(t), c, []byte("one")); err != nil || string(got) != "one" {
			t.Errorf("call that was in progress: got %q, %v, want \"one\"", got, err)
		}
	})
	<-began
	wg.Go(first.GracefulStop)
	for !c.current.Load().draining.Load() {
		time.Sleep(time.Millisecond)
	}
	if got, err := ask(soon(t), c, []byte("two")); err != nil || string(got) != "two" {
		t.Errorf("later call: got %q, %v, want \"two\"", got, err)
	}
	close(proceed)
	wg.Wait()
	if n := dials.Load(); n != 2 {
		t.Errorf("there were %d connections, want 2", n)
	}
}

func TestServerStops(t *testing.T) {
	began := make(chan struct{})
	server, listener := serve(t, func(ctx context.Context, _ []byte) ([]byte, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	c := newClient(t, listener.DialContext)
	go func() {
		<-began
		server.Stop()
	}()
	for range 2 {
		if _, err := ask(soon(t), c, nil); CodeOf(err) != Unavailable {
			t.Errorf("got %v, want the code %v", err, Unavailable)
		}
	}
}

func TestClose(t *testing.T) {
	began := make(chan struct{})
	c := connected(t, func(ctx context.Context, _ []byte) ([]byte, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	go func() {
		<-began
		c.Close()
	}()
	for range 2 {
		if _, err := ask(soon(t), c, nil); CodeOf(err) != Canceled {
			t.Errorf("got %v, want the code %v", err, Canceled)
		}
	}
	failing := newClient(t, func(context.Context) (net.Conn, error) { return nil, errors.New("no such file") })
	if _, err := ask(soon(t), failing, nil); CodeOf(err) != Unavailable || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("call without a server: got %v, want the code %v and the reason", err, Unavailable)
	}
}

// TestCloseWhileConnecting closes a client whose server doesn't answer the one that connects.
func TestCloseWhileConnecting(t *testing.T) {
	connecting := make(chan struct{})
	c := NewClient(func(ctx context.Context) (net.Conn, error) {
		close(connecting)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	var calls sync.WaitGroup
	calls.Go(func() {
		if _, err := ask(soon(t), c, nil); CodeOf(err) != Canceled {
			t.Errorf("got %v, want the code %v", err, Canceled)
		}
	})
	<-connecting
	c.Close()
	calls.Wait()
}

// E55: buffers are overwritten as soon as the messages in them are sent and received.
func TestE55_BuffersAreOverwritten(t *testing.T) {
	secret := []byte("correct horse battery staple")
	c := connected(t, echo)
	message, err := newRequest(wrapperspb.Bytes(secret))
	if err != nil {
		t.Fatal(err)
	}
	all := message.bytes[:cap(message.bytes)]
	message.free()
	if bytes.Contains(all, secret) {
		t.Error("a freed message is kept")
	}
	for range 3 {
		if got, err := ask(soon(t), c, secret); err != nil || !bytes.Equal(got, secret) {
			t.Fatal(got, err)
		}
	}
	cn := c.current.Load()
	for {
		cn.mu.Lock()
		idle, out, spare := !cn.writing, cn.out[:cap(cn.out)], cn.spare[:cap(cn.spare)]
		cn.mu.Unlock()
		if !idle {
			time.Sleep(time.Millisecond)
			continue
		}
		if bytes.Contains(slices.Concat(out, spare), secret) {
			t.Error("the output is kept")
		}
		break
	}
	old := append(make([]byte, 0, len(secret)), secret...)
	if grown := grow(old, 1); !bytes.Equal(grown, secret) || bytes.Contains(old, secret) {
		t.Errorf("growing %q leaves %q, want %q", grown, old, secret)
	}
}

func BenchmarkCall(b *testing.B) {
	c := connected(b, echo)
	for _, size := range []int{300, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			request := make([]byte, size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ask(b.Context(), c, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
