package trace_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/trace"
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
		t.Errorf("parents: %x of %x, %x of %x", a.Parent, root.Span, b.Parent, a.Span)
	}
	environ := []string{"A=1", "TRACEPARENT=old", "TRACESTATE=old"}
	got := trace.Environ(grandchild, environ)
	if want := []string{"A=1", "TRACEPARENT=" + b.Traceparent()}; !slices.Equal(got, want) || environ[1] != "TRACEPARENT=old" {
		t.Errorf("the environment is %q, want %q", got, want)
	}
	parsed, ok := trace.Parse(b.Traceparent(), "k=v")
	if !ok || parsed.Trace != b.Trace || parsed.Span != b.Span || !parsed.Sampled || parsed.State != "k=v" {
		t.Errorf("%s is parsed as %+v", b.Traceparent(), parsed)
	}
	b.Finish(true)
	a.Finish(false)
	root.Finish(false)
	if !slices.Equal(*ended, []string{"create", "apply", "mayfly apply"}) || !a.Failed || b.Failed || b.End.Before(b.Begin) {
		t.Errorf("ended: %q", *ended)
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
		t.Errorf("%q continues %s", got, parent)
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
		t.Errorf("%v allocations", allocated)
	}
	if environ := []string{"TRACEPARENT=theirs"}; !slices.Equal(trace.Environ(ctx, environ), environ) {
		t.Error("the environment was changed")
	}
}

func TestParse(t *testing.T) {
	const good = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
	for text, want := range map[string]bool{
		good: true, " " + good: true, "": false, good + "-more": false, "cc" + good[2:] + "-more": true, "cc" + good[2:] + "more": false, "ff" + good[2:]: false,
		strings.ToUpper(good): false, good[:54] + "g": false, strings.Replace(good, "-", "_", 1): false,
		"00-00000000000000000000000000000000-0123456789abcdef-01": false, "00-0123456789abcdef0123456789abcdef-0000000000000000-01": false,
	} {
		if _, ok := trace.Parse(text, ""); ok != want {
			t.Errorf("%q: %t, want %t", text, ok, want)
		}
	}
	for _, state := range []string{"a=b\nX: y", strings.Repeat("x", 513)} {
		if c, ok := trace.Parse(good, state); !ok || c.State != "" {
			t.Errorf("the state %q is passed on", state)
		}
	}
}
