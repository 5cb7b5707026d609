package logs

import "sync/atomic"

// mostHeld is how many lines may wait.
const mostHeld = 20_000

// holder lets lines wait that may have values in them which are not known yet.
type holder struct {
	until         func(name string, f func()) // nil if everything is known always
	held, missing atomic.Int64
}

// hold calls write once everything is known that the named provider was asked for, and never if too many
// lines wait already. When none waits any more, tell is called with the number of dropped lines.
func (h *holder) hold(name string, write func(), tell func(missing int64)) {
	if h.until == nil {
		write()
		return
	}
	if h.held.Add(1) > mostHeld {
		h.held.Add(-1)
		h.missing.Add(1)
		return
	}
	h.until(name, func() {
		write()
		if h.held.Add(-1) == 0 {
			if n := h.missing.Swap(0); n > 0 {
				tell(n)
			}
		}
	})
}
