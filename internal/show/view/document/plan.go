package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// jsonPlan is the document of a plan. Programs that approve plans read ResourceChanges; programs that look at
// the planned state, such as policy and cost checks, read PlannedValues and Configuration. Complete is false
// for a plan that leaves something to a later one, by -target or -exclude or because it is deferred, so that
// a program can refuse to approve it.
type jsonPlan struct {
	FormatVersion      string                      `json:"format_version"`
	TerraformVersion   string                      `json:"terraform_version"`
	ProductVersion     string                      `json:"mayfly_version,omitempty"`
	Variables          map[string]jsonPlanVariable `json:"variables,omitempty"`
	PlannedValues      *jsonValues[OutputValue]    `json:"planned_values"`
	ResourceDrift      []jsonChangeOf              `json:"resource_drift,omitempty"`
	ResourceChanges    []jsonChangeOf              `json:"resource_changes,omitempty"`
	DeferredChanges    []jsonDeferral              `json:"deferred_changes,omitempty"`
	OutputChanges      map[string]jsonChange       `json:"output_changes,omitempty"`
	ActionInvocations  []jsonInvocation            `json:"action_invocations,omitempty"`
	EphemeralVariables []string                    `json:"ephemeral_variables,omitempty"` // to be given again to apply the plan
	PriorState         *jsonState                  `json:"prior_state,omitempty"`
	Configuration      *jsonConfig                 `json:"configuration,omitempty"`
	RelevantAttributes []jsonRelevant              `json:"relevant_attributes,omitempty"`
	Checks             []jsonCheck                 `json:"checks,omitempty"`
	Scope              *Scope                      `json:"scope,omitempty"` // of a plan of changes
	Timestamp          string                      `json:"timestamp,omitempty"`
	Applyable          bool                        `json:"applyable"`
	Complete           bool                        `json:"complete"`
	Errored            bool                        `json:"errored"`
}

// Scope says how far a plan of changes has gone. The numbers are nil if it looks at everything all the same.
type Scope struct {
	Mode      string `json:"mode"` // "changed" or "all"
	Reason    string `json:"reason,omitempty"`
	Evaluated *int   `json:"evaluated,omitempty"`
	Objects   *int   `json:"objects,omitempty"`
	New       *int   `json:"new,omitempty"`
	RowsRead  *int   `json:"rows_read,omitempty"`

	Collections          map[string]int `json:"collections,omitempty"`
	InCollections        int            `json:"rows_of_collections,omitempty"`
	UnversionedProviders []string       `json:"unversioned_providers,omitempty"`
}

// ScopeOf returns the document of an extent; nil for nil.
func ScopeOf(e *plan.Extent) *Scope {
	switch {
	case e == nil:
		return nil
	case !e.Partial():
		return &Scope{Mode: "all", Reason: e.Full}
	}
	return &Scope{
		Mode: "changed", Evaluated: &e.Evaluated, New: &e.New, Objects: &e.Objects, RowsRead: &e.Rows,
		Collections: e.Collections, InCollections: e.Collected, UnversionedProviders: e.Unversioned,
	}
}

// jsonPlanVariable is a variable's value, which has no flag for sensitivity: that is in the configuration.
type jsonPlanVariable struct {
	Value json.RawMessage `json:"value,omitempty"`
}

// jsonChangeOf is the change of one object. Whether it was created, changed or destroyed is in
// Change.Actions.
type jsonChangeOf struct {
	Address         string `json:"address"`
	PreviousAddress string `json:"previous_address,omitempty"`
	ModuleAddress   string `json:"module_address,omitempty"`
	jsonInstance
	IndexUnknown bool       `json:"index_unknown,omitempty"` // of a deferred change, which has the key "*" then, or a module around it
	Deposed      string     `json:"deposed,omitempty"`
	Change       jsonChange `json:"change"`
	ActionReason string     `json:"action_reason,omitempty"`

	of *plan.Change // the change encoded here
}

