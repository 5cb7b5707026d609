package engine_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// leakCall is one call about a thing, and what the provider answered before anyone judged it.
type leakCall struct {
	rpc      string
	value    cty.Value
	private  []byte
	identity cty.Value
	failed   bool
	warn     string
	gen      string // of the object that the call is about; see leakGen
}

// leakCloud launches providers within this process that do what the script of a round says. They keep
// nothing: an answer depends on the request and the script alone.
type leakCloud struct {
	world    *leakWorld
	schedule uint64

	mu       sync.Mutex
	round    *leakRound
	applying bool
	calls    map[string][]leakCall // by the name of the thing
	catalog  leakCatalog
}

// begin begins a phase of a round.
func (c *leakCloud) begin(r *leakRound, applying bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round, c.applying, c.calls, c.catalog = r, applying, map[string][]leakCall{}, newLeakCatalog(r.version)
}

// Launch implements provider.Launcher.
func (c *leakCloud) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	return &leakProvider{leakCloud: c}, nil
}

type leakProvider struct {
	provider.NoLists
	provider.NoActions
	*leakCloud
}

// linger takes some virtual time, which depends on the schedule.
func (c *leakCloud) linger(rpc, name string) {
	h := fnv.New64a()
	fmt.Fprint(h, c.schedule, rpc, name)
	time.Sleep(time.Duration(h.Sum64()%8) * time.Millisecond)
}

func (c *leakCloud) spec(rpc, name string) leakSpec {
	if s := c.round.script[rpc+"/"+name]; s != nil {
		return *s
	}
	return leakSpec{}
}

// note records a call with its answer.
func (c *leakCloud) note(name string, call leakCall) diag.List {
	c.mu.Lock()
	c.calls[name] = append(c.calls[name], call)
	c.mu.Unlock()
	var diags diag.List
	if call.warn != "" {
		diags = append(diags, diag.Diagnostic{Severity: diag.Warning, Summary: "Message of the provider", Detail: "[" + name + "/" + call.rpc + "] " + call.warn + " [end]"})
	}
	if call.failed {
		diags = append(diags, diag.Diagnostic{Summary: "The provider failed", Detail: call.rpc + " of " + name})
	}
	return diags
}

func leakName(v cty.Value) string { return v.GetAttr("name").AsString() }

// put places texts in an object. It passes over fields that the object has no place for.
func (s *leakSpec) put(attrs map[string]cty.Value, only func(field string) bool) {
	for _, p := range s.places {
		field, v := p.value()
		if field == "token" {
			if l := attrs["login"]; l != cty.NilVal && l.IsKnown() && l.LengthInt() > 0 && only(field) {
				attrs["login"] = leakToken0(l, v)
			}
			continue
		}
		if _, ok := attrs[field]; ok && only(field) {
			attrs[field] = v
		}
	}
}

// leakToken0 returns a list of login blocks with the token of the first set.
func leakToken0(blocks, token cty.Value) cty.Value {
	all := blocks.AsValueSlice()
	first := all[0].AsValueMap()
	first["token"] = token
	all[0] = cty.ObjectVal(first)
	return cty.ListVal(all)
}

// value returns the attribute that a place is in, and its value.
func (p leakPlace) value() (string, cty.Value) {
	text := cty.StringVal(p.text)
	switch p.field {
	case "extra-key":
		return "extra", cty.MapVal(map[string]cty.Value{p.text: cty.StringVal("v"), "other": cty.StringVal("kept")})
	case "extra-val":
		return "extra", cty.MapVal(map[string]cty.Value{"k": text, "other": cty.StringVal("kept")})
	case "num":
		if n, _, err := big.ParseFloat(p.text, 10, 200, big.ToNearestEven); err == nil {
			return "num", cty.NumberVal(n)
		}
		return "made", text
	case "any-name":
		return "any", cty.ObjectVal(map[string]cty.Value{p.text: cty.True, "other": cty.StringVal("kept")})
	case "any-val":
		return "any", cty.ObjectVal(map[string]cty.Value{"k": cty.TupleVal([]cty.Value{text, cty.StringVal("kept")})})
	case "any-type":
		return "any", cty.NullVal(cty.Object(map[string]cty.Type{p.text: cty.String}))
	case "list":
		return "list", cty.ListVal([]cty.Value{leakElement("kept"), leakElement(p.text)})
	case "set":
		return "set", cty.SetVal([]cty.Value{text, cty.StringVal("kept")})
	default:
		return p.field, text
	}
}

