package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// tracer returns a tracer that numbers its IDs, and the names of the spans that have ended.
func tracer() (t *trace.Tracer, ended *[]string) {
	ended = &[]string{}
	n := uint64(0)
	return &trace.Tracer{
		Now: func() time.Time { return time.Unix(int64(n), 0) }, Random: func() uint64 { n++; return n << 8 },
		Ended: func(s *trace.Span) { *ended = append(*ended, s.Name) }, Propagates: true,
	}, ended
}

func always(trace.Context) bool { return true }

// TestTree checks parents, the order of ends, and what programs are given.
func TestTree(t *testing.T) {
	tr, ended := tracer()
	ctx, root := tr.Root(t.Context(), "mayfly apply", trace.Context{}, always)
	child, a := trace.Start(ctx, "apply")
	grandchild, b := trace.Start(child, "create")
	if a.Parent != root.Span || b.Parent != a.Span || b.Trace != root.Trace || trace.Of(grandchild) != b {
		t.Errorf("got the parents %x and %x, want %x and %x, of one trace", a.Parent, b.Parent, root.Span, a.Span)
	}
	_, other := tr.Root(t.Context(), "mayfly plan", trace.Context{}, always)
	if a.Span == root.Span || b.Span == a.Span || bytes.Equal(other.Trace[:8], root.Trace[:8]) || bytes.Equal(other.Trace[8:], root.Trace[8:]) {
		t.Errorf("IDs that are equal: %x, %x, %x, %x and %x", root.Span, a.Span, b.Span, root.Trace, other.Trace)
	}
	environ := []string{"A=1", "TRACEPARENT=old", "TRACESTATE=old"}
	got := trace.Environ(grandchild, environ)
	if want := []string{"A=1", "TRACEPARENT=" + b.Traceparent()}; !slices.Equal(got, want) || environ[1] != "TRACEPARENT=old" {
		t.Errorf("the environment is %q, want %q", got, want)
	}
	parsed, ok := trace.Parse(b.Traceparent(), "k=v")
	if !ok || parsed.Trace != b.Trace || parsed.Span != b.Span || !parsed.Sampled || parsed.State != "k=v" {
		t.Errorf("Parse(%s): got %+v, %t, want the same trace and span, sampled, with its state", b.Traceparent(), parsed, ok)
	}
	b.Finish(true)
	a.Finish(false)
	root.Finish(false)
	if !slices.Equal(*ended, []string{"create", "apply", "mayfly apply"}) || !a.Failed || b.Failed || b.End.Before(b.Begin) {
		t.Errorf("ended: got %q, want %q", *ended, []string{"create", "apply", "mayfly apply"})
	}
}

// TestParentElsewhere continues the trace of another process.
func TestParentElsewhere(t *testing.T) {
	tr, _ := tracer()
	const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-00"
	given := trace.FromEnviron(map[string]string{"TRACEPARENT": parent, "TRACESTATE": "a=b"})
	ctx, root := tr.Root(t.Context(), "mayfly plan", given, func(c trace.Context) bool { return c.Sampled })
	got := trace.Environ(ctx, nil)
	if root.Parent != given.Span || len(got) != 2 || !strings.HasPrefix(got[0], "TRACEPARENT="+parent[:36]) || !strings.HasSuffix(got[0], "-00") || got[1] != "TRACESTATE=a=b" {
		t.Errorf("Environ: got %q, want it to continue %s, not sampled, with its state", got, parent)
	}
}

// TestOff checks that without a span nothing is noted, nothing is passed on and nothing is allocated.
func TestOff(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, 1)
	allocated := testing.AllocsPerRun(100, func() {
		inner, s := trace.Start(ctx, "create")
		s.Set(trace.Type, "x")
		s.SetNumber(trace.Changes, 1)
		s.Finish(true)
		if s != nil || inner != ctx || s.Traceparent() != "" || trace.With(ctx, s) != ctx {
			t.Fatal("a span without a tracer")
		}
	})
	if allocated != 0 {
		t.Errorf("got %v allocations, want 0", allocated)
	}
	if environ := []string{"TRACEPARENT=theirs"}; !slices.Equal(trace.Environ(ctx, environ), environ) {
		t.Error("the environment was changed")
	}
}

func TestParse(t *testing.T) {
	const good = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
	with := func(at int, text string) string { return good[:at] + text + good[at+len(text):] }
	for text, want := range map[string]bool{
		good: true, " " + good + "\n": true, "cc" + good[2:]: true, "cc" + good[2:] + "-more": true,
		"": false, good[:54]: false, good + "-more": false, "cc" + good[2:] + "more": false, "ff" + good[2:]: false, strings.ToUpper(good): false,
		with(2, "_"): false, with(35, "_"): false, with(52, "_"): false,
		with(1, "g"): false, with(4, "g"): false, with(37, "g"): false, with(54, "g"): false,
		with(0, "AA"): false, with(13, "A"): false, with(46, "A"): false, with(53, "A"): false,
		with(3, strings.Repeat("0", 32)): false, with(36, strings.Repeat("0", 16)): false,
	} {
		if c, ok := trace.Parse(text, ""); ok != want || !ok && c != (trace.Context{}) {
			t.Errorf("%q: got %t, want %t, with %v", text, ok, want, c)
		}
	}
	for flags, want := range map[string]bool{"00": false, "01": true, "02": false, "03": true} {
		if c, ok := trace.Parse(with(53, flags), ""); !ok || c.Sampled != want {
			t.Errorf("flags %s: sampled: got %t, want %t", flags, c.Sampled, want)
		}
	}
	for state, want := range map[string]bool{"a=b": true, "a=~ ": true, strings.Repeat("x", 512): true, strings.Repeat("x", 513): false, "a=b\nX: y": false, "a=\x1f": false, "a=\x7f": false, "a=é": false} {
		if c, ok := trace.Parse(good, state); !ok || (c.State == state) != want || !want && c.State != "" {
			t.Errorf("Parse, state %q: got %q, %t, want it kept: %t", state, c.State, ok, want)
		}
	}
	if c := trace.FromEnviron(nil); c != (trace.Context{}) {
		t.Errorf("without variables, there: got %v, want %v", c, (trace.Context{}))
	}
}

