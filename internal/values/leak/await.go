package leak

import "sync"

// awaited has the providers that were asked for values that are not remembered yet, by name.
type awaited struct {
	mu sync.Mutex
	by map[string]*asked
}

// asked is one of them.
type asked struct {
	open  int      // questions without an answer
	held  []func() // calls that wait for the answers
	calls bool     // held is being worked off
}

// Await says that a provider was asked for an ephemeral value: it may tell the value to its log before it
// answers. done must be called once the answer is remembered, or if there is none.
func (g *Guard) Await(name string) (done func()) {
	if g == nil {
		return func() {}
	}
	w := &g.awaited
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.by[name]
	if a == nil {
		if w.by == nil {
			w.by = map[string]*asked{}
		}
		a = &asked{}
		w.by[name] = a
	}
	a.open++
	return func() { w.answered(name, a) }
}

// answered ends a question, and makes the calls that have waited for the last one.
func (w *awaited) answered(name string, a *asked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.open--
	if a.calls {
		return
	}
	a.calls = true
	for a.open == 0 && len(a.held) > 0 {
		held := a.held
		a.held = nil
		w.mu.Unlock()
		for _, f := range held {
			f()
		}
		w.mu.Lock()
	}
	a.calls = false
	if a.open == 0 {
		delete(w.by, name)
	}
}

// WhenKnown calls f as soon as all that the provider was asked for is known: now, or by the done of the last
// question. Waiting functions are called in order.
func (g *Guard) WhenKnown(name string, f func()) {
	if g == nil {
		f()
		return
	}
	w := &g.awaited
	w.mu.Lock()
	a := w.by[name]
	if a != nil {
		a.held = append(a.held, f)
	}
	w.mu.Unlock()
	if a == nil {
		f()
	}
}
