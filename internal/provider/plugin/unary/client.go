// Package unary is a gRPC client for calls to a server on the same machine. All that a call sends is known
// when it begins.
//
// A general gRPC client costs several times as much as such a call needs: it passes every message between
// goroutines that serve streams, measures the network, and writes each frame by itself. Here the caller
// encodes its request into the output of the connection, all gathered output is written at once, and one
// goroutine reads the responses. Memory of messages is overwritten as soon as it is not needed, because
// messages contain secrets.
//
// Start reading at [Client]. A connection is in conn.go (calls and their output) and read.go (its input).
//
// The package implements RFC 9113 and the gRPC protocol over HTTP/2 as far as they bind a client without
// compression and metadata. It knows no methods and no providers.
package unary

import (
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"sync/atomic"

	"google.golang.org/protobuf/proto"
)

// maxMessage limits the bytes of a message, in both directions.
const maxMessage = math.MaxInt32

// Client makes calls to one server. It connects with the first call, and again with the first call after a
// connection has ended. Its methods may be called concurrently. Errors have a Code.
type Client struct {
	dial    func(context.Context) (net.Conn, error)
	current atomic.Pointer[conn]
	// turn has one place, which is taken while connecting and closing.
	turn   chan struct{}
	conns  []*conn // connections that may be running; protected by turn, as is closed
	closed bool
	// closing ends when Close is called: nothing waits for a connection any more.
	closing context.Context
	close   context.CancelFunc
}

// NewClient returns a client that connects with dial, which must negotiate encryption, if any, by itself.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client {
	c := &Client{dial: dial, turn: make(chan struct{}, 1)}
	c.closing, c.close = context.WithCancel(context.Background())
	return c
}

// Call calls a method, such as "/tfplugin6.Provider/ReadResource". The end of ctx ends the call.
func (c *Client) Call(ctx context.Context, method string, request, response proto.Message) error {
	return c.CallMany(ctx, method, []proto.Message{request}, response)
}

// CallMany is Call for a method with a stream of requests, of which there is at least one. They are sent one
// after the other without waiting for anything in between.
func (c *Client) CallMany(ctx context.Context, method string, requests []proto.Message, response proto.Message) error {
	message, err := c.roundTrip(ctx, method, requests, nil)
	if err != nil {
		return err
	}
	defer message.free()
	if err := proto.Unmarshal(message.content(), response); err != nil {
		return fail(Internal, "the response of %s is malformed", method)
	}
	return nil
}

// CallRaw is Call, and returns the response in encoded form. The caller owns the bytes, which are not
// overwritten.
func (c *Client) CallRaw(ctx context.Context, method string, request proto.Message) ([]byte, error) {
	message, err := c.roundTrip(ctx, method, []proto.Message{request}, nil)
	if err != nil {
		return nil, err
	}
	return message.content(), nil
}

// Stream is Call for a method with many responses. It calls each with every one of them in encoded form,
// which is overwritten afterwards. The function must not use the client, and while it blocks, so does every
// call on the connection: see Receive. Stream returns when the server ends the call.
func (c *Client) Stream(ctx context.Context, method string, request proto.Message, each func(response []byte)) error {
	rest, err := c.roundTrip(ctx, method, []proto.Message{request}, each)
	rest.free()
	return err
}

// roundTrip makes a call. A call that the server certainly did not begin to process is repeated once.
func (c *Client) roundTrip(ctx context.Context, method string, requests []proto.Message, each func([]byte)) (buffer, error) {
	if err := ctx.Err(); err != nil {
		return buffer{}, contextError(err)
	}
	message, err := newRequest(requests...)
	if err != nil {
		return buffer{}, fail(Internal, "the request of %s cannot be encoded", method)
	}
	defer message.free()
	for attempt := 0; ; attempt++ {
		cn, err := c.connection(ctx)
		if err != nil {
			return buffer{}, err
		}
		response, err := cn.call(ctx, method, message.bytes, each)
		if attempt == 0 && errors.Is(err, errUnprocessed) {
			continue
		}
		if errors.Is(err, errUnprocessed) {
			err = failUnsent("the server accepts no calls")
		}
		return response, err
	}
}

// connection returns a connection that accepts calls.
func (c *Client) connection(ctx context.Context) (*conn, error) {
	if cn := c.current.Load(); cn != nil && !cn.draining.Load() {
		return cn, nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, contextError(ctx.Err())
	}
	if c.closed {
		return nil, fail(Canceled, "the client is closed")
	}
	old := c.current.Load()
	if old != nil && !old.draining.Load() {
		return old, nil
	}
	connecting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.closing, cancel)()
	nc, err := c.dial(connecting)
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return nil, contextError(ctx.Err())
		case c.closing.Err() != nil:
			return nil, fail(Canceled, "the client is closed")
		}
		return nil, failUnsent("no connection: %s", err)
	}
	cn := newConn(nc)
	c.conns = append(slices.DeleteFunc(c.conns, (*conn).hasEnded), cn)
	c.current.Store(cn)
	return cn, nil
}

// Close ends the client with the calls that have not returned. It returns when nothing of it runs any more.
func (c *Client) Close() {
	c.close() // a server that is halted may never answer the one that connects, which has the turn
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.closed = true
	for _, cn := range c.conns {
		cn.end(fail(Canceled, "the client is closed"))
		<-cn.readEnded
	}
}
