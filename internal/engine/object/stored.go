package object

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/scrub"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/state"
)

// Upgrade decodes a stored object, asking the provider to upgrade it if it was stored under another schema.
// An object that already has the current version and shape costs no call. Upgrade returns false if the object
// cannot be used, which was reported.
func (op *Op) Upgrade(o *state.Object) (Prior, bool) {
	pr := Prior{Object: o, Private: o.Private}
	op.begin(o)
	ty := op.Schema.Block.Type()
	if op.IsCurrent(o) {
		if v, err := o.DecodeUnmarked(ty); err == nil {
			pr.Value, pr.Cleaned = op.clean(v)
			return op.loadIdentity(pr, o)
		}
	}
	if o.SchemaVersion > op.Schema.Version {
		op.Report(diag.Errorf("Resource instance was stored by a newer provider",
			"The state holds %s in version %d of its schema, and the installed provider %s knows only version %d. Install a newer version of the provider.",
			op.Obj, o.SchemaVersion, op.Source.ForDisplay(), op.Schema.Version))
		return pr, false
	}
	v, diags := op.Provider.UpgradeResource(op.Ctx, provider.UpgradeRequest{Type: op.TypeName(), Version: o.SchemaVersion, JSON: o.JSON(), Flatmap: o.Flatmap})
	if diags.HasErrors() {
		op.Report(diags)
		return pr, false
	}
	v, diags = op.Answers.AcceptExisting(v, diags, contract.Upgraded)
	op.Report(diags)
	if v == cty.NilVal {
		return pr, false
	}
	pr.Value, op.Withheld.Upgraded = v, v
	return op.loadIdentity(pr, o)
}

// begin begins with a stored object. It is public as the state had it before the command: its texts may come
// back. o is the object that the operation begins with. Attributes that the state withholds stay withheld if
// no block names the withheld ones.
func (op *Op) begin(o *state.Object) {
	if op.Body == nil && len(o.Withheld) > 0 {
		op.Withheld.NameRecorded(o)
		op.Answers.Withheld = op.Withheld.Names
	}
	if op.Recorded != nil {
		o = op.Recorded
	}
	op.open(o)
}

// PublishRecorded is begin for an operation that does not begin with the object that the state had.
func (op *Op) PublishRecorded() {
	if op.Recorded != nil {
		op.open(op.Recorded)
	}
}

func (op *Op) open(o *state.Object) {
	op.Answers.Publish(func(yield func(string) bool) {
		for _, doc := range [][]byte{o.JSON(), o.Identity} {
			eachText(doc, yield)
		}
		yield(string(o.Private))
		for _, text := range o.Flatmap {
			yield(text)
		}
	})
}

// eachText calls yield for the texts, numbers and keys in a JSON document, as they are: one may be a JSON
// document itself.
func eachText(doc []byte, yield func(string) bool) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		switch text := token.(type) {
		case string:
			yield(text)
		case json.Number:
			yield(text.String())
		}
	}
}

// clean nulls the write-only attributes of a stored object. They have values if another engine wrote the
// state, or if the attribute became write-only in a later version of the provider.
func (op *Op) clean(v cty.Value) (cty.Value, bool) {
	paths := op.Block().WriteOnlyPaths(v)
	if len(paths) == 0 {
		return v, false
	}
	op.Report(scrub.Warning(op.Obj, paths))
	return op.Block().NullWriteOnly(v), true
}

// loadIdentity decodes the stored identity, asking the provider to upgrade it if its version or shape
// differs. A provider whose schemas cannot be read, or that was not started, only leaves the identity out:
// the object can be worked on without it.
func (op *Op) loadIdentity(pr Prior, o *state.Object) (Prior, bool) {
	if len(o.Identity) == 0 {
		return pr, true
	}
	c, diags := op.Providers.Catalog(op.Ctx, op.Source)
	if diags.HasErrors() {
		return pr, true
	}
	id, diags := c.Identity(op.TypeName())
	op.Report(diags)
	if id == nil {
		return pr, true
	}
	if o.IdentityVersion == id.Version {
		if v, err := jsonvalue.Unmarshal(o.Identity, id.Type()); err == nil {
			pr.Identity = v
			return pr, true
		}
	}
	if op.Provider == nil {
		return pr, true
	}
	v, diags := op.Provider.UpgradeIdentity(op.Ctx, provider.UpgradeRequest{Type: op.TypeName(), Version: o.IdentityVersion, JSON: o.Identity})
	if !diags.HasErrors() {
		v, diags = op.Answers.AcceptIdentity(v, contract.Upgraded)
	}
	op.Report(diags)
	if diags.HasErrors() {
		return pr, false
	}
	pr.Identity = v
	return pr, true
}

// IsCurrent reports whether a stored object needs no upgrade.
func (op *Op) IsCurrent(o *state.Object) bool {
	return o.SchemaVersion == op.Schema.Version && o.Flatmap == nil
}

// AsItIs reports whether Upgrade takes a stored object as it is, without a call.
func AsItIs(op *Op, o *state.Object) bool {
	if !op.IsCurrent(o) {
		return false
	}
	v, err := o.DecodeUnmarked(op.Block().Type())
	return err == nil && len(op.Block().WriteOnlyPaths(v)) == 0
}

// Live decodes a stored object and adds its marks, without a provider call. It returns false if o is nil or
// does not fit the schema and must be upgraded.
func (op *Op) Live(o *state.Object) (cty.Value, bool) {
	if o == nil {
		return cty.NilVal, false
	}
	v, err := o.DecodeUnmarked(op.Block().Type())
	if err != nil {
		return cty.NilVal, false
	}
	return op.Mark(op.Block().NullWriteOnly(v), Config{Sensitive: o.Sensitive}, o.Withheld), true
}

// ConvertMoved asks the provider of the new type to convert the stored object of another type that was at
// from, with the provider configuration source. It returns false if that failed, which was reported.
func (op *Op) ConvertMoved(o *state.Object, from addr.Instance, source addr.ProviderConfig) (Prior, bool) {
	pr := Prior{Object: o}
	op.begin(o)
	resp, diags := op.Provider.MoveResource(op.Ctx, provider.MoveRequest{
		SourceProvider: source.Provider, SourceType: from.Resource.Type, SourceVersion: o.SchemaVersion, SourceJSON: o.JSON(), SourcePrivate: o.Private,
		SourceIdentityJSON: o.Identity, SourceIdentityVersion: o.IdentityVersion, TargetType: op.TypeName(),
	})
	if !diags.HasErrors() {
		var wrong, leaks diag.List
		resp.Target, diags = op.Answers.AcceptExisting(resp.Target, diags, contract.Moved)
		resp.Identity, wrong = op.Answers.AcceptIdentity(resp.Identity, contract.Moved)
		resp.Private, leaks = op.Answers.AcceptPrivate(resp.Private, nil, contract.Moved)
		diags = slices.Concat(diags, wrong, leaks)
	}
	op.Report(diags)
	if diags.HasErrors() {
		return pr, false
	}
	pr.Value, pr.Private, pr.Identity = resp.Target, resp.Private, resp.Identity
	return pr, true
}
