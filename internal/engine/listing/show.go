package listing

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/lang/generate"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// show returns a result as observers get it. It returns false if configuration for it could not be written,
// which was reported.
func (l *List) show(r provider.ListResult) (*event.ListResult, bool) {
	redact := l.Leaks.Guard.Redact
	identity := l.redacted(r.Identity)
	out := &event.ListResult{
		List: l.in.Addr(), Name: redact(r.Name), Identity: jsonOf(identity), IdentityText: contract.IdentityPairs(identity), IdentityVersion: l.identity.Version,
	}
	if b := l.objects.Block(); l.args.Include && r.Object != cty.NilVal {
		out.Object = jsonOf(l.redacted(b.NullAt(r.Object, b.SensitivePaths(r.Object))))
	}
	if !l.query.Generate {
		return out, true
	}
	to := addr.Resource{Type: l.TypeName(), Name: l.query.Name(l.in)}
	op := l.objectOf(addr.Instance{Resource: to}, l.objects.Schema)
	if r.Object == cty.NilVal {
		got, ok := (&object.ImportTarget{Identity: r.Identity, Range: &l.in.Config().Range}).Import(&op, l.query.Meta(&op, l.in.Resource.Module))
		if !ok {
			return nil, false
		}
		r.Object = got.Value
	}
	v, ok := op.SuggestConfig(r.Object)
	if !ok {
		return nil, false
	}
	out.Resource = redact(generate.Resource(to, l.providerText(), op.Block(), v))
	out.Import = redact(generate.Import(to, r.Identity))
	return out, true
}

// shownConfig returns the configuration as observers get it.
func (l *List) shownConfig() json.RawMessage {
	b := l.Block()
	return jsonOf(l.redacted(b.NullAt(l.config.Value, append(b.SensitivePaths(l.config.Value), l.config.Sensitive...))))
}

// jsonOf returns a known value without marks in JSON.
func jsonOf(v cty.Value) json.RawMessage {
	out, err := ctyjson.Marshal(v, v.Type())
	if err != nil { // impossible for such a value
		return json.RawMessage("null")
	}
	return out
}

// redacted returns a known value without ephemeral values in its strings.
func (l *List) redacted(v cty.Value) cty.Value {
	leaks := l.Leaks.Guard
	if !leaks.Holds(v) {
		return v
	}
	out, err := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if part.Type() != cty.String || part.IsNull() {
			return part, nil
		}
		return cty.StringVal(leaks.Redact(part.AsString())), nil
	})
	if err != nil { // which the function never returns
		return cty.NullVal(v.Type())
	}
	return out
}

// providerText returns the provider argument of generated blocks, "" for none.
func (l *List) providerText() string {
	ref := l.in.Config().Provider
	if ref == nil || ref.Alias == "" && ref.Name == l.in.Config().ImpliedProvider() {
		return ""
	}
	return ref.String() + l.po.Addr.Key.String()
}
