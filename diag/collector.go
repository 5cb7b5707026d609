package diag

import (
	"slices"
	"sync"
)

// Collector gathers diagnostics from concurrent tasks. Of several that say the same about the same place it
// keeps one: the same expression may be evaluated more than once. The zero value is ready for use.
type Collector struct {
	// Redact returns a text of a diagnostic without secrets; nil if there are none. It is set before the
	// first Add.
	Redact func(string) string

	mu   sync.Mutex
	list List
	seen map[string]struct{}
	errs bool
	sure bool // one of the errors is about something else than an unknown value
}

// Add adds diagnostics.
func (c *Collector) Add(diags List) {
	if len(diags) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]struct{}{}
	}
	for _, d := range diags {
		if c.Redact != nil {
			d = d.redacted(c.Redact)
		}
		key := d.Severity.String() + "\x00" + d.Address + "\x00" + d.String()
		if _, ok := c.seen[key]; ok {
			continue
		}
		c.seen[key] = struct{}{}
		c.errs = c.errs || d.Severity == Error
		c.sure = c.sure || d.Severity == Error && !d.AboutUnknown()
		c.list = append(c.list, d)
	}
}

// HasErrors reports whether an error was added.
func (c *Collector) HasErrors() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.errs
}

// HasCertainErrors reports whether an error was added that is not merely about a value that is not known yet.
func (c *Collector) HasCertainErrors() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sure
}

// List returns the gathered diagnostics, in the order of their arrival.
func (c *Collector) List() List {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

// Take returns the diagnostics gathered since the last Take, in order. A diagnostic that is added again
// afterwards counts as new.
func (c *Collector) Take() List {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.list
	c.list, c.seen, c.errs, c.sure = nil, nil, false, false
	return taken
}

// redacted returns d with its texts redacted.
func (d Diagnostic) redacted(redact func(string) string) Diagnostic {
	d.Summary, d.Detail, d.Address = redact(d.Summary), redact(d.Detail), redact(d.Address)
	if len(d.Statements) > 0 {
		statements := make(map[string]string, len(d.Statements))
		for name, s := range d.Statements {
			statements[redact(name)] = redact(s)
		}
		d.Statements = statements
	}
	d.Parts = slices.Clone(d.Parts)
	for i, p := range d.Parts {
		d.Parts[i].Path, d.Parts[i].Statement = redact(p.Path), redact(p.Statement)
	}
	return d
}

// Redacted returns the diagnostics with their texts redacted.
func (l List) Redacted(redact func(string) string) List {
	if len(l) == 0 {
		return l
	}
	out := make(List, len(l))
	for i, d := range l {
		out[i] = d.redacted(redact)
	}
	return out
}
