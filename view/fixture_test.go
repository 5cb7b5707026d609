package view

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// fixtureSchemas holds schemas read from a document of provider schemas.
type fixtureSchemas map[string]ProviderSchemas

func (f fixtureSchemas) Provider(p addr.Provider) *schema.Schema { return f[p.String()].Provider }

func (f fixtureSchemas) Resource(p addr.Provider, mode addr.Mode, typeName string) *schema.Schema {
	switch mode {
	case addr.Data:
		return f[p.String()].Data[typeName]
	case addr.Ephemeral:
		return f[p.String()].Ephemeral[typeName]
	default:
		return f[p.String()].Resources[typeName]
	}
}

func readFixture(t testing.TB, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func loadSchemas(t testing.TB, name string) fixtureSchemas {
	t.Helper()
	var doc jsonSchemas
	readFixture(t, name, &doc)
	out := fixtureSchemas{}
	for source, s := range doc.ProviderSchemas {
		out[source] = ProviderSchemas{
			Provider: fromSchema(s.Provider), Resources: mapValues(s.Resources, fromSchema), Data: mapValues(s.Data, fromSchema),
			Ephemeral: mapValues(s.Ephemeral, fromSchema),
		}
	}
	return out
}

func fromSchema(s *jsonSchema) *schema.Schema {
	if s == nil {
		return nil
	}
	return &schema.Schema{Version: s.Version, Block: fromBlock(s.Block)}
}

func fromBlock(b *jsonBlock) *schema.Block {
	if b == nil {
		return &schema.Block{}
	}
	return &schema.Block{
		Attributes: mapValues(b.Attributes, fromAttribute), Blocks: mapValues(b.BlockTypes, fromNestedBlock), Description: b.Description,
	}
}

func fromNestedBlock(b *jsonNestedBlock) *schema.NestedBlock {
	nb := &schema.NestedBlock{Nesting: nestingNamed(b.NestingMode), MinItems: b.MinItems, MaxItems: b.MaxItems}
	inner := fromBlock(b.Block)
	nb.Attributes, nb.Blocks, nb.Description = inner.Attributes, inner.Blocks, inner.Description
	return nb
}

func nestingNamed(name string) schema.Nesting {
	for _, n := range []schema.Nesting{schema.Single, schema.List, schema.Set, schema.Map, schema.Group} {
		if n.String() == name {
			return n
		}
	}
	return schema.NestingInvalid
}

func fromAttribute(a *jsonAttribute) *schema.Attribute {
	out := &schema.Attribute{
		Description: a.Description, Deprecated: a.Deprecated, Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly,
	}
	if a.NestedType != nil {
		out.Nested = &schema.Object{Attributes: mapValues(a.NestedType.Attributes, fromAttribute), Nesting: nestingNamed(a.NestedType.NestingMode)}
		return out
	}
	ty, err := ctyjson.UnmarshalType(a.Type)
	if err != nil {
		panic(err)
	}
	out.Type = ty
	return out
}

// loadPlan reads a plan document as other tools write it.
func loadPlan(t testing.TB, name string, schemas fixtureSchemas) *plan.Plan {
	t.Helper()
	var doc struct {
		ResourceChanges []jsonChangeOf        `json:"resource_changes"`
		ResourceDrift   []jsonChangeOf        `json:"resource_drift"`
		OutputChanges   map[string]jsonChange `json:"output_changes"`
		Errored         bool                  `json:"errored"`
	}
	readFixture(t, name, &doc)
	p := &plan.Plan{Errored: doc.Errored}
	for i := range doc.ResourceChanges {
		p.Changes = append(p.Changes, loadChange(t, &doc.ResourceChanges[i], schemas))
	}
	for i := range doc.ResourceDrift {
		p.Drift = append(p.Drift, loadChange(t, &doc.ResourceDrift[i], schemas))
	}
	for _, name := range unionKeysOf(doc.OutputChanges) {
		c := doc.OutputChanges[name]
		p.Outputs = append(p.Outputs, &plan.OutputChange{
			Name: name, Action: actionOf(c.Actions), Before: loadSide(t, c.Before, nil, nil, cty.NilType),
			After: loadSide(t, c.After, c.AfterUnknown, nil, cty.NilType), Sensitive: string(c.AfterSensitive) == "true" || string(c.BeforeSensitive) == "true",
		})
	}
	return p
}

func unionKeysOf(m map[string]jsonChange) []string {
	values := map[string]cty.Value{}
	for k := range m {
		values[k] = cty.True
	}
	return unionKeys(values, nil)
}

func loadChange(t testing.TB, j *jsonChangeOf, schemas fixtureSchemas) *plan.Change {
	t.Helper()
	a, err := addr.ParseInstance(j.Address)
	if err != nil {
		t.Fatal(err)
	}
	provider, err := addr.ParseProvider(j.ProviderName)
	if err != nil {
		t.Fatal(err)
	}
	c := &plan.Change{Addr: a, Deposed: addr.Deposed(j.Deposed), Action: actionOf(j.Change.Actions), Reason: plan.Reason(j.ActionReason)}
	c.Provider.Provider = provider
	if j.PreviousAddress != "" {
		if c.PrevAddr, err = addr.ParseInstance(j.PreviousAddress); err != nil {
			t.Fatal(err)
		}
	}
	s := schemas.Resource(provider, a.Resource.Mode, a.Resource.Type)
	if s == nil {
		t.Fatalf("no schema for %s", j.Address)
	}
	ty := s.Block.Type()
	c.Before = loadSide(t, j.Change.Before, nil, j.Change.BeforeSensitive, ty)
	c.After = loadSide(t, j.Change.After, j.Change.AfterUnknown, j.Change.AfterSensitive, ty)
	for _, raw := range j.Change.ReplacePaths {
		c.RequiredReplace = append(c.RequiredReplace, loadPath(t, raw))
	}
	if j.Change.Importing != nil {
		c.Importing = &plan.Importing{ID: j.Change.Importing.ID}
	}
	return c
}

func actionOf(actions []string) plan.Action {
	switch {
	case len(actions) == 2 && actions[0] == "delete":
		return plan.DeleteThenCreate
	case len(actions) == 2:
		return plan.CreateThenDelete
	}
	for a := plan.NoOp; a <= plan.ForgetThenCreate; a++ {
		if a.String() == actions[0] {
			return a
		}
	}
	return plan.NoOp
}

func loadPath(t testing.TB, raw json.RawMessage) cty.Path {
	t.Helper()
	var steps []any
	if err := json.Unmarshal(raw, &steps); err != nil {
		t.Fatal(err)
	}
	var p cty.Path
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			p = p.GetAttr(s)
		case float64:
			p = p.IndexInt(int(s))
		}
	}
	return p
}

