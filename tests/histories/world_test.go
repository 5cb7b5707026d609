package histories

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// world is the cloud of a history, which notes each change with its order.
type world struct {
	t     *testing.T
	cloud string
	over  chan struct{} // closed when the history has ended: calls of dead runs return then

	mu    sync.Mutex
	tick  int
	ops   []*operation
	busy  map[string]*operation // by name: begun and not ended
	acks  []ack
	wrong []string
}

// operation is a call of the provider that changes an object.
type operation struct {
	*run
	name     string
	old, new string            // ids; "" for none
	prior    int               // the run that had made the object as the run has seen it; 0 for none
	reads    map[string]int    // the runs that had made the objects which it was made of, by name
	asked    map[string]string // the tags
	at       int               // in the order of all changes; 0 if it was not carried out
}

func newWorld(t *testing.T) *world {
	return &world{t: t, cloud: t.TempDir(), over: make(chan struct{}), busy: map[string]*operation{}}
}

// next returns the number of the next change. w.mu is held.
func (w *world) next() int {
	w.tick++
	return w.tick
}

// launcher launches the providers of a run within this process.
type launcher struct {
	*run
	*history
}

// Launch implements provider.Launcher.
func (l launcher) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	server, err := simprovider.New6(simprovider.Options{Dir: l.w.cloud})
	if err != nil {
		return nil, diag.Errorf("Test provider", "%s", err)
	}
	dial, stop := simprovider.InMemory(server)
	return &child{Provider: plugin.Connect(simcloud.Source, 6, dial, stop), launcher: l, r: rand.New(rand.NewPCG(l.seed, 9))}, nil
}

// child is the provider of a run.
type child struct {
	provider.Provider
	launcher
	mu    sync.Mutex
	r     *rand.Rand
	calls int // that change objects
}

// count counts an operation.
func (c *child) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return c.calls
}

// chance draws a number below n.
func (c *child) chance(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

// alive returns at once for a run that lives, and otherwise not before the history has ended, with an error.
func (c *child) alive() diag.List {
	select {
	case <-c.dead:
		<-c.w.over
		return diag.Errorf("Dead", "The run is dead.")
	default:
		return nil
	}
}

// ReadResource implements provider.Reader.
func (c *child) ReadResource(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	if diags := c.alive(); diags != nil {
		return provider.ReadResponse{}, diags
	}
	return c.Provider.ReadResource(ctx, req)
}

// ApplyResource implements provider.Changer. A run may die before, in and after it, and it may fail.
func (c *child) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	if diags := c.alive(); diags != nil {
		return provider.ApplyResponse{}, diags
	}
	op := c.begun(req)
	time.Sleep(time.Duration(c.chance(25)) * time.Millisecond)
	switch c.count() {
	case c.diesIn:
		c.kill(c.run)
	case c.freezesIn:
		c.proxy.Freeze(c.freezes)
	case c.lapsesIn:
		c.lapseIn(c.run)
	}
	carried := true
	select {
	case <-c.dead:
		carried = c.chance(2) == 0
	default:
	}
	if c.chance(100) < c.failing {
		c.ended(op)
		return provider.ApplyResponse{New: req.Prior, Private: req.PlannedPrivate, Identity: req.Identity}, diag.Errorf("Failed", "The operation on %s fails on purpose.", op.name)
	}
	if !carried {
		return provider.ApplyResponse{}, c.alive()
	}
	c.w.mu.Lock()
	resp, diags := c.Provider.ApplyResource(ctx, req)
	if diags.HasErrors() {
		c.w.wrong = append(c.w.wrong, fmt.Sprintf("the run %d cannot change %s: %s", c.run.number, op.name, diags.Err()))
	} else {
		op.at = c.w.next()
		if !resp.New.IsNull() {
			op.new = resp.New.GetAttr("id").AsString()
		}
	}
	c.w.mu.Unlock()
	if dead := c.alive(); dead != nil {
		return provider.ApplyResponse{}, dead
	}
	c.ended(op)
	return resp, diags
}

// begun notes that an operation has begun. None may be under way on the same object, unless its run is dead.
func (c *child) begun(req provider.ApplyRequest) *operation {
	op := &operation{run: c.run, reads: map[string]int{}}
	is := req.Prior
	if !req.Prior.IsNull() {
		op.old, op.prior = req.Prior.GetAttr("id").AsString(), runOf(req.Prior)
	}
	if !req.Planned.IsNull() {
		is, op.asked = req.Planned, tags(req.Planned)
		for pair := range strings.SplitSeq(op.asked["reads"], ",") {
			if name, by, ok := strings.Cut(pair, "="); ok {
				op.reads[name] = number(by)
			}
		}
	}
	op.name = is.GetAttr("name").AsString()
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if other := c.w.busy[op.name]; other != nil && other.run != c.run && !other.isDead() {
		c.w.wrong = append(c.w.wrong, fmt.Sprintf("the runs %d and %d change %s at the same time", other.number, c.run.number, op.name))
	}
	c.w.busy[op.name] = op
	c.w.ops = append(c.w.ops, op)
	return op
}

func (c *child) ended(op *operation) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.w.busy[op.name] == op {
		delete(c.w.busy, op.name)
	}
}

func tags(v cty.Value) map[string]string {
	out := map[string]string{}
	if t := v.GetAttr("tags"); t.IsKnown() && !t.IsNull() {
		for k, v := range t.AsValueMap() {
			if v.IsKnown() && !v.IsNull() {
				out[k] = v.AsString()
			}
		}
	}
	return out
}

// runOf returns the run that has made an object as it is.
func runOf(v cty.Value) int { return number(tags(v)["run"]) }

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
