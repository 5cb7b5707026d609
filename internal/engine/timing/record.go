// Package timing remembers how long operations on objects take, so that the next run can start operations on
// the critical path first.
//
// A record has addresses, names of operations and times, and no values.
//
// It may import event and the packages below it. It must not know how operations are scheduled, nor where a
// record is kept.
package timing

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
)

const (
	notable    = 20 * time.Millisecond // objects whose operations take less are not remembered one by one
	maxObjects = 10_000                // operations remembered one by one; of more, the shortest are dropped
)

// Record has the remembered times. The zero value is empty. Its methods may be called concurrently.
type Record struct {
	mu      sync.Mutex
	objects map[objectKey]time.Duration
	types   map[typeKey]mean
	all     mean
	changed bool
}

// objectKey has the address as a text: to parse ten thousand addresses would take longer than most commands.
type objectKey struct {
	object string
	op     event.Op
}

type typeKey struct {
	mode addr.Mode
	name string
	op   event.Op
}

// mean is a mean of durations that forgets: it moves towards each new duration by a share that shrinks to a
// fixed one.
type mean struct {
	value time.Duration
	count int64
}

// memory is the number of durations that a mean remembers.
const memory = 32

func (m mean) with(d time.Duration) mean {
	m.count = min(m.count+1, memory)
	m.value += (d - m.value) / time.Duration(m.count)
	return m
}

func typeOf(object addr.Instance, op event.Op) typeKey {
	return typeKey{object.Resource.Mode, object.Resource.Type, op}
}

// Expected returns how long an operation on an object is expected to take: as long as it took before, else as
// long as such operations on objects of its type take, else as long as operations take on average. It is at
// least 1, which is also the answer of an empty record.
func (r *Record) Expected(object addr.Instance, op event.Op) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d, ok := r.objects[objectKey{object.String(), op}]; ok {
		return d
	}
	if m, ok := r.types[typeOf(object, op)]; ok {
		return max(m.value, 1)
	}
	return max(r.all.value, 1)
}

// Took records how long an operation on an object has taken.
func (r *Record) Took(object addr.Instance, op event.Op, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.types == nil {
		r.types, r.objects = map[typeKey]mean{}, map[objectKey]time.Duration{}
	}
	kind := typeOf(object, op)
	r.types[kind] = r.types[kind].with(d)
	r.all = r.all.with(d)
	key := objectKey{object.String(), op}
	before, known := r.objects[key]
	if known {
		d = (before + d) / 2
	}
	r.changed = r.changed || known || d >= notable
	if d >= notable {
		r.objects[key] = d
	} else {
		delete(r.objects, key)
	}
}

// Changed reports whether something worth storing was recorded since the record was decoded: short operations
// alone are not.
func (r *Record) Changed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// document is the stored form of a record.
type document struct {
	Version int           `json:"version"`
	Types   []typeEntry   `json:"types"`
	Objects []objectEntry `json:"objects"`
}

type typeEntry struct {
	Mode      string   `json:"mode"`
	Type      string   `json:"type"`
	Operation event.Op `json:"operation"`
	Millis    float64  `json:"millis"`
	Count     int64    `json:"count"`
}

type objectEntry struct {
	Object    string   `json:"object"`
	Operation event.Op `json:"operation"`
	Millis    int64    `json:"millis"`
}

const version = 1

// modes are the resource modes that have operations worth remembering, by their names in the document.
var modes = map[string]addr.Mode{"managed": addr.Managed, "data": addr.Data, "ephemeral": addr.Ephemeral}

// Encode returns the stored form of the record: JSON in a fixed order.
func (r *Record) Encode() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	doc := document{Version: version}
	for name, mode := range modes {
		for k, m := range r.types {
			if k.mode == mode {
				doc.Types = append(doc.Types, typeEntry{name, k.name, k.op, float64(m.value) / float64(time.Millisecond), m.count})
			}
		}
	}
	for k, d := range r.objects {
		doc.Objects = append(doc.Objects, objectEntry{k.object, k.op, d.Milliseconds()})
	}
	slices.SortFunc(doc.Objects, func(a, b objectEntry) int {
		return cmp.Or(cmp.Compare(b.Millis, a.Millis), strings.Compare(a.Object, b.Object), cmp.Compare(a.Operation, b.Operation))
	})
	doc.Objects = doc.Objects[:min(len(doc.Objects), maxObjects)]
	slices.SortFunc(doc.Types, func(a, b typeEntry) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Mode, b.Mode), cmp.Compare(a.Operation, b.Operation))
	})
	return json.Marshal(doc)
}

// Decode returns the record of a stored form. It leaves out entries that it cannot use: a record serves speed
// alone.
func Decode(stored []byte) *Record {
	r := &Record{types: map[typeKey]mean{}, objects: map[objectKey]time.Duration{}}
	var doc document
	if err := json.Unmarshal(stored, &doc); err != nil || doc.Version != version {
		return r
	}
	for _, e := range doc.Types {
		mode, ok := modes[e.Mode]
		d, usable := duration(e.Millis)
		if ok && usable && e.Count > 0 {
			r.types[typeKey{mode, e.Type, e.Operation}] = mean{d, min(e.Count, memory)}
			r.all = r.all.with(d)
		}
	}
	for _, e := range doc.Objects[:min(len(doc.Objects), maxObjects)] {
		if d, usable := duration(float64(e.Millis)); usable {
			r.objects[objectKey{e.Object, e.Operation}] = d
		}
	}
	return r
}

// duration returns a number of milliseconds as a duration. It reports false if no operation takes as long:
// sums of durations must not overflow.
func duration(millis float64) (time.Duration, bool) {
	const most = float64(24 * time.Hour / time.Millisecond)
	return time.Duration(millis * float64(time.Millisecond)), millis >= 0 && millis <= most
}