func leakElement(s string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal(s), "b": cty.StringVal("b")})
}

func anyField(string) bool { return true }

// PlanResource implements provider.Reader.
func (p *leakProvider) PlanResource(_ context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	if req.Config.IsNull() {
		name := leakName(req.Prior)
		p.linger("unplan", name)
		s := p.spec("unplan", name)
		resp := provider.PlanResponse{Planned: req.Config, Private: leakBytes(s.private, req.PriorPrivate)}
		return resp, p.note(name, leakCall{rpc: "unplan", gen: leakGen(req.Prior), value: resp.Planned, private: resp.Private, warn: s.warn})
	}
	name, rpc, s, again := leakName(req.Config), "plan", p.spec("plan", leakName(req.Config)), leakSpec{}
	if p.applying {
		rpc, again = "replan", p.spec("replan", name)
	}
	p.linger(rpc, name)
	block := p.block(req.Type)
	attrs := block.NullWriteOnly(req.Proposed).AsValueMap()
	apply, fresh := p.spec("apply", name), req.Prior.IsNull()
	open := map[string]bool{} // fields that are known only after apply
	for _, f := range leakComputed {
		open[f] = fresh || f != "id" && apply.touches(f) && leakChanged(req.Prior, attrs)
		if _, ok := attrs[f]; open[f] && ok {
			attrs[f] = cty.UnknownVal(block.Attributes[f].Type)
		}
	}
	if fresh {
		attrs["gen"] = cty.UnknownVal(cty.Number)
	}
	if l := attrs["login"]; l != cty.NilVal && l.IsKnown() && l.LengthInt() > 0 {
		if token := l.AsValueSlice()[0].GetAttr("token"); token.IsNull() || apply.touches("token") && leakChanged(req.Prior, attrs) {
			attrs["login"], open["token"] = leakToken0(l, cty.UnknownVal(cty.String)), true
		}
	}
	s.put(attrs, func(f string) bool { return f != "id" || !fresh })
	again.put(attrs, func(f string) bool { return open[f] && f != "id" && !s.touches(f) })
	resp := provider.PlanResponse{Planned: cty.ObjectVal(attrs), Identity: req.Identity, Private: leakBytes(s.private, req.PriorPrivate)}
	if id := leakBytes(again.identity, []byte(s.identity)); len(id) > 0 && req.Type == "leak_thing" {
		resp.Identity = leakIdentity(name, string(id))
	}
	resp.Private = leakBytes(again.private, resp.Private)
	if !fresh && !req.Prior.GetAttr("replace").RawEquals(attrs["replace"]) {
		resp.RequiresReplace = []cty.Path{cty.GetAttrPath("replace")}
	}
	return resp, p.note(name, leakCall{rpc: rpc, gen: leakGen(req.Prior), value: resp.Planned, private: resp.Private, identity: resp.Identity, warn: s.warn})
}

var leakComputed = []string{"id", "made", "result", "extra", "num", "any", "list", "set"}

// touches reports whether a script places something in an attribute.
func (s *leakSpec) touches(attr string) bool {
	return slices.ContainsFunc(s.places, func(p leakPlace) bool {
		at, _ := p.value()
		return at == attr
	})
}

// leakChanged reports whether arguments differ from the prior object.
func leakChanged(prior cty.Value, attrs map[string]cty.Value) bool {
	for _, name := range []string{"arg", "size", "replace", "tags"} {
		if prior.IsNull() || !prior.GetAttr(name).RawEquals(attrs[name]) {
			return true
		}
	}
	return false
}

func leakBytes(s string, otherwise []byte) []byte {
	if s == "" {
		return otherwise
	}
	return []byte(s)
}

func leakIdentity(key, note string) cty.Value {
	v := cty.NullVal(cty.String)
	if note != "" {
		v = cty.StringVal(note)
	}
	return cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(key), "note": v})
}

