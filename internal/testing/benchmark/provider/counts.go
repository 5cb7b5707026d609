package provider

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/stats"
)

// The columns of a file of counts, each a number of eight bytes. After them follow three columns for each of
// the methods: calls, bytes in, bytes out.
const (
	colCPU    = iota // microseconds of processor time, user and system
	colOpens         // ephemeral instances that were opened and closed
	colOpen          // nanoseconds for which one of them was open, at most
	colBusy          // nanoseconds that calls took, in all
	firstCall        // the first column of the methods
)

// methods are the counted methods of the protocol.
var methods = []string{
	"other", "GetMetadata", "GetProviderSchema", "GetResourceIdentitySchemas", "GetFunctions", "ValidateProviderConfig", "ConfigureProvider", "StopProvider",
	"ValidateResourceConfig", "UpgradeResourceState", "UpgradeResourceIdentity", "ReadResource", "PlanResourceChange", "ApplyResourceChange", "ImportResourceState",
	"ValidateEphemeralResourceConfig", "OpenEphemeralResource", "RenewEphemeralResource", "CloseEphemeralResource",
}

var columns = firstCall + 3*len(methods)

// counts implements stats.Handler. Its numbers are in a file that is mapped into memory: they are there
// however the process ends.
type counts struct {
	slots []atomic.Int64
	index map[string]int
}

func newCounts(dir string) (*counts, error) {
	c := &counts{slots: make([]atomic.Int64, columns), index: map[string]int{}}
	for i, m := range methods {
		c.index[m] = firstCall + 3*i
	}
	if dir == "" {
		return c, nil
	}
	slots, err := mapped(filepath.Join(dir, fmt.Sprintf("%d.counts", os.Getpid())), columns)
	if err != nil {
		return nil, fmt.Errorf("no file for the counts: %w", err)
	}
	c.slots = slots
	return c, nil
}

func (c *counts) closed(open time.Duration) {
	c.slots[colOpens].Add(1)
	for longest := &c.slots[colOpen]; ; {
		have := longest.Load()
		if have >= int64(open) || longest.CompareAndSwap(have, int64(open)) {
			return
		}
	}
}

type methodKey struct{}

// TagRPC implements stats.Handler.
func (c *counts) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	i, ok := c.index[path.Base(info.FullMethodName)]
	if !ok || path.Base(path.Dir(info.FullMethodName)) != "tfplugin6.Provider" {
		i = firstCall
	}
	return context.WithValue(ctx, methodKey{}, i)
}

// HandleRPC implements stats.Handler.
func (c *counts) HandleRPC(ctx context.Context, s stats.RPCStats) {
	i, ok := ctx.Value(methodKey{}).(int)
	if !ok {
		return
	}
	switch s := s.(type) {
	case *stats.Begin: // the engine may end the process before the end of the last call is noted
		c.slots[i].Add(1)
	case *stats.InPayload:
		c.slots[i+1].Add(int64(s.WireLength))
	case *stats.OutPayload:
		c.slots[i+2].Add(int64(s.WireLength))
	case *stats.End:
		if i != firstCall {
			c.slots[colBusy].Add(int64(s.EndTime.Sub(s.BeginTime)))
		}
		c.slots[colCPU].Store(processorTime().Microseconds())
	}
}

// TagConn implements stats.Handler.
func (c *counts) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (c *counts) HandleConn(context.Context, stats.ConnStats) {}

// Call is how often a method was called, and the bytes of its requests and answers.
type Call struct{ Calls, In, Out int64 }

// Counts are the sums over all processes of the provider in a run.
type Counts struct {
	Processes int
	CPU       time.Duration
	Opens     int64         // ephemeral instances that were opened and closed
	Open      time.Duration // for which one of them was open, at most
	Busy      time.Duration // that calls took, in all
	Methods   map[string]Call
}

// Total sums up the methods of the protocol; methods of the plugin host, such as the one that ends a process,
// are left out.
func (c Counts) Total() Call {
	var t Call
	for m, call := range c.Methods {
		if m != "other" {
			t.Calls, t.In, t.Out = t.Calls+call.Calls, t.In+call.In, t.Out+call.Out
		}
	}
	return t
}

// Read sums up the files of counts in a directory, and removes them.
func Read(dir string) (Counts, error) {
	sum := Counts{Methods: map[string]Call{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.counts"))
	if err != nil {
		return sum, err
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return sum, err
		}
		if len(b) != 8*columns {
			return sum, fmt.Errorf("%s has %d bytes, not %d", file, len(b), 8*columns)
		}
		col := func(i int) int64 { return int64(binary.NativeEndian.Uint64(b[8*i:])) }
		sum.Processes++
		sum.CPU += time.Duration(col(colCPU)) * time.Microsecond
		sum.Opens += col(colOpens)
		sum.Open = max(sum.Open, time.Duration(col(colOpen)))
		sum.Busy += time.Duration(col(colBusy))
		for i, m := range methods {
			at := firstCall + 3*i
			if n := col(at); n > 0 {
				have := sum.Methods[m]
				sum.Methods[m] = Call{have.Calls + n, have.In + col(at+1), have.Out + col(at+2)}
			}
		}
		if err := os.Remove(file); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
