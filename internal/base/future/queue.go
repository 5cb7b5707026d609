package future

// queued is a function that waits for a worker.
type queued struct {
	rank   int64
	number uint64 // how many were queued before
	run    func(*Task)
}

// before reports whether q starts before r: it has the higher rank or, with the same, was queued earlier.
func (q *queued) before(r *queued) bool {
	return q.rank > r.rank || q.rank == r.rank && q.number < r.number
}

// queue is a binary heap: no element starts before its parent, which is at half its index.
type queue struct {
	heap   []queued
	number uint64
}

func (q *queue) push(rank int64, run func(*Task)) {
	h := append(q.heap, queued{rank, q.number, run})
	q.number++
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	q.heap = h
}

// pop removes the function that starts first. The queue must not be empty.
func (q *queue) pop() queued {
	h, last := q.heap, len(q.heap)-1
	first := h[0]
	h[0], h[last] = h[last], queued{}
	h = h[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h[child].before(&h[least]) {
				least = child
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	q.heap = h
	return first
}
