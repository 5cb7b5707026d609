package state

import (
	"slices"
	"sync"
)

// CheckCollector gathers the results of conditions by object. It is safe for concurrent use. The engine's
// steps report results in the order in which they end; Results puts them into one that does not depend on
// that.
type CheckCollector struct {
	mu      sync.Mutex
	order   []string // config addresses in order of first result
	results map[string]*CheckResult
	objects map[string]map[string]int // index into Objects by object address
}

// NewCheckCollector returns an empty collector.
func NewCheckCollector() *CheckCollector {
	return &CheckCollector{results: map[string]*CheckResult{}, objects: map[string]map[string]int{}}
}

// Add records the status of one condition of an object; the worst of an object's conditions is its status.
// failure is "" or the message of a failed condition. config is the static address of the block and object
// the address of one of its instances; for blocks without instances they are equal.
func (c *CheckCollector) Add(kind, config, object string, status CheckStatus, failure string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.results[config]
	if r == nil {
		r = &CheckResult{Kind: kind, Config: config, Status: CheckPass}
		c.results[config] = r
		c.objects[config] = map[string]int{}
		c.order = append(c.order, config)
	}
	i, ok := c.objects[config][object]
	if len(r.Objects) == 0 {
		r.Status = CheckPass // replaces the declared status
	}
	if !ok {
		i = len(r.Objects)
		c.objects[config][object] = i
		r.Objects = append(r.Objects, CheckObject{Addr: object, Status: CheckPass})
	}
	o := &r.Objects[i]
	if status.Worse(o.Status) {
		o.Status = status
	}
	if failure != "" && !slices.Contains(o.Failures, failure) {
		o.Failures = append(o.Failures, failure)
	}
	if o.Status.Worse(r.Status) {
		r.Status = o.Status
	}
}

// Declare records a block that may turn out to have no objects; the given status applies in that case. It
// leaves a block that has objects unchanged.
func (c *CheckCollector) Declare(kind, config string, status CheckStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results[config] != nil {
		return
	}
	c.results[config] = &CheckResult{Kind: kind, Config: config, Status: status}
	c.objects[config] = map[string]int{}
	c.order = append(c.order, config)
}

// Results returns the results ordered by address. The caller may change the slices: they are copies.
func (c *CheckCollector) Results() []CheckResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := slices.Sorted(slices.Values(c.order))
	var out []CheckResult
	for _, config := range order {
		r := *c.results[config]
		r.Objects = slices.SortedFunc(slices.Values(r.Objects), func(a, b CheckObject) int {
			if a.Addr < b.Addr {
				return -1
			}
			return 1
		})
		for i := range r.Objects {
			r.Objects[i].Failures = slices.Sorted(slices.Values(r.Objects[i].Failures))
		}
		out = append(out, r)
	}
	return out
}
