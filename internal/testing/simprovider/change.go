package simprovider

//lint:file-ignore SA1019 the legacy type system is what these types are about

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// The actions of a change, as in the transcript.
const (
	actionCreate = "create"
	actionUpdate = "update"
	actionDelete = "delete"
)

func actionOf(prior, next object) string {
	switch {
	case next == nil:
		return actionDelete
	case prior == nil:
		return actionCreate
	}
	return actionUpdate
}

// PlanResourceChange plans a change. On create and update, the computed results are unknown except label
// and the nested hashes.
func (c *core) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	schema := c.resources[req.TypeName]
	cl := newCall("PlanResourceChange", req.TypeName, schema)
	cl.readMeta(req.ProviderMeta)
	cl.prior = cl.read("prior", req.PriorState)
	proposed := cl.read("proposed", req.ProposedNewState)
	cl.config = cl.read("config", req.Config)
	cl.Private, cl.Action = req.PriorPrivate, actionOf(cl.prior, proposed)
	if req.ClientCapabilities != nil {
		cl.Caps = map[string]bool{"deferral": req.ClientCapabilities.DeferralAllowed}
	}
	work := func(ctx context.Context) (*tfprotov6.PlanResourceChangeResponse, error) {
		resp := &tfprotov6.PlanResourceChangeResponse{UnsafeToUseLegacyTypeSystem: req.TypeName == typeLegacy}
		if schema == nil {
			resp.Diagnostics = unknownType("resource type", req.TypeName, c.resources)
			return resp, nil
		}
		resp.Diagnostics = failed(c.plan(ctx, schema, req, resp))
		return resp, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.PlanResourceChangeResponse) answer {
		return answer{
			object: &r.PlannedState, diags: &r.Diagnostics, deferred: &r.Deferred, private: &r.PlannedPrivate,
			identity: &r.PlannedIdentity, replace: &r.RequiresReplace, legacy: &r.UnsafeToUseLegacyTypeSystem,
		}
	})
}

func (c *core) plan(ctx context.Context, schema *tfprotov6.Schema, req *tfprotov6.PlanResourceChangeRequest, resp *tfprotov6.PlanResourceChangeResponse) error {
	typ := schema.ValueType()
	prior, err1 := decode(req.PriorState, typ)
	proposed, err2 := decode(req.ProposedNewState, typ)
	config, err3 := decode(req.Config, typ)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if err := c.ready(); err != nil {
		return err
	}
	if err := checkNoWriteOnly("prior state", schema.Block, prior); err != nil {
		return err
	}
	resp.PlannedPrivate = req.PriorPrivate
	var planned object
	if proposed != nil {
		if err := failOn(config, "plan"); err != nil {
			return err
		}
		if err := c.wait(ctx, config.text("plan_delay")); err != nil {
			return err
		}
		var changed bool
		planned, changed = c.planned(req.TypeName, schema.Block, prior, nullWriteOnly(schema.Block, proposed))
		resp.RequiresReplace = replacements(prior, planned)
		if changed {
			resp.PlannedPrivate = plannedPrivate(prior)
		}
	}
	var err error
	if resp.PlannedState, err = encode(planned, typ); err != nil {
		return err
	}
	resp.PlannedIdentity, err = c.identity(req.TypeName, planned, req.PriorIdentity)
	return err
}

// plannedPrivate returns the private data that apply must send back.
func plannedPrivate(prior object) []byte {
	return fmt.Appendf(nil, `{"planned":%q}`, actionOf(prior, object{}))
}

// planned returns the planned object without write-only values, and whether it differs from the prior one.
func (c *core) planned(typ string, b *tfprotov6.SchemaBlock, prior, proposed object) (_ object, changed bool) {
	next := proposed.clone()
	if prior != nil && sameJSON(prior.text("json"), next.text("json")) {
		next["json"] = prior["json"]
	}
	if v, ok := next["defaulted"]; ok && typ == typeLegacy && isUnset(v) {
		next["defaulted"] = str("legacy default")
	}
	if v, ok := next["value"]; ok && prior != nil && isKnownNonNull(v) && strings.EqualFold(prior.text("value"), next.text("value")) {
		next["value"] = prior["value"] // upper case made by apply is not a change
	}
	switch typ {
	case typeShape:
		next = planShape(b, prior, next)
	case typeAccount:
		next = planAccount(prior, next)
	}
	if prior != nil && next.value(b.ValueType()).Equal(prior.value(b.ValueType())) {
		return next, false
	}
	return mapBlock(b, next, func(a *tfprotov6.SchemaAttribute, parent object, v tftypes.Value) tftypes.Value {
		switch {
		case !a.Computed:
			return v
		case a.Name == "label" && isKnownNonNull(parent["name"]):
			return str(c.label(parent))
		case a.Name == "hash" && isKnownNonNull(parent["value"]):
			return str(simlog.Hash(parent.text("value")))
		case a.Name == "serial", a.Name == "status", a.Name == "label", a.Name == "hash", a.Name == "computed_list", isUnset(v) && a.Name != "token":
			return unknown(a.Type)
		}
		return v
	}), true
}

