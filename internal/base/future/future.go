// Package future is the one concurrency primitive of the evaluator: Cell, a value computed at most once, by
// the first task that demands it and on its goroutine. Other tasks that demand it meanwhile wait. A demand
// that would close a cycle of waiting tasks can never be met and returns that cycle instead.
//
// It imports the standard library only and knows nothing of the computations.
package future

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Task is one thread of demand: the calls that a worker makes while it computes. A Task must be used by one
// goroutine at a time. The zero value is ready to use.
type Task struct {
	stack   []Frame
	via     any // of the demand that the task waits for; written before waiting is set
	waiting atomic.Pointer[core]
	// Rank says how urgent the work of the task is, for the order in which tasks get shared resources. A
	// higher rank goes first.
	Rank int64
	// Next is the highest rank of the work that begins after the task; 0 if there is none.
	Next int64
	// Park, if set, is called before the task waits for another one, and Unpark afterwards. A pool uses
	// them to keep its workers busy.
	Park, Unpark func()
}

// Frame is one step of a chain of demands: the cell being computed, and where the demand for it came from.
type Frame struct {
	Label any   // of the cell, or as given to Enter
	Via   any   // as given to Get
	cell  *core // nil for Enter
}

// Cycle reports a demand that can never be met. Frames is the chain in order: each frame's computation
// demanded the next, and the last demanded the first.
type Cycle struct{ Frames []Frame }

// Error returns a short text; the frames have the details.
func (c *Cycle) Error() string { return "a value depends on itself" }

const (
	idle uint32 = iota
	running
	done
)

// core is the part of a Cell that does not depend on the type of its value, so that cells of all types can
// form one chain of waiting tasks.
type core struct {
	state atomic.Uint32
	owner atomic.Pointer[Task]
	mu    sync.Mutex
	wake  chan struct{} // made only if a task must wait; protected by mu
}

// Cell is a value computed at most once. The zero value is empty; a Cell must not be copied after first use.
type Cell[T any] struct {
	core
	v T
}

// Done reports whether the value is computed.
func (c *Cell[T]) Done() bool { return c.state.Load() == done }

// Peek returns the value if it is computed.
func (c *Cell[T]) Peek() (T, bool) {
	if c.state.Load() == done {
		return c.v, true
	}
	var zero T
	return zero, false
}

// Set stores a value computed elsewhere. It must not be called on a cell that may have been demanded.
func (c *Cell[T]) Set(v T) {
	c.v = v
	c.state.Store(done)
}

// Get returns the value, computing it with f if this is the first demand. label describes the cell, and via
// where the demand came from; both are kept only while computing, for Cycle. If the demand closes a cycle, f
// is not called, the error is the *Cycle, and the value is T's zero value: the caller must replace it by a
// legal placeholder. If f panics, the cell has T's zero value for other tasks and the panic continues.
func (c *Cell[T]) Get(t *Task, label, via any, f func() T) (T, *Cycle) {
	if c.state.Load() == done {
		return c.v, nil
	}
	if c.state.CompareAndSwap(idle, running) {
		c.owner.Store(t)
		t.stack = append(t.stack, Frame{Label: label, Via: via, cell: &c.core})
		defer c.finish(t)
		c.v = f()
		return c.v, nil
	}
	if cycle := c.await(t, via); cycle != nil {
		var zero T
		return zero, cycle
	}
	return c.v, nil
}

// Idle lets another task run until the returned function is called. The caller waits meanwhile for something
// other than a cell; it must not demand a value with t, nor call Idle again.
func (t *Task) Idle() (resume func()) {
	if t.Park == nil {
		return func() {}
	}
	t.Park()
	return t.Unpark
}

// Enter begins work for something that is not a cell: in a Cycle, a frame with the given label and origin
// represents it until the returned function is called.
func (t *Task) Enter(label, via any) (leave func()) {
	t.stack = append(t.stack, Frame{Label: label, Via: via})
	return func() { t.stack = t.stack[:len(t.stack)-1] }
}

func (c *core) finish(t *Task) {
	t.stack = t.stack[:len(t.stack)-1]
	c.mu.Lock()
	c.state.Store(done)
	c.owner.Store(nil)
	if c.wake != nil {
		close(c.wake)
	}
	c.mu.Unlock()
}

// await waits until c is done. It first publishes the cell that t waits for and then follows the chain of
// owners itself. Of all tasks that close a cycle, the last to publish is sure to see the others.
func (c *core) await(t *Task, via any) *Cycle {
	t.via = via
	t.waiting.Store(c)
	if c.trace(t) != nil {
		if cycle := c.withdraw(t); cycle != nil {
			return cycle
		}
	}
	c.mu.Lock()
	if c.state.Load() == done {
		c.mu.Unlock()
		t.waiting.Store(nil)
		return nil
	}
	if c.wake == nil {
		c.wake = make(chan struct{})
	}
	wake := c.wake
	c.mu.Unlock()
	if t.Park != nil {
		t.Park()
	}
	<-wake
	t.waiting.Store(nil)
	if t.Unpark != nil {
		t.Unpark()
	}
	return nil
}

// trace follows the chain of waiting tasks from c. It returns the cells on the chain if it leads to t, or
// nil. The chain may change meanwhile, so the answer may be wrong, unless there is a complete cycle through
// t: only its own tasks can break that.
func (c *core) trace(t *Task) []*core {
	var path []*core
	mark, steps := c, 0 // terminates in a cycle without t: mark moves up in growing strides until it is met again
	for at := c; at != nil; {
		path = append(path, at)
		owner := at.ownerNow()
		if owner == t {
			return path
		}
		if owner == nil {
			return nil
		}
		if at = owner.waiting.Load(); at == mark {
			return nil
		}
		if steps++; steps&(steps-1) == 0 {
			mark = at
		}
	}
	return nil
}

// breaking is held while a cycle is broken: of several tasks that see the same cycle, only the first
// withdraws its demand.
var breaking sync.Mutex

// withdraw gives up t's demand for c if it closes a cycle. Two equal looks at the chain prove that it was
// complete in between, because a task never waits again for the same cell and a cell never gets a second
// owner.
func (c *core) withdraw(t *Task) *Cycle {
	breaking.Lock()
	defer breaking.Unlock()
	path := c.trace(t)
	if path == nil || !slices.Equal(path, c.trace(t)) {
		return nil
	}
	frames := cyclePath(path)
	t.waiting.Store(nil)
	return &Cycle{Frames: frames}
}

// ownerNow returns the task computing c, or nil once c is done. A task first wins the right to compute and
// then stores itself as the owner. ownerNow waits for the second step, since it could otherwise miss a
// cycle through c.
func (c *core) ownerNow() *Task {
	for {
		if owner := c.owner.Load(); owner != nil {
			return owner
		}
		if c.state.Load() == done {
			return nil
		}
	}
}

// cyclePath collects the frames of a cycle of cells in which each owner waits for the next cell, and the last
// owner for the first cell. The owners' stacks are stable, because all of them wait.
func cyclePath(path []*core) []Frame {
	var frames []Frame
	via := path[len(path)-1].ownerNow().via
	for _, at := range path {
		owner := at.ownerNow()
		from := slices.IndexFunc(owner.stack, func(f Frame) bool { return f.cell == at })
		part := slices.Clone(owner.stack[from:])
		part[0].Via = via
		frames = append(frames, part...)
		via = owner.via
	}
	return frames
}
