//go:build !unix

package provider

import (
	"errors"
	"sync/atomic"
	"time"
)

// mapped fails: counts that survive a killed process need a mapped file.
func mapped(string, int) ([]atomic.Int64, error) {
	return nil, errors.New("counting is done on Unix systems only")
}

func processorTime() time.Duration { return 0 }
