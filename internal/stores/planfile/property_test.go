package planfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

var (
	anyText = rapid.OneOf(rapid.StringMatching(`[a-z]{1,3}`), rapid.String())
	anyName = rapid.StringMatching(`[a-z_][a-z0-9_-]{0,3}`)
	anyKey  = rapid.OneOf(rapid.Just(addr.NoKey), rapid.Map(rapid.IntMin(0), addr.IntKey), rapid.Map(anyText, addr.StringKey))
)

func anyInstance() *rapid.Generator[addr.Instance] {
	return rapid.Custom(func(t *rapid.T) addr.Instance {
		m := addr.RootInstance
		for range rapid.IntRange(0, 3).Draw(t, "depth") {
			m = m.Child(anyName.Draw(t, "call"), anyKey.Draw(t, "module key"))
		}
		r := addr.Resource{Mode: addr.Mode(rapid.IntRange(0, 2).Draw(t, "mode")), Type: anyName.Draw(t, "type"), Name: anyName.Draw(t, "name")}
		return addr.Instance{Module: m, Resource: r, Key: anyKey.Draw(t, "key")}
	})
}

// anyLive is a value of any type, in part unknown, null or sensitive.
func anyLive(depth int) *rapid.Generator[cty.Value] {
	return rapid.Custom(func(t *rapid.T) cty.Value {
		var v cty.Value
		switch kind := rapid.IntRange(0, 8).Draw(t, "kind"); {
		case kind == 0:
			v = cty.NullVal(rapid.SampledFrom([]cty.Type{cty.DynamicPseudoType, cty.Bool, cty.Set(cty.String)}).Draw(t, "null"))
		case kind == 1:
			v = cty.UnknownVal(rapid.SampledFrom([]cty.Type{cty.DynamicPseudoType, cty.Number, cty.List(cty.String)}).Draw(t, "unknown"))
		case kind == 2:
			v = cty.NumberIntVal(rapid.Int64().Draw(t, "number"))
		case kind == 3 && depth > 0:
			v = cty.TupleVal(rapid.SliceOfN(anyLive(depth-1), 0, 3).Draw(t, "tuple"))
		case kind == 4 && depth > 0:
			v = cty.ObjectVal(rapid.MapOfN(anyName, anyLive(depth-1), 0, 3).Draw(t, "object"))
		case kind == 5:
			v = cty.SetVal([]cty.Value{cty.StringVal(anyText.Draw(t, "element")), cty.StringVal("x")})
		default:
			v = cty.StringVal(anyText.Draw(t, "text"))
		}
		if rapid.IntRange(0, 5).Draw(t, "sensitive") == 0 {
			v = v.Mark(value.Sensitive)
		}
		return v
	})
}

func anySealed(t *rapid.T, name string) value.Durable {
	if rapid.IntRange(0, 3).Draw(t, name) == 0 {
		return value.Durable{}
	}
	v := anyLive(2).Draw(t, name)
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func anyPath() *rapid.Generator[cty.Path] {
	return rapid.Custom(func(t *rapid.T) cty.Path {
		var p cty.Path
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				p = p.GetAttr(anyName.Draw(t, "attribute"))
			case 1:
				p = p.IndexString(anyText.Draw(t, "index"))
			case 2:
				p = p.Index(cty.NumberFloatVal(rapid.Float64Range(-1e30, 1e30).Draw(t, "index")))
			default:
				v, _ := anyLive(1).Draw(t, "element").UnmarkDeep()
				if v.IsWhollyKnown() {
					p = p.Index(v)
				}
			}
		}
		return p
	})
}

func anyChange() *rapid.Generator[*plan.Change] {
	return rapid.Custom(func(t *rapid.T) *plan.Change {
		c := &plan.Change{
			Addr: anyInstance().Draw(t, "address"), Deposed: addr.Deposed(rapid.SampledFrom([]string{"", "0badcafe"}).Draw(t, "deposed")),
			Action: rapid.SampledFrom(actions[:]).Draw(t, "action"), Before: anySealed(t, "before"), After: anySealed(t, "after"),
			PriorIdentity: anySealed(t, "identity"), RequiredReplace: rapid.SliceOfN(anyPath(), 0, 3).Draw(t, "paths"),
			PriorPrivate: rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "private"), CreateBeforeDestroy: rapid.Bool().Draw(t, "cbd"),
			GeneratedConfig: anyText.Draw(t, "config"), Given: state.Hash{rapid.Byte().Draw(t, "given")},
		}
		c.Provider = addr.ProviderConfig{Module: c.Addr.Module, Provider: addr.DefaultProvider("random"), Alias: anyName.Draw(t, "alias"), Key: c.Addr.Key}
		for _, i := range rapid.SliceOfN(anyInstance(), 0, 4).Draw(t, "deps") {
			c.Deps = append(c.Deps, plan.Dep{Resource: i.Abs(), Key: i.Key, All: i.Key == addr.NoKey})
			c.StateDeps = append(c.StateDeps, i.Config())
			c.PrevAddr = i
		}
		return c
	})
}

func TestAnyPlanRoundTrips(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &plan.Plan{
			Mode: plan.Mode(rapid.IntRange(0, 2).Draw(rt, "mode")), Changes: rapid.SliceOfN(anyChange(), 0, 4).Draw(rt, "changes"),
			Drift: rapid.SliceOfN(anyChange(), 0, 2).Draw(rt, "drift"), ForceReplace: rapid.SliceOfN(anyInstance(), 0, 2).Draw(rt, "replace"),
		}
		for _, c := range rapid.SliceOfN(anyChange(), 0, 3).Draw(rt, "deferrals") {
			if rapid.Bool().Draw(rt, "any key") {
				c.Addr.Key, c.Provider.Key = addr.AnyKey, addr.AnyKey
				c.Addr.Module = c.Addr.Module.Child("m", addr.AnyKey)
			}
			p.Deferrals = append(p.Deferrals, &plan.Deferral{Change: c, Reason: rapid.SampledFrom(deferralReasons).Draw(rt, "reason"), WaitsFor: c.Deps})
		}
		for _, i := range rapid.SliceOfN(anyInstance(), 0, 3).Draw(rt, "targets") {
			p.Targets = append(p.Targets, addr.Target{Module: i.Module, Resource: &i.Resource, Key: i.Key}, addr.Target{Module: i.Module, ModuleKeyless: true})
		}
		names := rapid.SliceOfNDistinct(anyText, 0, 4, rapid.ID).Draw(rt, "names")
		f := &File{Plan: p, Version: "1", Config: map[string][]byte{}}
		p.Variables = map[string]value.Durable{}
		for _, name := range names {
			p.Variables[name] = anySealed(rt, "variable")
			p.Outputs = append(p.Outputs, &plan.OutputChange{Name: name, Before: anySealed(rt, "output")})
			f.Config[name] = []byte(name)
		}
		src := write(t, f)
		back, err := decodeBytes(src)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(f, back, options); diff != "" {
			rt.Fatal(diff)
		}
		if string(write(t, back)) != string(src) {
			rt.Fatal("the same plan gives other bytes")
		}
	})
}