// jsonChange is the two sides of a change. AfterUnknown and the members about sensitivity have the shape of
// their side and are true where it applies; see shapeJSON. Unknown parts are missing in After.
type jsonChange struct {
	Actions         []string          `json:"actions"`
	Before          json.RawMessage   `json:"before"`
	After           json.RawMessage   `json:"after,omitempty"`
	AfterUnknown    json.RawMessage   `json:"after_unknown,omitempty"`
	BeforeSensitive json.RawMessage   `json:"before_sensitive,omitempty"`
	AfterSensitive  json.RawMessage   `json:"after_sensitive,omitempty"`
	ReplacePaths    []json.RawMessage `json:"replace_paths,omitempty"`
	Withheld        []jsonWithheld    `json:"ephemeral_attributes,omitempty"`
	Importing       *Importing        `json:"importing,omitempty"`
	GeneratedConfig string            `json:"generated_config,omitempty"`
	KeepsReplaced   bool              `json:"keeps_replaced,omitempty"` // the old object stays until a later plan
	BeforeIdentity  json.RawMessage   `json:"before_identity,omitempty"`
	AfterIdentity   json.RawMessage   `json:"after_identity,omitempty"`
}

// jsonWithheld is an attribute whose value is kept out of the plan and the state.
type jsonWithheld struct {
	Path      json.RawMessage `json:"path"`
	Status    string          `json:"status"`
	Computed  bool            `json:"computed,omitempty"`  // the provider gives the value
	Consumers []string        `json:"consumers,omitempty"` // the instances that take a new computed value
}

// jsonRelevant is an attribute whose change outside contributed to the plan.
type jsonRelevant struct {
	Resource  string          `json:"resource"`
	Attribute json.RawMessage `json:"attribute"`
}

// Importing is the origin of an imported object: the ID or the identity that an import block gives. One of
// them is missing.
type Importing struct {
	ID       string          `json:"id,omitempty"`
	Identity json.RawMessage `json:"identity,omitempty"`
	Unknown  bool            `json:"unknown,omitempty"` // both: the import is deferred
}

// Plan returns the JSON document of a plan on one line. It has no configuration if tree is nil, and no
// relevant attributes if relevant is nil. s may be nil; without the schema of a resource type, only values
// that the plan itself marks are flagged as sensitive. Ephemeral resources and the values of ephemeral
// variables are not in plans, and so not in the document (E81). An error names the object, output or variable
// that cannot be decoded.
func Plan(p *plan.Plan, tree *config.Tree, relevant Relevant, s ConfigSchemas, v Versions) ([]byte, error) {
	doc := &jsonPlan{
		FormatVersion: "1.2", TerraformVersion: v.Compat, ProductVersion: v.Product,
		Applyable: p.Changed() && !p.Errored, Complete: !p.Errored && p.Complete() && len(p.Targets)+len(p.Excludes) == 0, Errored: p.Errored,
		EphemeralVariables: p.EphemeralVariables,
	}
	if !p.Timestamp.IsZero() {
		doc.Timestamp = p.Timestamp.UTC().Format(time.RFC3339)
	}
	var err error
	if doc.Variables, err = planVariables(p); err != nil {
		return nil, err
	}
	if doc.ResourceDrift, err = changeList(p.Drift, s); err != nil {
		return nil, err
	}
	if doc.ResourceChanges, err = changeList(p.Changes, s); err != nil {
		return nil, err
	}
	if doc.DeferredChanges, err = deferralList(p.Deferrals, s); err != nil {
		return nil, err
	}
	if doc.PlannedValues, err = plannedValues(p, doc.ResourceChanges, s); err != nil {
		return nil, err
	}
	if doc.OutputChanges, err = outputChanges(p); err != nil {
		return nil, err
	}
	if doc.ActionInvocations, err = invocationList(p.Invocations, s); err != nil {
		return nil, err
	}
	if p.Prior != nil && !p.Prior.Empty() {
		if doc.PriorState, err = stateDocument(p.Prior, s, v); err != nil {
			return nil, err
		}
		doc.PriorState.Checks = nil // the document has the results of this plan instead
	}
	doc.Checks = checksJSON(p.Checks)
	if doc.Scope = ScopeOf(p.Extent); p.Extent.Partial() {
		doc.PlannedValues.Incomplete = true
		if doc.PriorState != nil {
			doc.PriorState.Values.Incomplete = true
		}
	}
	if tree != nil {
		doc.Configuration = configDocument(tree.Root, &configWriter{schemas: s, modes: lastingModes})
	}
	if relevant != nil {
		doc.RelevantAttributes = relevantJSON(relevant())
	}
	return json.Marshal(doc)
}