func (c *core) label(o object) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.prefix + o.text("name")
}

// replacements returns the paths whose change needs a new object.
func replacements(prior, planned object) []*tftypes.AttributePath {
	if prior == nil {
		return nil
	}
	var paths []*tftypes.AttributePath
	for _, name := range []string{"name", "replace_me"} {
		was, ok := prior[name]
		if ok && !was.Equal(planned[name]) {
			paths = append(paths, tftypes.NewAttributePath().WithAttributeName(name))
		}
	}
	if replacesAccount(prior, planned) {
		paths = append(paths, tftypes.NewAttributePath().WithAttributeName("password"))
	}
	return paths
}

// ApplyResourceChange makes the cloud match the plan.
func (c *core) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	schema := c.resources[req.TypeName]
	cl := newCall("ApplyResourceChange", req.TypeName, schema)
	cl.readMeta(req.ProviderMeta)
	cl.prior = cl.read("prior", req.PriorState)
	cl.planned = cl.read("planned", req.PlannedState)
	cl.config = cl.read("config", req.Config)
	cl.Private, cl.Action = req.PlannedPrivate, actionOf(cl.prior, cl.planned)
	work := func(ctx context.Context) (*tfprotov6.ApplyResourceChangeResponse, error) {
		resp := &tfprotov6.ApplyResourceChangeResponse{
			NewState: req.PriorState, Private: req.PlannedPrivate, NewIdentity: req.PlannedIdentity,
			UnsafeToUseLegacyTypeSystem: req.TypeName == typeLegacy,
		}
		if schema == nil {
			resp.Diagnostics = unknownType("resource type", req.TypeName, c.resources)
			return resp, nil
		}
		resp.Diagnostics = failed(c.apply(ctx, schema, req, resp))
		return resp, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ApplyResourceChangeResponse) answer {
		return answer{
			object: &r.NewState, diags: &r.Diagnostics, private: &r.Private, identity: &r.NewIdentity, legacy: &r.UnsafeToUseLegacyTypeSystem,
		}
	})
}

// change is a decoded apply request.
type change struct {
	typ, action            string
	schema                 *tfprotov6.Schema
	prior, planned, config object
	private                []byte
}

func (c *core) apply(ctx context.Context, schema *tfprotov6.Schema, req *tfprotov6.ApplyResourceChangeRequest, resp *tfprotov6.ApplyResourceChangeResponse) error {
	typ := schema.ValueType()
	prior, err1 := decode(req.PriorState, typ)
	planned, err2 := decode(req.PlannedState, typ)
	config, err3 := decode(req.Config, typ)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	ch := change{
		typ: req.TypeName, action: actionOf(prior, planned), schema: schema, prior: prior, planned: planned, config: config,
		private: req.PlannedPrivate,
	}
	if err := c.checkChange(ch); err != nil {
		return err
	}
	if err := c.delay(ctx, ch); err != nil {
		return err
	}
	if ch.action == actionDelete {
		if err := c.delete(ch); err != nil {
			return err
		}
		resp.NewState, resp.Private, resp.NewIdentity = nil, nil, nil
		var err error
		resp.NewState, err = encode(nil, typ)
		return err
	}
	if err := failOn(config, ch.action); err != nil {
		return err
	}
	state, err := c.store(ch)
	if err != nil {
		return err
	}
	if resp.NewState, err = encode(state, typ); err != nil {
		return err
	}
	resp.Private = fmt.Appendf(nil, `{"applied":%q,"serial":%d}`, ch.action, state.number("serial"))
	if resp.NewIdentity, err = c.identity(req.TypeName, state, req.PlannedIdentity); err != nil {
		return err
	}
	return failOn(config, ch.action+"-partial")
}

