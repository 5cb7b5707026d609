package lease_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/mayfly-iac/mayfly/internal/engine/lease"
)

// Example opens a token for two uses and closes it when the last one has ended.
func Example() {
	ctx := context.Background()
	pool := lease.NewPool[string, string](lease.Options[string]{CloseLimit: time.Second})
	defer pool.Shutdown()
	open := func() (lease.Thing[string], error) {
		fmt.Println("open")
		return lease.Thing[string]{Value: "secret", Close: func(context.Context) { fmt.Println("close") }}, nil
	}

	users := []string{"first", "second"}
	for range users {
		pool.Claim("token")
	}
	for _, user := range users {
		l, err := pool.Acquire("token", func(ready <-chan struct{}) error { <-ready; return nil }, open)
		if err != nil {
			log.Fatal(err)
		}
		pool.Waive("token") // the lease takes the place of the claim
		if _, err := l.Value(ctx); err != nil {
			log.Fatal(err)
		}
		fmt.Println("used by the", user)
		l.Release()
	}
	// Output:
	// open
	// used by the first
	// used by the second
	// close
}
