package mayfly

import (
	"context"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/part"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// wantsPart reports whether the operation needs only a part of the state. A run that excludes all others
// reads the whole.
func (o *Operation) wantsPart() bool {
	opt := o.purpose
	if o.saved != nil && o.saved.Scope != nil {
		opt = &PlanOptions{Targets: o.saved.Targets, Excludes: o.saved.Excludes}
	}
	return opt != nil && len(opt.Targets) > 0 && restrictedOnly(*opt) && o.lock == ""
}

// restrictedOnly reports whether nothing but targets says which parts of the state a plan needs.
func restrictedOnly(opt PlanOptions) bool {
	return len(opt.Excludes)+len(opt.Invoke)+len(opt.Generated) == 0 && !opt.AllowDeferral
}

// partReader returns the store of the state if it is to read a part of it and can; nil otherwise.
func (o *Operation) partReader() store.PartReader {
	if !o.wantsPart() {
		return nil
	}
	reader, _ := o.p.opt.State.Store.(store.PartReader)
	return reader
}

// readPart reads the part of the state that a plan with targets needs. It returns false if it takes the whole
// state to say which one that is.
func (o *Operation) readPart(ctx context.Context, from store.PartReader) (read bool, err error) {
	if o.saved != nil {
		f, err := from.ReadPart(ctx, state.Part{Subjects: part.Made(o.saved)})
		o.hold(f, &part.Part{})
		return true, err
	}
	cfg, diags := o.p.compile(ctx)
	if diags.HasErrors() || !part.Possible(cfg) {
		return false, nil // planning reports errors
	}
	pt, first := part.New(cfg, o.purpose.Targets, o.purpose.Mode, func(ctx context.Context, p state.Part, keep func(addr.Instance) bool) (*state.State, error) {
		return o.readMore(ctx, from, p, keep)
	})
	f, err := from.ReadPart(ctx, first)
	if err != nil {
		return false, err
	}
	o.hold(f, nil)
	if f != nil {
		if _, err := pt.Follow(ctx, f.State); err != nil {
			return false, err
		}
		if !part.Suffices(cfg, o.File.State) {
			return false, nil
		}
	}
	o.part = pt
	return true, nil
}

// readMore reads another part of the state, and adds it to the state of the operation.
func (o *Operation) readMore(ctx context.Context, from store.PartReader, p state.Part, keep func(addr.Instance) bool) (*state.State, error) {
	found, err := from.ReadMore(ctx, p, keep)
	if err != nil {
		return nil, err
	}
	if o.File != nil {
		f := *o.File
		f.State = f.State.Copy()
		f.State.AddMissing(found)
		o.hold(&f, o.part)
	}
	found = found.AtDefaultHost(o.p.Tree.Requires)
	if o.more != nil && len(found.Resources) > 0 {
		o.more(found)
	}
	return found, nil
}

// hold keeps a state that was read. f and pt may be nil.
func (o *Operation) hold(f *state.File, pt *part.Part) {
	o.File, o.ours, o.part = f, nil, pt
	if f != nil {
		o.ours = f.State.AtDefaultHost(o.p.Tree.Requires)
	}
}

// suits reports whether the operation has all of the state that a plan with these options needs.
func (o *Operation) suits(opt PlanOptions) bool {
	p := o.purpose
	return o.part == nil || o.saved == nil && opt.Mode == p.Mode && slices.Equal(texts(opt.Targets), texts(p.Targets)) && restrictedOnly(opt)
}

func texts(targets []addr.Target) (out []string) {
	for _, t := range targets {
		out = append(out, t.String())
	}
	return out
}
