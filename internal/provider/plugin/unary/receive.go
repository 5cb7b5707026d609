package unary

import (
	"bytes"
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// Receive is Stream with a function that may block and use the client: it runs on the goroutine of the
// caller. While it runs, nothing more is received, so the server waits, and the memory needed does not depend
// on the number of responses. The call has a connection of its own, which it can hold up without delaying
// others. If the function returns false, Receive cancels the call and returns nil.
func (c *Client) Receive(ctx context.Context, method string, request proto.Message, each func(response []byte) bool) error {
	own := NewClient(c.dial)
	defer own.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	responses, ended := make(chan []byte), make(chan error, 1)
	go func() {
		ended <- bug.Catch(func() error {
			return own.Stream(ctx, method, request, func(response []byte) {
				select {
				case responses <- bytes.Clone(response):
				case <-ctx.Done():
				}
			})
		})
	}()
	for {
		select {
		case response := <-responses:
			more := each(response)
			clear(response)
			if !more {
				return nil
			}
		case err := <-ended:
			return err
		}
	}
}
