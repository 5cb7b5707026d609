package telemetry

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The functions below append messages in the binary form of OTLP. A number that is 0 and a text that is ""
// are left out, as that form has it.

func appendText(b []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

func appendBytes(b []byte, n protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func appendInt(b []byte, n protowire.Number, v int) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

func appendFixed(b []byte, n protowire.Number, v number) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), uint64(v))
}

func appendDouble(b []byte, n protowire.Number, v float64) []byte {
	return appendFixed(b, n, number(math.Float64bits(v)))
}

// appendMessage appends a message that f makes.
func appendMessage(b []byte, n protowire.Number, f func([]byte) []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), f(nil))
}

// appendAll appends a message for each item.
func appendAll[T any](b []byte, n protowire.Number, items []T, f func(*T, []byte) []byte) []byte {
	for i := range items {
		b = appendMessage(b, n, func(b []byte) []byte { return f(&items[i], b) })
	}
	return b
}

func (r *request) wire() []byte {
	b := appendAll(nil, 1, r.Spans, (*resourceSpans).wire)
	return appendAll(b, 1, r.Metrics, (*resourceMetrics).wire)
}

func (r *resourceSpans) wire(b []byte) []byte {
	b = appendMessage(b, 1, r.Resource.wire)
	return appendAll(b, 2, r.Scopes, (*scopeSpans).wire)
}

func (r *resource) wire(b []byte) []byte { return appendAll(b, 1, r.Attributes, (*keyValue).wire) }

func (s *scope) wire(b []byte) []byte { return appendText(appendText(b, 1, s.Name), 2, s.Version) }

func (s *scopeSpans) wire(b []byte) []byte {
	return appendAll(appendMessage(b, 1, s.Scope.wire), 2, s.Spans, (*span).wire)
}

func (s *span) wire(b []byte) []byte {
	b = appendBytes(b, 1, s.TraceID)
	b = appendBytes(b, 2, s.SpanID)
	b = appendText(b, 3, s.State)
	b = appendBytes(b, 4, s.ParentID)
	b = appendText(b, 5, s.Name)
	b = appendInt(b, 6, s.Kind)
	b = appendFixed(b, 7, s.Start)
	b = appendFixed(b, 8, s.End)
	b = appendAll(b, 9, s.Attributes, (*keyValue).wire)
	b = appendMessage(b, 15, func(b []byte) []byte { return appendInt(b, 3, s.Status.Code) })
	return protowire.AppendFixed32(protowire.AppendTag(b, 16, protowire.Fixed32Type), s.Flags)
}

func (kv *keyValue) wire(b []byte) []byte {
	b = appendText(b, 1, kv.Key)
	return appendMessage(b, 2, func(b []byte) []byte {
		if n := kv.Value.Number; n != nil {
			return protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), uint64(*n))
		}
		return protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), *kv.Value.Text)
	})
}

func (r *resourceMetrics) wire(b []byte) []byte {
	b = appendMessage(b, 1, r.Resource.wire)
	return appendAll(b, 2, r.Scopes, (*scopeMetrics).wire)
}

func (s *scopeMetrics) wire(b []byte) []byte {
	return appendAll(appendMessage(b, 1, s.Scope.wire), 2, s.Metrics, (*metric).wire)
}

func (m *metric) wire(b []byte) []byte {
	b = appendText(appendText(appendText(b, 1, m.Name), 2, m.Description), 3, m.Unit)
	return appendMessage(b, 9, func(b []byte) []byte {
		return appendInt(appendAll(b, 1, m.Histogram.Points, (*point).wire), 2, m.Histogram.Temporality)
	})
}

func (p *point) wire(b []byte) []byte {
	b = appendFixed(b, 2, p.Start)
	b = appendFixed(b, 3, p.Time)
	b = appendFixed(b, 4, p.Count)
	b = appendDouble(b, 5, p.Sum)
	b = appendMessage(b, 6, func(b []byte) []byte {
		for _, n := range p.Buckets {
			b = protowire.AppendFixed64(b, uint64(n))
		}
		return b
	})
	b = appendMessage(b, 7, func(b []byte) []byte {
		for _, v := range p.Bounds {
			b = protowire.AppendFixed64(b, math.Float64bits(v))
		}
		return b
	})
	b = appendAll(b, 9, p.Attributes, (*keyValue).wire)
	return appendDouble(appendDouble(b, 11, p.Min), 12, p.Max)
}