// checkChange refuses a request in which the engine breaks the contract.
func (c *core) checkChange(ch change) error {
	if err := c.ready(); err != nil {
		return err
	}
	if err := checkNoWriteOnly("prior state", ch.schema.Block, ch.prior); err != nil {
		return err
	}
	if err := checkNoWriteOnly("planned state", ch.schema.Block, ch.planned); err != nil {
		return err
	}
	if ch.action == actionDelete {
		return nil
	}
	if ch.config == nil {
		return faultf("a %s is applied without a configuration", ch.action)
	}
	if !ch.config.value(ch.schema.ValueType()).IsFullyKnown() {
		return faultf("the configuration still holds unknown values at apply")
	}
	if name := unknownConfigured(ch.schema.Block, ch.planned); name != "" {
		return faultf("the planned state at apply leaves the configured attribute %q unknown: it was not planned again", name)
	}
	if want := string(plannedPrivate(ch.prior)); string(ch.private) != want {
		return faultf("the private data of the plan was not handed to apply")
	}
	if err := c.cloud.checkLive(ch.config.text("secret_wo")); err != nil {
		return faultf("secret_wo: %s", err)
	}
	return nil
}

// unknownConfigured names an unknown attribute that only the configuration can set, or returns "".
func unknownConfigured(b *tfprotov6.SchemaBlock, o object) string {
	found := ""
	mapBlock(b, o, func(a *tfprotov6.SchemaAttribute, _ object, v tftypes.Value) tftypes.Value {
		if !a.Computed && !v.IsKnown() {
			found = a.Name
		}
		return v
	})
	return found
}

// delay waits for as long as the change takes.
func (c *core) delay(ctx context.Context, ch change) error {
	from, general := ch.config, ch.config.text("delay")
	if ch.action == actionDelete {
		from, general = ch.prior, ""
	}
	if err := c.wait(ctx, general); err != nil {
		return err
	}
	return c.wait(ctx, from.text(ch.action+"_delay"))
}

func (c *core) delete(ch change) error {
	if err := failOn(ch.prior, actionDelete); err != nil {
		return err
	}
	if err := deleteAccount(ch.prior); err != nil {
		return err
	}
	return c.cloud.remove(ch.prior.text("id"))
}

// store fills in the unknown values of the plan and writes the object to the cloud.
func (c *core) store(ch change) (object, error) {
	id := ch.prior.text("id")
	if ch.action == actionCreate {
		var err error
		if id, err = c.cloud.newID(ch.planned.text("name")); err != nil {
			return nil, err
		}
	}
	serial := ch.prior.number("serial") + 1
	state := mapBlock(ch.schema.Block, ch.planned, func(a *tfprotov6.SchemaAttribute, parent object, v tftypes.Value) tftypes.Value {
		if v.IsKnown() {
			return v
		}
		return c.result(a, parent, id, serial)
	})
	if ch.typ == typeShape {
		state = fillShape(state)
	}
	if ch.typ == typeLegacy && isKnownNonNull(state["value"]) {
		state["value"] = str(strings.ToUpper(state.text("value")))
	}
	obj := &simcloud.Object{ID: id, Type: ch.typ, Name: state.text("name"), Serial: serial, Attrs: map[string]json.RawMessage{}}
	for _, name := range names(state) {
		text, err := json.Marshal(kept(ch.schema, name, state[name]))
		if err != nil {
			return nil, err
		}
		obj.Attrs[name] = text
	}
	if secret := ch.config.text("secret_wo"); secret != "" {
		obj.SecretHash = simlog.Hash(secret)
	}
	return state, c.cloud.put(obj)
}

// result returns the final value of a computed attribute.
func (c *core) result(a *tfprotov6.SchemaAttribute, parent object, id string, serial int64) tftypes.Value {
	switch a.Name {
	case "id":
		return str(id)
	case "serial":
		return num(serial)
	case "status":
		return str("ready")
	case "label":
		return str(c.label(parent))
	case "hash":
		return str(simlog.Hash(parent.text("value")))
	case "rule_id":
		return str(fmt.Sprintf("rule-%d", parent.number("port")))
	case "mark":
		return markFor(parent)
	case "token":
		return str(fmt.Sprintf("token-CANARY-%s-%d", id, serial))
	case "guess":
		return str("guessed for " + parent.text("name"))
	case "zone_id":
		return str("zone-" + parent.text("name"))
	case "computed_list":
		return tftypes.NewValue(a.Type, []tftypes.Value{str(id + "-a"), str(id + "-b")})
	}
	return null(a.Type)
}