// ApplyResource implements provider.Changer.
func (p *leakProvider) ApplyResource(_ context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	if req.Planned.IsNull() {
		return p.delete(req)
	}
	name := leakName(req.Planned)
	p.linger("apply", name)
	s := p.spec("apply", name)
	attrs := req.Planned.AsValueMap()
	unknown := map[string]bool{}
	for f, v := range attrs {
		unknown[f] = !v.IsKnown()
	}
	defaults := leakDefaults(name)
	defaults["gen"] = p.generation(0)
	for f := range attrs {
		if unknown[f] {
			attrs[f] = defaults[f]
		}
	}
	if l := attrs["login"]; l != cty.NilVal && l.LengthInt() > 0 && !l.IsWhollyKnown() {
		attrs["login"], unknown["token"] = leakToken0(l, cty.StringVal("token-"+name)), true
	}
	s.put(attrs, func(f string) bool { return unknown[f] })
	resp := provider.ApplyResponse{New: cty.ObjectVal(attrs), Private: leakBytes(s.private, req.PlannedPrivate), Identity: req.Identity}
	if req.Type == "leak_thing" && (resp.Identity == cty.NilVal || s.identity != "") {
		resp.Identity = leakIdentity(name, s.identity)
	}
	if s.mute {
		resp.New = cty.NilVal
	}
	return resp, p.note(name, leakCall{rpc: "apply", gen: leakGen(req.Prior), value: resp.New, private: resp.Private, identity: resp.Identity, failed: s.fail, warn: s.warn})
}

func leakDefaults(name string) map[string]cty.Value {
	return map[string]cty.Value{
		"id": cty.StringVal("id-" + name), "made": cty.StringVal("made-" + name), "result": cty.StringVal("result-" + name),
		"extra": cty.MapVal(map[string]cty.Value{"k": cty.StringVal(name)}), "num": cty.NumberIntVal(7), "any": cty.StringVal("any-" + name),
		"list": cty.ListVal([]cty.Value{leakElement(name)}), "set": cty.SetVal([]cty.Value{cty.StringVal(name)}),
	}
}

func (p *leakProvider) delete(req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	name := leakName(req.Prior)
	p.linger("delete", name)
	s := p.spec("delete", name)
	resp := provider.ApplyResponse{New: req.Planned}
	if s.fail {
		attrs := req.Prior.AsValueMap()
		s.put(attrs, anyField)
		resp = provider.ApplyResponse{New: cty.ObjectVal(attrs), Private: leakBytes(s.private, req.PlannedPrivate), Identity: req.Identity}
		if s.identity != "" && req.Type == "leak_thing" {
			resp.Identity = leakIdentity(name, s.identity)
		}
		if s.mute {
			resp.New = cty.NilVal
		}
	}
	return resp, p.note(name, leakCall{rpc: "delete", gen: leakGen(req.Prior), value: resp.New, private: resp.Private, identity: resp.Identity, failed: s.fail, warn: s.warn})
}

// ReadResource implements provider.Reader.
func (p *leakProvider) ReadResource(_ context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	name := leakName(req.Prior)
	p.linger("read", name)
	s := p.spec("read", name)
	attrs := req.Prior.AsValueMap()
	s.put(attrs, anyField)
	resp := provider.ReadResponse{New: cty.ObjectVal(attrs), Private: leakBytes(s.private, req.Private), Identity: req.Identity}
	if s.identity != "" && req.Type == "leak_thing" {
		resp.Identity = leakIdentity(name, s.identity)
	}
	return resp, p.note(name, leakCall{rpc: "read", gen: leakGen(req.Prior), value: resp.New, private: resp.Private, identity: resp.Identity, warn: s.warn})
}

// UpgradeResource implements provider.Reader.
func (p *leakProvider) UpgradeResource(_ context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	v, err := jsonvalue.Unmarshal(req.JSON, p.block(req.Type).Type())
	if err != nil {
		return cty.NilVal, diag.Errorf("Test provider", "%s", err)
	}
	name := leakName(v)
	s := p.spec("upgrade", name)
	attrs := v.AsValueMap()
	s.put(attrs, anyField)
	v = cty.ObjectVal(attrs)
	return v, p.note(name, leakCall{rpc: "upgrade", gen: leakGen(v), value: v, warn: s.warn})
}

// UpgradeIdentity implements provider.Reader.
func (p *leakProvider) UpgradeIdentity(_ context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	v, err := jsonvalue.Unmarshal(req.JSON, p.catalog.identity.Type())
	if err != nil {
		return cty.NilVal, diag.Errorf("Test provider", "%s", err)
	}
	key := v.GetAttr("key").AsString()
	at := slices.IndexFunc(p.world.things, func(n *leakThing) bool { return n.name == key || n.importID == key })
	name := p.world.things[at].name
	if s := p.spec("identity", name); s.identity != "" {
		v = leakIdentity(key, s.identity)
	}
	return v, p.note(name, leakCall{rpc: leakUpgradesIdentity, identity: v})
}

