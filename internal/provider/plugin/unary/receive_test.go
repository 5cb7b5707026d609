package unary

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// counting serves a stream of so many responses of a kilobyte, each of which is counted when it has been
// sent. ended is closed when the server knows that the call has ended.
func counting(t *testing.T, responses int) (c *Client, sent *atomic.Int64, ended chan struct{}) {
	sent, ended = &atomic.Int64{}, make(chan struct{})
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "test.Service", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{
		StreamName: "Many", ServerStreams: true,
		Handler: func(_ any, stream grpc.ServerStream) error {
			defer close(ended)
			for i := 0; i < responses; i++ {
				if err := stream.SendMsg(wrapperspb.Bytes(make([]byte, 1<<10))); err != nil {
					return err
				}
				sent.Add(1)
			}
			return status.Error(codes.Aborted, "enough")
		},
	}}}, struct{}{})
	listener := bufconn.Listen(1 << 10)
	go func() { _ = s.Serve(listener) }() // returns when the server is stopped
	t.Cleanup(s.Stop)
	return newClient(t, listener.DialContext), sent, ended
}

const many = "/test.Service/Many"

func TestReceive(t *testing.T) {
	c, _, _ := counting(t, 1000)
	n := 0
	err := c.Receive(soon(t), many, wrapperspb.Bytes(nil), func(response []byte) bool {
		n++
		return len(response) > 1<<10
	})
	if n != 1000 || CodeOf(err) != Aborted {
		t.Errorf("got %d responses, and then %v, want 1000, and then the code %v", n, err, Aborted)
	}
}

// TestReceiverHoldsUpTheServer receives one response of very many, and then none for a while.
func TestReceiverHoldsUpTheServer(t *testing.T) {
	c, sent, ended := counting(t, 1<<20)
	held := int64(-1)
	err := c.Receive(soon(t), many, wrapperspb.Bytes(nil), func([]byte) bool {
		for held != sent.Load() {
			held = sent.Load()
			time.Sleep(20 * time.Millisecond)
		}
		return false
	})
	if err != nil {
		t.Error(err)
	}
	if held > 1000 {
		t.Errorf("the server sent %d responses although one was received", held)
	}
	select {
	case <-ended:
	case <-soon(t).Done():
		t.Error("the server is not told that nobody receives")
	}
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	c, _, ended := counting(t, 1<<20)
	ctx, cancel := context.WithCancel(soon(t))
	err := c.Receive(ctx, many, wrapperspb.Bytes(nil), func([]byte) bool {
		cancel()
		return true
	})
	if CodeOf(err) != Canceled {
		t.Errorf("got %v, want the code %v", err, Canceled)
	}
	<-ended
}
