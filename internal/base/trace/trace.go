// Package trace notes the work of a run, its duration and its structure, as spans: named stretches of time
// with a parent. A span has names, addresses and counts, and no values.
//
// The current span is carried by a context. If it has none, nothing is noted: Start then returns a nil span,
// whose methods do nothing, and costs a look into the context.
//
// It imports the standard library only. It must not know the work, nor where spans go.
package trace

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"
)

// Tracer makes spans. Its functions may be called concurrently.
type Tracer struct {
	Now    func() time.Time
	Random func() uint64 // for IDs
	Ended  func(*Span)   // receives each span once it has ended; it must not wait
	Began  func(*Span)   // receives each span when it begins; it must not wait. It may be nil
	// Wanted reports whether spans of a name are made at all, so that the others cost nothing; nil for all.
	Wanted func(name string) bool
	// Noted receives notes; it must not wait. It may be nil.
	Noted func(level Level, text string)
	// Propagates says that started programs and called services get the current span as theirs.
	Propagates bool
}

// Kind is the kind of a span, which decides how it is counted.
type Kind uint8

// The kinds of spans.
const (
	Operation Kind = iota
	Command        // a whole command; the only span without a parent in this process
	Call           // of a provider
)

// The keys of attributes.
const (
	Address  = "mayfly.address"       // of a resource instance or module
	Type     = "mayfly.resource.type" //
	Provider = "mayfly.provider"      // its address
	Action   = "mayfly.action"        // of the change that an operation is part of
	Version  = "mayfly.version"       // of an installed package
	Runner   = "mayfly.provisioner"   // the type of a provisioner
	Test     = "mayfly.test"          // the file of tests and its run
	Status   = "process.exit.code"    //
	Changes  = "mayfly.changes"       // how many a plan has
)

// Attribute is a property of a span. Number counts if Text is empty.
type Attribute struct {
	Key, Text string
	Number    int64
}

// ID identifies a span within its trace.
type ID [8]byte

// Context identifies a span in other processes. The zero value stands for no span.
type Context struct {
	Trace   [16]byte
	Span    ID
	Sampled bool   // spans are kept
	State   string // of other tracing systems, passed on as it is
}

// Span is a stretch of time. A nil one stands for nothing. It belongs to the goroutine that started it until
// Finish; its context may be used anywhere.
type Span struct {
	Context
	Parent     ID
	Name       string // of an operation, never of its object: there are few
	Kind       Kind
	Begin, End time.Time
	Failed     bool
	Attributes []Attribute

	tracer *Tracer
	mu     sync.Mutex // protects Attributes until the end
}

type spanKey struct{}

// Of returns the current span, nil if there is none.
func Of(ctx context.Context) *Span {
	s, _ := ctx.Value(spanKey{}).(*Span)
	return s
}

// With returns ctx with s as the current span.
func With(ctx context.Context, s *Span) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, s)
}

// Root begins a span for a whole command. Its parent is in another process, or none if it is the zero
// Context. sampled decides by the ID of the trace whether its spans are kept.
func (t *Tracer) Root(ctx context.Context, name string, parent Context, sampled func(Context) bool) (context.Context, *Span) {
	s := &Span{Context: parent, Parent: parent.Span, Name: name, Kind: Command, Begin: t.Now(), tracer: t}
	if s.Trace == [16]byte{} {
		put(s.Trace[:8], t.Random())
		put(s.Trace[8:], t.Random())
	}
	s.Sampled = sampled(s.Context)
	put(s.Span[:], t.Random())
	t.began(s)
	return With(ctx, s), s
}

func (t *Tracer) began(s *Span) {
	if t.Began != nil {
		t.Began(s)
	}
}

// Start begins a span that is part of the current one, and returns the context in which it is the current
// one.
func Start(ctx context.Context, name string) (context.Context, *Span) {
	parent := Of(ctx)
	if parent == nil {
		return ctx, nil
	}
	t := parent.tracer
	if t.Wanted != nil && !t.Wanted(name) {
		return ctx, nil
	}
	s := &Span{Context: parent.Context, Parent: parent.Span, Name: name, Begin: t.Now(), tracer: t}
	put(s.Span[:], t.Random())
	t.began(s)
	return With(ctx, s), s
}

