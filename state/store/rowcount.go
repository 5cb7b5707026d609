package store

import (
	"context"
	"sync/atomic"
)

// rowsKey is the key of a counter in a context.
type rowsKey struct{}

// WithRowCount returns a context for methods of managers in which the rows that the server sends are added to
// n. A store that has no rows adds nothing.
func WithRowCount(ctx context.Context, n *atomic.Int64) context.Context {
	return context.WithValue(ctx, rowsKey{}, n)
}

// CountRow counts a row that the server has sent, if the context has a counter. Stores with rows call it.
func CountRow(ctx context.Context) {
	if n, is := ctx.Value(rowsKey{}).(*atomic.Int64); is {
		n.Add(1)
	}
}
