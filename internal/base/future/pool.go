package future

import (
	"runtime"
	"sync"
)

// Pool runs functions on a bounded number of workers. While a worker's task waits for another task, a
// further worker may run in its place, so that waiting does not reduce throughput; maxParked bounds how
// many tasks wait in this way. A pool cannot deadlock on cells, because a task only waits for tasks that
// run.
type Pool struct {
	mu      sync.Mutex
	queue   queue
	running int
	parked  int
	limit   int
	idle    *sync.Cond
}

const maxParked = 1024

// NewPool returns a pool that runs up to limit functions at once.
func NewPool(limit int) *Pool {
	p := &Pool{limit: max(limit, 1)}
	p.idle = sync.NewCond(&p.mu)
	return p
}

// Go queues f with rank 0.
func (p *Pool) Go(f func(*Task)) { p.GoRanked(0, f) }

// GoRanked queues f. Functions with a higher rank start first, those with the same rank in the order in which
// they were queued. The task that runs f has the rank, too.
func (p *Pool) GoRanked(rank int64, f func(*Task)) {
	p.mu.Lock()
	p.queue.push(rank, f)
	p.start()
	p.mu.Unlock()
}

// Highest returns the highest rank of the functions that are queued, -1 if there are none.
func (p *Pool) Highest() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue.heap) == 0 {
		return -1
	}
	return p.queue.heap[0].rank
}

// Wait returns when every queued function, including those queued meanwhile, has returned.
func (p *Pool) Wait() {
	p.mu.Lock()
	for p.running > 0 || p.parked > 0 || len(p.queue.heap) > 0 {
		p.idle.Wait()
	}
	p.mu.Unlock()
}

// start starts a worker if there is work and room for one. p.mu is held.
func (p *Pool) start() {
	if len(p.queue.heap) > 0 && p.running < p.limit && p.parked < maxParked {
		p.running++
		go p.work()
	}
}

func (p *Pool) work() {
	t := &Task{Park: p.park, Unpark: p.unpark}
	p.mu.Lock()
	for len(p.queue.heap) > 0 && p.running <= p.limit {
		next := p.queue.pop()
		p.mu.Unlock()
		t.Rank, t.Next = next.rank, 0
		next.run(t)
		runtime.Gosched() // lets tasks that waited for this one go on before a further one starts
		p.mu.Lock()
	}
	p.running--
	if p.running == 0 && p.parked == 0 && len(p.queue.heap) == 0 {
		p.idle.Broadcast()
	} else {
		p.start()
	}
	p.mu.Unlock()
}

func (p *Pool) park() {
	p.mu.Lock()
	p.running--
	p.parked++
	p.start()
	p.mu.Unlock()
}

func (p *Pool) unpark() {
	p.mu.Lock()
	p.running++
	p.parked--
	p.mu.Unlock()
}