// relevantJSON encodes relevant attributes, sorted by resource, then by the text of their paths.
func relevantJSON(attributes []plan.RelevantAttribute) []jsonRelevant {
	out := make([]jsonRelevant, len(attributes))
	for i, a := range attributes {
		out[i] = jsonRelevant{a.Instance.String(), pathJSON(a.Path)}
	}
	slices.SortFunc(out, func(a, b jsonRelevant) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), bytes.Compare(a.Attribute, b.Attribute))
	})
	return out
}

// planVariables encodes the values of root variables by name, nil if there are none.
func planVariables(p *plan.Plan) (map[string]jsonPlanVariable, error) {
	if len(p.Variables) == 0 {
		return nil, nil
	}
	out := make(map[string]jsonPlanVariable, len(p.Variables))
	for name, d := range p.Variables {
		v, err := d.Live()
		if err != nil {
			return nil, fmt.Errorf("var.%s: %w", name, err)
		}
		out[name] = jsonPlanVariable{valueJSON(v)}
	}
	return out, nil
}

// changeList encodes changes by module depth, nil if there are none.
func changeList(changes []*plan.Change, s Schemas) ([]jsonChangeOf, error) {
	var out []jsonChangeOf
	for _, c := range ByModuleDepth(changes, func(c *plan.Change) addr.ModuleInstance { return c.Addr.Module }) {
		if c.Addr.Resource.Mode == addr.Ephemeral { // no plan has one; a document never may
			continue
		}
		j, err := changeJSON(c, s)
		if err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, nil
}

// changeJSON encodes one change. Both sides are marked by the schema first: the sensitivity of values in a
// document comes from schemas as well as from the configuration.
func changeJSON(c *plan.Change, s Schemas) (jsonChangeOf, error) {
	out := jsonChangeOf{
		Address: c.Addr.String(), ModuleAddress: c.Addr.Module.String(), jsonInstance: instanceJSON(c.Addr, c.Provider.Provider),
		IndexUnknown: c.Addr.Unkeyed(),
		Deposed:      string(c.Deposed), ActionReason: string(c.Reason), of: c,
	}
	if c.Moved() {
		out.PreviousAddress = c.PrevAddr.String()
	}
	before, after, err := c.Sides()
	if err != nil {
		return out, err
	}
	block := Block(s, c.Provider.Provider, c.Addr.Resource)
	before, after = markSchema(before, block), markSchema(after, block)
	out.Change = sidesJSON(before, after, actionsJSON(c.Action))
	for _, p := range c.RequiredReplace {
		out.Change.ReplacePaths = append(out.Change.ReplacePaths, pathJSON(p))
	}
	for _, w := range c.Withheld {
		one := jsonWithheld{Path: pathJSON(w.Path), Status: string(w.Status), Computed: w.Computed}
		for _, i := range w.Consumers {
			one.Consumers = append(one.Consumers, i.String())
		}
		out.Change.Withheld = append(out.Change.Withheld, one)
	}
	out.Change.GeneratedConfig, out.Change.KeepsReplaced = c.GeneratedConfig, c.KeepsReplaced
	if c.Importing != nil {
		out.Change.Importing = ImportingOf(c.Importing)
	}
	if out.Change.BeforeIdentity, err = durableJSON(c.PriorIdentity); err != nil {
		return out, fmt.Errorf("%s: %w", c.Object(), err)
	}
	if out.Change.AfterIdentity, err = durableJSON(c.PlannedIdentity); err != nil {
		return out, fmt.Errorf("%s: %w", c.Object(), err)
	}
	return out, nil
}

// ImportingOf encodes the origin of an imported object. An identity that cannot be decoded is left out, since
// the rest of the document is worth having without it.
func ImportingOf(i *plan.Importing) *Importing {
	out := &Importing{ID: i.ID, Unknown: i.ID == "" && i.Identity.IsNull()}
	if identity, err := durableJSON(i.Identity); err == nil {
		out.Identity = identity
	}
	return out
}

// durableJSON encodes a value, nil if there is none.
func durableJSON(d value.Durable) (json.RawMessage, error) {
	if d.IsNull() {
		return nil, nil
	}
	v, err := d.Live()
	if err != nil {
		return nil, err
	}
	return valueJSON(v), nil
}

// sidesJSON encodes the two sides of a change. A missing side is null, without sensitive or unknown parts,
// and AfterUnknown is an empty object if all is known: terraform-json and policies look for members in it.
func sidesJSON(before, after cty.Value, actions []string) jsonChange {
	c := jsonChange{
		Actions: actions, Before: json.RawMessage("null"), After: json.RawMessage("null"),
		AfterUnknown: json.RawMessage("{}"), BeforeSensitive: json.RawMessage("false"), AfterSensitive: json.RawMessage("false"),
	}
	if present(before) {
		c.Before, c.BeforeSensitive = valueJSON(before), shapeJSON(before, isSensitive)
	}
	if present(after) {
		c.After, c.AfterSensitive = valueJSON(after), shapeJSON(after, isSensitive)
		if !after.IsWhollyKnown() {
			c.AfterUnknown = shapeJSON(after, isUnknown)
		}
	}
	return c
}

// actionsJSON returns an action as the list that documents use: a replacement is two actions in their order,
// by which programs tell create_before_destroy. No list is empty; nothing to do is "no-op".
func actionsJSON(a plan.Action) []string {
	switch a {
	case plan.DeleteThenCreate:
		return []string{"delete", "create"}
	case plan.CreateThenDelete:
		return []string{"create", "delete"}
	case plan.ForgetThenCreate:
		return []string{"forget", "create"}
	default:
		return []string{a.String()}
	}
}

// plannedValues returns the state that the plan leads to: the planned object of every change that leaves one,
// without its unknown parts. The changes have their sensitive and unknown parts, encoded already.
func plannedValues(p *plan.Plan, changes []jsonChangeOf, s Schemas) (*jsonValues[OutputValue], error) {
	out := &jsonValues[OutputValue]{}
	tree := newModuleTree()
	for _, c := range changes {
		if c.of.Deposed == addr.Current && c.of.Action != plan.Delete && c.of.Action != plan.Forget && !c.of.After.IsNull() {
			tree.add(c.of.Addr.Module, c.planned(s))
		}
	}
	// Here, and only here, data sources are among the managed resources.
	out.RootModule = tree.json(true)
	for _, oc := range p.Outputs {
		if oc.Action == plan.Delete {
			continue
		}
		_, after, err := oc.Sides()
		if err != nil {
			return nil, err
		}
		if after == cty.NilVal {
			continue
		}
		if out.Outputs == nil {
			out.Outputs = map[string]OutputValue{}
		}
		o := outputValueOf(after, p.SensitiveOutput(oc))
		if !after.IsWhollyKnown() {
			o.Type, o.Value = nil, nil
		}
		out.Outputs[oc.Name] = o
	}
	return out, nil
}

// planned encodes the object that a change leaves.
func (c jsonChangeOf) planned(s Schemas) jsonResource {
	r := jsonResource{
		Address: c.Address, jsonInstance: c.jsonInstance, SchemaVersion: c.of.SchemaVersion,
		Values: unlessEmpty(c.Change.After), SensitiveValues: c.Change.AfterSensitive, Identity: c.Change.AfterIdentity,
	}
	if r.Identity != nil {
		r.IdentityVersion = identityVersion(s, c.of.Provider.Provider, c.of.Addr.Resource.Type)
	}
	return r
}

// outputChanges encodes the changes of root outputs by name, nil if there are none. Its flags, unlike the
// flags of resources, are true or false for the whole value.
func outputChanges(p *plan.Plan) (map[string]jsonChange, error) {
	if len(p.Outputs) == 0 {
		return nil, nil
	}
	out := make(map[string]jsonChange, len(p.Outputs))
	for _, oc := range p.Outputs {
		before, after, err := oc.Sides()
		if err != nil {
			return nil, err
		}
		c := sidesJSON(before, after, actionsJSON(oc.Action))
		// Sensitivity applies to an output as a whole, and after_unknown is false rather than empty.
		flag := json.RawMessage("false")
		if p.SensitiveOutput(oc) {
			flag = json.RawMessage("true")
		}
		c.BeforeSensitive, c.AfterSensitive = flag, flag
		if !present(after) || after.IsWhollyKnown() {
			c.AfterUnknown = json.RawMessage("false")
		}
		out[oc.Name] = c
	}
	return out, nil
}
