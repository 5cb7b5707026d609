package telemetry

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// The types below are the messages of OTLP that are sent, with the names of its JSON form. wire.go has their
// numbers in the binary form. Numbers of 64 bits are strings in JSON.

// request has the content of either signal.
type request struct {
	Spans   []resourceSpans   `json:"resourceSpans,omitempty"`
	Metrics []resourceMetrics `json:"resourceMetrics,omitempty"`
}

type resource struct {
	Attributes []keyValue `json:"attributes"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type resourceSpans struct {
	Resource resource     `json:"resource"`
	Scopes   []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

// The kinds and the status of spans, and how sums are kept.
const (
	kindInternal  = 1
	kindClient    = 3
	statusError   = 2
	cumulative    = 2
	flagSampled   = 1
	flagHasRemote = 0x100 // whether the parent is in another process is known
	flagRemote    = 0x200
)

type span struct {
	TraceID    hexBytes   `json:"traceId"`
	SpanID     hexBytes   `json:"spanId"`
	State      string     `json:"traceState,omitempty"`
	ParentID   hexBytes   `json:"parentSpanId,omitempty"`
	Flags      uint32     `json:"flags"`
	Name       string     `json:"name"`
	Kind       int        `json:"kind"`
	Start      number     `json:"startTimeUnixNano"`
	End        number     `json:"endTimeUnixNano"`
	Attributes []keyValue `json:"attributes,omitempty"`
	Status     status     `json:"status"`
}

// status has no message: texts of errors may have values.
type status struct {
	Code int `json:"code,omitempty"`
}

type resourceMetrics struct {
	Resource resource       `json:"resource"`
	Scopes   []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scope    `json:"scope"`
	Metrics []metric `json:"metrics"`
}

type metric struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Unit        string    `json:"unit"`
	Histogram   histogram `json:"histogram"`
}

type histogram struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality"`
}

type point struct {
	Attributes []keyValue `json:"attributes"`
	Start      number     `json:"startTimeUnixNano"`
	Time       number     `json:"timeUnixNano"`
	Count      number     `json:"count"`
	Sum        float64    `json:"sum"`
	Min        float64    `json:"min"`
	Max        float64    `json:"max"`
	Buckets    []number   `json:"bucketCounts"`
	Bounds     []float64  `json:"explicitBounds"`
}

type keyValue struct {
	Key   string   `json:"key"`
	Value anyValue `json:"value"`
}

// anyValue is a text or a number.
type anyValue struct {
	Text   *string `json:"stringValue,omitempty"`
	Number *number `json:"intValue,omitempty"`
}

func textValue(s string) anyValue { return anyValue{Text: &s} }

// number is a number of 64 bits.
type number uint64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(n), 10)), nil
}

// hexBytes are bytes that JSON has as hexadecimal digits.
type hexBytes []byte

// MarshalText implements encoding.TextMarshaler.
func (b hexBytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, b), nil }

func nanos(t time.Time) number { return number(t.UnixNano()) }

// newSpan returns the message for a span. redact removes from a text the parts that must not be shown.
func newSpan(s *trace.Span, redact func(string) string) span {
	out := span{
		TraceID: s.Trace[:], SpanID: s.Context.Span[:], State: s.State, Name: s.Name, Kind: kindInternal, Start: nanos(s.Begin), End: nanos(s.End),
		Flags: flagSampled | flagHasRemote,
	}
	if s.Parent != (trace.ID{}) {
		out.ParentID = s.Parent[:]
		if s.Kind == trace.Command {
			out.Flags |= flagRemote
		}
	}
	if s.Kind == trace.Call {
		out.Kind = kindClient
	}
	if s.Failed {
		out.Status.Code = statusError
	}
	for _, a := range s.Attributes {
		kv := keyValue{Key: a.Key}
		if a.Text != "" {
			kv.Value = textValue(redact(a.Text))
		} else {
			n := number(a.Number)
			kv.Value.Number = &n
		}
		out.Attributes = append(out.Attributes, kv)
	}
	return out
}
