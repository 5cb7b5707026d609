package unary

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// joining serves a method that receives many requests and answers with their contents joined, but refuses a
// request that says so.
func joining(t *testing.T) (c *Client, sizes *[]int) {
	sizes = &[]int{}
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "test.Service", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{
		StreamName: "Join", ClientStreams: true,
		Handler: func(_ any, stream grpc.ServerStream) error {
			var all []byte
			for {
				var one wrapperspb.BytesValue
				err := stream.RecvMsg(&one)
				if errors.Is(err, io.EOF) {
					return stream.SendMsg(wrapperspb.Bytes(all))
				}
				if err != nil {
					return err
				}
				if string(one.Value) == "refuse" {
					return status.Error(codes.Aborted, "refused")
				}
				*sizes = append(*sizes, len(one.Value))
				all = append(all, one.Value...)
			}
		},
	}}}, struct{}{})
	listener := bufconn.Listen(1 << 10)
	go func() { _ = s.Serve(listener) }() // returns when the server is stopped
	t.Cleanup(s.Stop)
	return newClient(t, listener.DialContext), sizes
}

const joined = "/test.Service/Join"

func TestCallMany(t *testing.T) {
	c, sizes := joining(t)
	var requests []proto.Message
	var want []byte
	for i, n := range []int{3, 0, 100_000, 70_000, 1, 200_000} {
		content := bytes.Repeat([]byte{byte('a' + i)}, n)
		requests, want = append(requests, wrapperspb.Bytes(content)), append(want, content...)
	}
	var got wrapperspb.BytesValue
	if err := c.CallMany(soon(t), joined, requests, &got); err != nil || !bytes.Equal(got.Value, want) {
		t.Errorf("CallMany: got %d bytes and error %v, want %d bytes that are equal to the sent ones", len(got.Value), err, len(want))
	}
	if len(*sizes) != len(requests) {
		t.Errorf("got %d requests, of the sizes %v, want %d", len(*sizes), *sizes, len(requests))
	}
}

// TestCallManyEndsEarly has a server that answers long before it has received everything.
func TestCallManyEndsEarly(t *testing.T) {
	c, _ := joining(t)
	requests := []proto.Message{wrapperspb.Bytes([]byte("refuse"))}
	for range 100 {
		requests = append(requests, wrapperspb.Bytes(make([]byte, 1<<20)))
	}
	if err := c.CallMany(soon(t), joined, requests, &wrapperspb.BytesValue{}); CodeOf(err) != Aborted {
		t.Errorf("CallMany with too many bytes: got %v, want the code %v", err, Aborted)
	}
	var got wrapperspb.BytesValue
	if err := c.CallMany(soon(t), joined, requests[1:2], &got); err != nil || len(got.Value) != 1<<20 {
		t.Errorf("CallMany after a refused call: got %d bytes, %v, want %d bytes", len(got.Value), err, 1<<20)
	}
}