// MoveResource implements provider.Reader.
func (p *leakProvider) MoveResource(_ context.Context, req provider.MoveRequest) (provider.MoveResponse, diag.List) {
	v, err := jsonvalue.Unmarshal(req.SourceJSON, p.block(req.TargetType).Type())
	if err != nil {
		return provider.MoveResponse{}, diag.Errorf("Test provider", "%s", err)
	}
	name := leakName(v)
	s := p.spec("move", name)
	attrs := v.AsValueMap()
	s.put(attrs, anyField)
	resp := provider.MoveResponse{Target: cty.ObjectVal(attrs), Private: leakBytes(s.private, req.SourcePrivate), Identity: leakIdentity(name, s.identity)}
	return resp, p.note(name, leakCall{rpc: "move", gen: leakGen(resp.Target), value: resp.Target, private: resp.Private, identity: resp.Identity, warn: s.warn})
}

// ImportResource implements provider.Reader.
func (p *leakProvider) ImportResource(_ context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	id := req.ID
	if req.Identity != cty.NilVal {
		id = req.Identity.GetAttr("key").AsString()
	}
	at := slices.IndexFunc(p.world.things, func(n *leakThing) bool { return n.importID == id })
	if at < 0 {
		return provider.ImportResponse{}, diag.Errorf("Test provider", "There is no such object.")
	}
	name := p.world.things[at].name
	p.linger("import", name)
	s := p.spec("import", name)
	attrs := p.block(req.Type).Empty().AsValueMap()
	for f, v := range leakDefaults(name) {
		attrs[f] = v
	}
	attrs["gen"] = p.generation(leakImported)
	attrs["name"], attrs["id"], attrs["size"], attrs["replace"] = cty.StringVal(name), cty.StringVal(id), cty.NumberIntVal(1), cty.NumberIntVal(1)
	s.put(attrs, anyField)
	o := provider.ImportedObject{Type: req.Type, State: cty.ObjectVal(attrs), Private: leakBytes(s.private, nil)}
	if req.Type == "leak_thing" {
		o.Identity = leakIdentity(id, s.identity)
	}
	return provider.ImportResponse{Objects: []provider.ImportedObject{o}},
		p.note(name, leakCall{rpc: "import", gen: leakGen(o.State), value: o.State, private: o.Private, identity: o.Identity, warn: s.warn})
}

// ReadData implements provider.Reader.
func (p *leakProvider) ReadData(_ context.Context, req provider.DataRequest) (provider.DataResponse, diag.List) {
	name := leakName(req.Config)
	p.linger("data", name)
	s := p.spec("data", name)
	attrs := req.Config.AsValueMap()
	for f, v := range leakDefaults(name) {
		if _, ok := attrs[f]; ok {
			attrs[f] = v
		}
	}
	s.put(attrs, anyField)
	v := cty.ObjectVal(attrs)
	return provider.DataResponse{State: v}, p.note(name, leakCall{rpc: "data", value: v, warn: s.warn})
}

// OpenEphemeral implements provider.Reader.
func (p *leakProvider) OpenEphemeral(_ context.Context, _ string, config cty.Value) (provider.OpenResponse, diag.List) {
	name := leakName(config)
	p.linger("open", name)
	at := slices.IndexFunc(p.world.tokens, func(tk *leakToken) bool { return tk.name == name })
	text := p.world.tokens[at].plan
	if p.applying {
		text = p.world.tokens[at].apply
	}
	v := cty.StringVal(text)
	return provider.OpenResponse{Opened: true, Result: cty.ObjectVal(map[string]cty.Value{"name": config.GetAttr("name"), "value": v, "secret": v})}, nil
}

// CallFunction implements provider.Reader.
func (p *leakProvider) CallFunction(context.Context, string, []cty.Value) (cty.Value, error) {
	if s := p.spec("call", "f"); len(s.places) > 0 {
		return cty.StringVal(s.places[0].text), nil
	}
	return cty.StringVal("reply"), nil
}

// block returns the schema of a managed type.
func (c *leakCloud) block(typeName string) *schema.Block { return c.catalog.managed[typeName].Block }