// loadSide seals one side of a change. A nil type has it follow from the value.
func loadSide(t testing.TB, raw, unknown, sensitive json.RawMessage, ty cty.Type) value.Durable {
	t.Helper()
	if string(raw) == "null" {
		raw = nil
	}
	var data, unk, sens any
	for _, x := range []struct {
		raw  json.RawMessage
		into *any
	}{{raw, &data}, {unknown, &unk}, {sensitive, &sens}} {
		if x.raw != nil {
			if err := json.Unmarshal(x.raw, x.into); err != nil {
				t.Fatal(err)
			}
		}
	}
	data = mergeUnknown(data, unk)
	if data == nil {
		return value.Durable{}
	}
	var v cty.Value
	if ty == cty.NilType {
		v = impliedValue(data)
		ty = v.Type()
	} else {
		v = typedValue(t, data, ty)
	}
	v = markWhere(v, sens)
	d, err := value.Seal(v, ty, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

type unknownValue struct{}

// mergeUnknown puts the unknown parts, which documents leave out, back in.
func mergeUnknown(data, unknown any) any {
	switch unknown := unknown.(type) {
	case bool:
		if unknown {
			return unknownValue{}
		}
	case map[string]any:
		m, ok := data.(map[string]any)
		if !ok {
			return data
		}
		for k, u := range unknown {
			m[k] = mergeUnknown(m[k], u)
		}
	case []any:
		l, ok := data.([]any)
		if !ok {
			return data
		}
		for i, u := range unknown {
			if i < len(l) {
				l[i] = mergeUnknown(l[i], u)
			}
		}
	}
	return data
}
