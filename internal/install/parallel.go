package install

import (
	"context"
	"slices"
	"sync"

	"github.com/apparentlymart/go-versions/versions"
	"golang.org/x/sync/errgroup"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// packagesAtOnce bounds how many packages are downloaded and verified at the same time.
const packagesAtOnce = 6

// turns orders the reports of concurrent tasks by task: reports of the first unfinished task are passed on at
// once, and reports of later tasks wait until all earlier tasks have ended. Only one call is made at a time.
// People see the same order in every run, without waiting for the slowest task.
type turns struct {
	mu    sync.Mutex
	head  int
	kept  map[int][]func()
	ended map[int]bool
}

// say calls f at once, or when it is the turn of task k.
func (t *turns) say(k int, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k == t.head {
		f()
		return
	}
	t.kept[k] = append(t.kept[k], f)
}

// end marks the end of task k's reports.
func (t *turns) end(k int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended[k] = true
	for t.ended[t.head] {
		delete(t.ended, t.head)
		t.head++
		for _, f := range t.kept[t.head] {
			f()
		}
		delete(t.kept, t.head)
	}
}

// atOnce runs n tasks, some of them at the same time, and returns their diagnostics in the order of the
// tasks. When ctx ends, no further task starts and only that is reported.
func atOnce(ctx context.Context, n int, task func(k int, say func(func())) diag.List) diag.List {
	t := &turns{kept: map[int][]func(){}, ended: map[int]bool{}}
	reports := make([]diag.List, n)
	var group errgroup.Group
	group.SetLimit(packagesAtOnce)
	for k := range n {
		group.Go(func() error {
			defer t.end(k)
			if ctx.Err() == nil {
				if err := bug.Call(func() { reports[k] = task(k, func(f func()) { t.say(k, f) }) }); err != nil {
					reports[k] = diag.Bug("a package", err)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // tasks return diagnostics instead
	if ctx.Err() != nil {
		return diag.Errorf("Installation interrupted", "%s Providers that were not installed completely were removed. Run the command again to install them.", diag.Sentence(context.Cause(ctx)))
	}
	return slices.Concat(reports...)
}

// inTurn passes the reports of one task to an observer when it is that task's turn.
type inTurn struct {
	to  Observer
	say func(func())
}

// Finding implements Observer.
func (o inTurn) Finding(p addr.Provider, constraints string) {
	o.say(func() { o.to.Finding(p, constraints) })
}

// Reusing implements Observer.
func (o inTurn) Reusing(p addr.Provider, v versions.Version) {
	o.say(func() { o.to.Reusing(p, v) })
}

// Installing implements Observer.
func (o inTurn) Installing(p addr.Provider, v versions.Version, cached bool) {
	o.say(func() { o.to.Installing(p, v, cached) })
}

// Installed implements Observer.
func (o inTurn) Installed(p addr.Provider, v versions.Version, proof string) {
	o.say(func() { o.to.Installed(p, v, proof) })
}

// Using implements Observer.
func (o inTurn) Using(p addr.Provider, v versions.Version, cached bool) {
	o.say(func() { o.to.Using(p, v, cached) })
}

// platformsInTurn passes the reports about one package to an observer when it is that package's turn.
type platformsInTurn struct {
	to  PlatformObserver
	say func(func())
}

// Fetching implements PlatformObserver.
func (o platformsInTurn) Fetching(p addr.Provider, v versions.Version, platform Platform) {
	o.say(func() { o.to.Fetching(p, v, platform) })
}

// Fetched implements PlatformObserver.
func (o platformsInTurn) Fetched(p addr.Provider, v versions.Version, platform Platform, proof string) {
	o.say(func() { o.to.Fetched(p, v, platform, proof) })
}
