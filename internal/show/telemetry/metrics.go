package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// bounds are the bounds of the buckets for durations, in seconds.
var bounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

// instruments are the measurements, by the kind of the spans.
var instruments = map[trace.Kind]struct{ name, description string }{
	trace.Command:   {"mayfly.command.duration", "How long commands take."},
	trace.Operation: {"mayfly.operation.duration", "How long the operations of a command take."},
	trace.Call:      {"mayfly.provider.call.duration", "How long providers take to answer."},
}

// series are durations with the same attributes. Addresses are none of these: there would be a series for
// each object.
type series struct {
	kind                              trace.Kind
	name, typeName, provider, outcome string
}

// seriesOf returns the series that a span counts for. Addresses are not part of it: they would make a
// series of each object.
func seriesOf(s *trace.Span) series {
	out := series{kind: s.Kind, name: s.Name, outcome: "success"}
	if s.Failed {
		out.outcome = "failure"
	}
	for _, a := range s.Attributes {
		switch a.Key {
		case trace.Type:
			out.typeName = a.Text
		case trace.Provider:
			out.provider = a.Text
		}
	}
	return out
}

// summary has the measurements of a series.
type summary struct {
	count         uint64
	sum, min, max float64
	buckets       []uint64
}

func (s *summary) add(d time.Duration) {
	v := max(0, d.Seconds())
	if s.count == 0 {
		s.buckets, s.min = make([]uint64, len(bounds)+1), v
	}
	s.count++
	s.sum += v
	s.min, s.max = min(s.min, v), max(s.max, v)
	at, _ := slices.BinarySearch(bounds, v)
	s.buckets[at]++
}

// metricsOf returns the messages for the measurements since begin, in a fixed order.
func metricsOf(all map[series]*summary, begin, now time.Time, redact func(string) string) []metric {
	keys := slices.SortedFunc(maps.Keys(all), func(a, b series) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name), strings.Compare(a.typeName, b.typeName), strings.Compare(a.provider, b.provider), strings.Compare(a.outcome, b.outcome))
	})
	var out []metric
	for i, k := range keys {
		if i == 0 || keys[i-1].kind != k.kind {
			of := instruments[k.kind]
			out = append(out, metric{Name: of.name, Description: of.description, Unit: "s", Histogram: histogram{Temporality: cumulative}})
		}
		s := all[k]
		p := point{Start: nanos(begin), Time: nanos(now), Count: number(s.count), Sum: s.sum, Min: s.min, Max: s.max, Bounds: bounds}
		for _, n := range s.buckets {
			p.Buckets = append(p.Buckets, number(n))
		}
		for _, a := range [][2]string{{"mayfly.operation", k.name}, {trace.Type, k.typeName}, {trace.Provider, k.provider}, {"mayfly.outcome", k.outcome}} {
			if a[1] != "" {
				p.Attributes = append(p.Attributes, keyValue{Key: a[0], Value: textValue(redact(a[1]))})
			}
		}
		last := &out[len(out)-1].Histogram
		last.Points = append(last.Points, p)
	}
	return out
}