// put writes random bytes, which an ID is made of. It is never zero, which would stand for none.
func put(id []byte, random uint64) {
	for i := range id {
		id[i] = byte(random >> (8 * i))
	}
	if random == 0 {
		id[0] = 1
	}
}

// Set adds an attribute. An empty text is left out.
func (s *Span) Set(key, text string) {
	if s == nil || text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Attributes = append(s.Attributes, Attribute{Key: key, Text: text})
}

// Text returns an attribute that was set; "" if it was not. It may be called concurrently.
func (s *Span) Text(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Text
		}
	}
	return ""
}

// All returns the attributes that have been set so far. It may be called concurrently.
func (s *Span) All() []Attribute {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.Attributes)
}

// SetNumber adds an attribute.
func (s *Span) SetNumber(key string, n int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Attributes = append(s.Attributes, Attribute{Key: key, Number: n})
}

// Finish ends the span. ok says whether its work succeeded.
func (s *Span) Finish(ok bool) {
	if s == nil {
		return
	}
	s.End, s.Failed = s.tracer.Now(), !ok
	s.tracer.Ended(s)
}

// Do calls f, which reports whether it succeeded, in a span of its own.
func Do(ctx context.Context, name string, f func(context.Context) (ok bool)) bool {
	ctx, span := Start(ctx, name)
	ok := f(ctx)
	span.Finish(ok)
	return ok
}

// Traceparent returns the span as the header traceparent has it; "" if the span is nil or is not to be known
// elsewhere.
func (s *Span) Traceparent() string {
	if s == nil || !s.tracer.Propagates {
		return ""
	}
	b := make([]byte, 0, parentLength)
	b = append(b, "00-"...)
	b = hex.AppendEncode(b, s.Trace[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, s.Span[:])
	if s.Sampled {
		return string(append(b, "-01"...))
	}
	return string(append(b, "-00"...))
}

// The variables by which programs pass a span on.
const (
	parentVariable = "TRACEPARENT"
	stateVariable  = "TRACESTATE"
)

// Environ returns the environment of a program that is part of the current span. It does not change environ.
func Environ(ctx context.Context, environ []string) []string {
	s := Of(ctx)
	parent := s.Traceparent()
	if parent == "" {
		return environ
	}
	out := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == parentVariable || name == stateVariable
	})
	out = append(out, parentVariable+"="+parent)
	if s.State != "" {
		out = append(out, stateVariable+"="+s.State)
	}
	return out
}

const (
	parentLength = len("00-") + 32 + len("-") + 16 + len("-00")
	maxState     = 512 // characters, which every system must pass on
)

// Parse returns the span of the headers traceparent and tracestate. It returns false for anything that is not
// well-formed, which is to be ignored.
func Parse(parent, state string) (Context, bool) {
	parent = strings.TrimSpace(parent)
	if len(parent) < parentLength || parent[:2] == "ff" || parent[:2] == "00" && len(parent) > parentLength || len(parent) > parentLength && parent[parentLength] != '-' {
		return Context{}, false
	}
	var c Context
	var version, flags [1]byte
	for _, part := range []struct {
		at, end int
		into    []byte
	}{{0, 2, version[:]}, {3, 35, c.Trace[:]}, {36, 52, c.Span[:]}, {53, 55, flags[:]}} {
		text := parent[part.at:part.end]
		if _, err := hex.Decode(part.into, []byte(text)); err != nil || strings.ToLower(text) != text || part.at > 0 && parent[part.at-1] != '-' {
			return Context{}, false
		}
	}
	if c.Trace == [16]byte{} || c.Span == (ID{}) {
		return Context{}, false
	}
	c.Sampled = flags[0]&1 != 0
	if len(state) <= maxState && !strings.ContainsFunc(state, func(r rune) bool { return r < ' ' || r > '~' }) {
		c.State = state
	}
	return c, true
}

// FromEnviron returns the span that this process is part of, by its environment variables; the zero Context
// if there is none.
func FromEnviron(vars map[string]string) Context {
	c, _ := Parse(vars[parentVariable], vars[stateVariable])
	return c
}
