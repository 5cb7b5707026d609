package computed

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
)

// Deliveries has the consumers that are still to get computed values in an apply (E98).
type Deliveries struct {
	// waiting has, by the object with the value, the resources that are owed it, each with the instances that
	// have not taken it yet.
	waiting   map[addr.Instance]map[addr.ConfigResource]map[addr.Instance]struct{}
	producers map[addr.Instance][]addr.Instance // by consumer
}

// Expect adds the consumers of the computed values of an object, and missed, which use them and take none.
func (d *Deliveries) Expect(producer addr.Instance, consumers, missed []addr.Instance) {
	if d.waiting == nil {
		d.waiting = map[addr.Instance]map[addr.ConfigResource]map[addr.Instance]struct{}{}
		d.producers = map[addr.Instance][]addr.Instance{}
	}
	blocks := d.waiting[producer]
	if blocks == nil {
		blocks = map[addr.ConfigResource]map[addr.Instance]struct{}{}
		d.waiting[producer] = blocks
	}
	for _, c := range slices.Concat(consumers, missed) {
		if blocks[c.Config()] == nil {
			blocks[c.Config()] = map[addr.Instance]struct{}{}
		}
		blocks[c.Config()][c] = struct{}{}
	}
	for _, c := range consumers {
		if !slices.Contains(d.producers[c], producer) {
			d.producers[c] = append(d.producers[c], producer)
		}
	}
}

// Take notes that a consumer has taken the values that it was to get. It returns the objects of which a
// resource has got all that it was owed.
func (d *Deliveries) Take(consumer addr.Instance) (done []addr.Instance) {
	for _, producer := range d.producers[consumer] {
		left := d.waiting[producer][consumer.Config()]
		if delete(left, consumer); len(left) == 0 {
			done = append(done, producer)
		}
	}
	return done
}

// IsConsumer reports whether an object was to get values.
func (d *Deliveries) IsConsumer(i addr.Instance) bool { return len(d.producers[i]) > 0 }

// Concern reports whether an object was to get values, or to give them.
func (d *Deliveries) Concern(i addr.Instance) bool { return d.IsConsumer(i) || len(d.waiting[i]) > 0 }

// BlocksOf returns the resources that instances belong to, once each.
func BlocksOf(instances []addr.Instance) (out []addr.ConfigResource) {
	for _, i := range instances {
		if !slices.Contains(out, i.Config()) {
			out = append(out, i.Config())
		}
	}
	return out
}