// TestAttributes reads what was set, also while others set more.
func TestAttributes(t *testing.T) {
	tr, _ := tracer()
	ctx, _ := tr.Root(t.Context(), "mayfly apply", trace.Context{}, always)
	_, s := trace.Start(ctx, "create")
	s.Set(trace.Type, "t")
	s.Set(trace.Provider, "")
	s.SetNumber(trace.Changes, 3)
	s.Set(trace.Address, "t.x")
	s.SetNumber(trace.Status, 0)
	want := []trace.Attribute{{Key: trace.Type, Text: "t"}, {Key: trace.Changes, Number: 3}, {Key: trace.Address, Text: "t.x"}, {Key: trace.Status}}
	if !slices.Equal(s.Attributes, want) {
		t.Errorf("got %v, want %v", s.Attributes, want)
	}
	for key, want := range map[string]string{trace.Type: "t", trace.Address: "t.x", trace.Provider: "", trace.Version: ""} {
		if got := s.Text(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

// TestBeginning has what spans begin with: their times, kinds and IDs, of which none is zero.
func TestBeginning(t *testing.T) {
	tr, ended := tracer()
	var began []string
	tr.Began = func(s *trace.Span) { began = append(began, s.Name) }
	tr.Random = func() uint64 { return 0 }
	state := trace.Context{Trace: [16]byte{1}, State: "a=b"}
	for _, parent := range []trace.Context{{}, state} {
		ctx, root := tr.Root(t.Context(), "root", parent, func(trace.Context) bool { return false })
		if !trace.Do(ctx, "good", func(inner context.Context) bool {
			s := trace.Of(inner)
			if s.Name != "good" || s.Kind != trace.Operation || s.Span == (trace.ID{}) || s.Trace != root.Trace || s.State != parent.State || s.Sampled {
				t.Errorf("operation: got %v, want a span of the trace of %v", s.Context, root.Context)
			}
			return true
		}) || trace.Do(ctx, "bad", func(context.Context) bool { return false }) {
			t.Error("what was done is reported the other way round")
		}
		if root.Kind != trace.Command || root.Span == (trace.ID{}) || root.Trace == [16]byte{} || parent.Trace != [16]byte{} && root.Trace != parent.Trace {
			t.Errorf("root: got %v, want a command's span in the trace of its parent, if any", root.Context)
		}
		root.Finish(true)
	}
	if want := []string{"root", "good", "bad", "root", "good", "bad"}; !slices.Equal(began, want) {
		t.Errorf("began: got %q, want %q", began, want)
	}
	if want := []string{"good", "bad", "root", "good", "bad", "root"}; !slices.Equal(*ended, want) {
		t.Errorf("ended: got %q, want %q", *ended, want)
	}
}

// TestUnpropagated passes nothing on if that is not wanted.
func TestUnpropagated(t *testing.T) {
	tr, _ := tracer()
	tr.Propagates = false
	ctx, root := tr.Root(t.Context(), "mayfly apply", trace.Context{}, always)
	if got := root.Traceparent(); got != "" {
		t.Errorf("Traceparent: got %s, want none passed on", got)
	}
	if got := trace.Environ(ctx, []string{"TRACEPARENT=theirs"}); !slices.Equal(got, []string{"TRACEPARENT=theirs"}) {
		t.Errorf("the environment: got %q, want %q", got, []string{"TRACEPARENT=theirs"})
	}
}

// TestNotes gives notes to what receives them, if anything does.
func TestNotes(t *testing.T) {
	quiet, _ := tracer()
	loud, _ := tracer()
	var got []string
	loud.Noted = func(level trace.Level, text string) { got = append(got, fmt.Sprint(level, " ", text)) }
	silent, _ := quiet.Root(t.Context(), "x", trace.Context{}, always)
	heard, _ := loud.Root(t.Context(), "x", trace.Context{}, always)
	for _, ctx := range []context.Context{t.Context(), silent, heard} {
		if trace.Note(ctx, trace.Info, "a %s", "b"); trace.Noting(ctx) != (ctx == heard) {
			t.Errorf("notes are received: got %t, want %t", trace.Noting(ctx), (ctx == heard))
		}
	}
	if want := []string{fmt.Sprint(trace.Info, " a b")}; !slices.Equal(got, want) {
		t.Errorf("received: got %q, want %q", got, want)
	}
}

// TestWanted makes no spans but those that are wanted. What is within the others is part of what they are
// part of.
func TestWanted(t *testing.T) {
	tr, ended := tracer()
	tr.Wanted = func(name string) bool { return name == "wanted" }
	ctx, root := tr.Root(t.Context(), "x", trace.Context{}, always)
	inner, none := trace.Start(ctx, "unwanted")
	_, span := trace.Start(inner, "wanted")
	if none != nil || inner != ctx || span == nil || span.Parent != root.Context.Span {
		t.Errorf("spans: got %v and %v, want none and one below the root", none, span)
	}
	span.Finish(true)
	none.Finish(true)
	root.Finish(true)
	if len(*ended) != 2 {
		t.Errorf("ended spans: got %q, want 2", *ended)
	}
}
