package value

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

type obj = map[string]cty.Value

var (
	str       = cty.StringVal
	ephemeral = str("s3cret").Mark(Ephemeral)
	sensitive = str("hidden").Mark(Sensitive)
	nothing   = cty.NullVal(cty.String)
)

// secretBlock has a write-only attribute at the top, in a list of blocks and in a nested attribute.
func secretBlock() *schema.Block {
	attrs := func() map[string]*schema.Attribute {
		return map[string]*schema.Attribute{
			"name": {Type: cty.String, Optional: true}, "pw": {Type: cty.String, Optional: true, WriteOnly: true},
		}
	}
	b := &schema.Block{Attributes: attrs()}
	b.Attributes["nested"] = &schema.Attribute{Optional: true, Nested: &schema.Object{Nesting: schema.Map, Attributes: attrs()}}
	b.Blocks = map[string]*schema.NestedBlock{"rule": {Nesting: schema.List, Block: schema.Block{Attributes: attrs()}}}
	return b
}

func secretObject(top, inRule, inNested cty.Value) cty.Value {
	return cty.ObjectVal(obj{
		"name": str("n"), "pw": top,
		"rule":   cty.ListVal([]cty.Value{cty.ObjectVal(obj{"name": str("r0"), "pw": nothing}), cty.ObjectVal(obj{"name": nothing, "pw": inRule})}),
		"nested": cty.MapVal(obj{"k": cty.ObjectVal(obj{"name": nothing, "pw": inNested})}),
	})
}

// TestSealForgetsTypesOfSecrets seals write-only arguments that are null, but whose type has the name of
// something that was in them.
func TestSealForgetsTypesOfSecrets(t *testing.T) {
	open := map[string]*schema.Attribute{"name": {Type: cty.String, Optional: true}, "pw": {Type: cty.DynamicPseudoType, Optional: true, WriteOnly: true}}
	block := &schema.Block{Attributes: open, Blocks: map[string]*schema.NestedBlock{"rule": {Nesting: schema.Single, Block: schema.Block{Attributes: open}}}}
	telling := cty.NullVal(cty.Object(map[string]cty.Type{"canary": cty.String}))
	untold := cty.NullVal(cty.DynamicPseudoType)
	for _, name := range []cty.Value{str("n"), sensitive} {
		v := cty.ObjectVal(obj{"name": name, "pw": telling, "rule": cty.ObjectVal(obj{"name": str("r"), "pw": telling})})
		d, err := Seal(v, block.Type(), block)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(d.Packed()), "canary") {
			t.Errorf("it is stored: %q", d.Packed())
		}
		want := cty.ObjectVal(obj{"name": name, "pw": untold, "rule": cty.ObjectVal(obj{"name": str("r"), "pw": untold})})
		if got, err := d.Live(); err != nil || !got.RawEquals(want) {
			t.Errorf("got %#v, %v, want %#v", got, err, want)
		}
	}
}

func TestSealRefusesSecrets(t *testing.T) {
	block := secretBlock()
	tests := []struct {
		name  string
		v     cty.Value
		block *schema.Block
		path  string
	}{
		{"ephemeral", ephemeral, nil, "the value as a whole"},
		{"ephemeral, unknown", cty.UnknownVal(cty.String).Mark(Ephemeral), nil, "the value as a whole"},
		{"ephemeral, null", nothing.Mark(Ephemeral), nil, "the value as a whole"},
		{"ephemeral and sensitive", sensitive.Mark(Ephemeral), nil, "the value as a whole"},
		{"in an object", cty.ObjectVal(obj{"a": str("x"), "b": ephemeral}), nil, "b"},
		{"deep", cty.ObjectVal(obj{"a": cty.ListVal([]cty.Value{str("x"), ephemeral})}), nil, "a[1]"},
		{"in a map", cty.MapVal(obj{"k": ephemeral}), nil, `["k"]`},
		{"in a set", cty.ObjectVal(obj{"a": cty.SetVal([]cty.Value{ephemeral})}), nil, "a"},
		{"whole object", cty.EmptyObjectVal.Mark(Ephemeral), nil, "the value as a whole"},
		{"write-only", secretObject(str("s3cret"), nothing, nothing), block, "pw"},
		{"write-only, unknown", secretObject(cty.UnknownVal(cty.String), nothing, nothing), block, "pw"},
		{"write-only, sensitive", secretObject(str("s3cret").Mark(Sensitive), nothing, nothing), block, "pw"},
		{"write-only in a block", secretObject(nothing, str("s3cret"), nothing), block, "rule[1].pw"},
		{"write-only in a nested attribute", secretObject(nothing, nothing, str("s3cret")), block, `nested["k"].pw`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := Seal(test.v, test.v.Type(), test.block)
			if !errors.Is(err, ErrSecret) || !d.IsZero() {
				t.Fatalf("got %v, %v", d, err)
			}
			if !strings.Contains(err.Error(), test.path) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("message: %s", err)
			}
		})
	}
	if _, err := Seal(secretObject(nothing, nothing, nothing), block.Type(), block); err != nil {
		t.Errorf("an object without secrets: %v", err)
	}
}

func TestSealRefusesInfinity(t *testing.T) {
	inf, neg := cty.PositiveInfinity, cty.NegativeInfinity
	tests := []struct {
		v    cty.Value
		path string
	}{
		{inf, "division by zero"},
		{cty.ObjectVal(obj{"a": cty.TupleVal([]cty.Value{str("x"), neg})}), "a[1]"},
		{cty.MapVal(obj{"k": inf.Mark(Sensitive)}), `["k"]`},
	}
	for _, test := range tests {
		for _, ty := range []cty.Type{test.v.Type(), cty.DynamicPseudoType} {
			d, err := Seal(test.v, ty, nil)
			if !errors.Is(err, ErrInfinite) || !d.IsZero() || !strings.Contains(err.Error(), test.path) {
				t.Errorf("%#v as %#v: %v, %v", test.v, ty, d, err)
			}
		}
	}
}

func TestSealRefusesDeepValues(t *testing.T) {
	for _, wrap := range []func(cty.Value) cty.Value{
		func(v cty.Value) cty.Value { return cty.TupleVal([]cty.Value{v}) },
		func(v cty.Value) cty.Value { return cty.ObjectVal(obj{"a": v}) },
		func(v cty.Value) cty.Value { return cty.ListVal([]cty.Value{v}) },
	} {
		v := str("x")
		for range MaxDepth {
			v = wrap(v)
		}
		if _, err := Seal(v, v.Type(), nil); err != nil {
			t.Error(err)
		}
		v = wrap(v)
		if _, err := Seal(v, v.Type(), nil); !errors.Is(err, ErrTooDeep) {
			t.Errorf("%d levels: %v", MaxDepth+1, err)
		}
	}
}

var capsule = cty.Capsule("capsule", reflect.TypeFor[int]())

func TestSealErrors(t *testing.T) {
	for _, test := range []struct {
		v  cty.Value
		ty cty.Type
	}{
		{str("s3cret"), cty.Bool},
		{cty.ObjectVal(obj{"other": str("s3cret")}), cty.Object(map[string]cty.Type{"a": cty.String})},
		{cty.ListVal([]cty.Value{str("s3cret")}), cty.Map(cty.String)},
		{cty.CapsuleVal(capsule, new(int)), capsule},
		{cty.CapsuleVal(capsule, new(int)), cty.DynamicPseudoType},
	} {
		d, err := Seal(test.v, test.ty, nil)
		if err == nil || !d.IsZero() || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%#v as %#v: %v, %v", test.v, test.ty, d, err)
		}
	}
}

func TestSealRoundTrip(t *testing.T) {
	deprecated := Deprecated{By: "module.m.old", Message: "use new"}
	tests := []struct {
		name     string
		in, want cty.Value
	}{
		{"nothing", cty.NilVal, cty.NilVal},
		{"null", nothing, nothing},
		{"null of any type", cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.DynamicPseudoType)},
		{"unknown", cty.UnknownVal(cty.List(cty.String)), cty.UnknownVal(cty.List(cty.String))},
		{"unknown of any type", cty.DynamicVal, cty.DynamicVal},
		{"refined", cty.UnknownVal(cty.String).Refine().NotNull().StringPrefix("arn:").NewValue(), cty.UnknownVal(cty.String).RefineNotNull()},
		{"sensitive", sensitive, sensitive},
		{"sensitive null", nothing.Mark(Sensitive), nothing.Mark(Sensitive)},
		{"sensitive unknown", cty.UnknownVal(cty.Bool).Mark(Sensitive), cty.UnknownVal(cty.Bool).Mark(Sensitive)},
		{"deprecated", str("x").Mark(deprecated), str("x")},
		{"both", str("x").Mark(deprecated).Mark(Sensitive), sensitiveOf(str("x"))},
		{
			"nested", cty.ObjectVal(obj{"a": cty.ListVal([]cty.Value{str("x"), sensitive}), "b": cty.MapVal(obj{"k": sensitive})}).Mark(Sensitive),
			cty.ObjectVal(obj{"a": cty.ListVal([]cty.Value{str("x"), sensitive}), "b": cty.MapVal(obj{"k": sensitive})}).Mark(Sensitive),
		},
		{"in a set", cty.SetVal([]cty.Value{sensitive, str("x")}), cty.SetVal([]cty.Value{str("hidden"), str("x")}).Mark(Sensitive)},
		{"big number", cty.MustParseNumberVal("123456789012345678901234567890.5"), cty.MustParseNumberVal("123456789012345678901234567890.5")},
		{"tuple", cty.TupleVal([]cty.Value{cty.True, cty.EmptyTupleVal, cty.DynamicVal}), cty.TupleVal([]cty.Value{cty.True, cty.EmptyTupleVal, cty.DynamicVal})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ty := cty.DynamicPseudoType
			if test.in != cty.NilVal {
				ty = test.in.Type()
			}
			d, err := Seal(test.in, ty, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []Durable{d, Restore(d.Type(), d.Packed(), d.Sensitive())} {
				got, err := d.Live()
				if err != nil {
					t.Fatal(err)
				}
				if (got == cty.NilVal) != (test.want == cty.NilVal) || got != cty.NilVal && !got.RawEquals(test.want) {
					t.Errorf("got %#v, want %#v", got, test.want)
				}
				if d.IsZero() != (test.in == cty.NilVal) {
					t.Errorf("IsZero: got %v, want %v", d.IsZero(), (test.in == cty.NilVal))
				}
				if null := test.in == cty.NilVal || test.in.IsNull(); d.IsNull() != null {
					t.Errorf("IsNull: got %v, want %v", d.IsNull(), null)
				}
				if bare, err := d.Unmarked(); err != nil || bare != cty.NilVal && bare.ContainsMarked() {
					t.Errorf("Unmarked: got %#v, %v, want no marks", bare, err)
				}
			}
		})
	}
}

func sensitiveOf(v cty.Value) cty.Value { return v.Mark(Sensitive) }

func TestNullAgainstAnyType(t *testing.T) {
	for _, v := range []cty.Value{nothing, cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.EmptyObject)} {
		d, err := Seal(v, cty.DynamicPseudoType, nil)
		if err != nil || !d.IsNull() || d.IsZero() {
			t.Errorf("%#v: %v, null is %v", v, err, d.IsNull())
		}
	}
	for _, v := range []cty.Value{str(""), cty.True, cty.False, cty.NumberIntVal(7), cty.EmptyTupleVal, cty.EmptyObjectVal, cty.UnknownVal(cty.String)} {
		if d, err := Seal(v, v.Type(), nil); err != nil || d.IsNull() || Restore(cty.DynamicPseudoType, nil, nil).IsZero() == d.IsZero() {
			t.Errorf("%#v: %v, null is %v", v, err, d.IsNull())
		}
	}
	for _, v := range []cty.Value{str(""), cty.DynamicVal, cty.UnknownVal(cty.String), cty.EmptyObjectVal, cty.TupleVal([]cty.Value{nothing})} {
		if d, err := Seal(v, cty.DynamicPseudoType, nil); err != nil || d.IsNull() {
			t.Errorf("%#v: %v, null is %v", v, err, d.IsNull())
		}
	}
}

func TestRestoreOfNonsense(t *testing.T) {
	for _, packed := range [][]byte{{}, {0xff}, {0x81}, {0xa5, 'x'}} {
		d := Restore(cty.Bool, packed, nil)
		if _, err := d.Live(); err == nil {
			t.Errorf("% x was decoded", packed)
		}
		d.IsNull()
	}
}

func drawValue(depth int) *rapid.Generator[cty.Value] {
	return rapid.Custom(func(t *rapid.T) cty.Value {
		var v cty.Value
		kind := rapid.IntRange(0, 6).Draw(t, "kind")
		if depth == 0 {
			kind %= 4
		}
		switch kind {
		case 0:
			v = str(rapid.StringN(0, 5, -1).Draw(t, "string"))
		case 1:
			v = cty.NumberIntVal(rapid.Int64().Draw(t, "number"))
		case 2:
			v = cty.UnknownVal(cty.Number)
		case 3:
			v = cty.NullVal(cty.Bool)
		case 4:
			v = cty.TupleVal(rapid.SliceOfN(drawValue(depth-1), 0, 3).Draw(t, "tuple"))
		default:
			v = cty.ObjectVal(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), drawValue(depth-1), 0, 3).Draw(t, "object"))
		}
		if rapid.IntRange(0, 4).Draw(t, "marked") == 0 {
			v = v.Mark(Sensitive)
		}
		return v
	})
}

func TestSealRoundTripOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(3).Draw(t, "value")
		ty := v.Type()
		if rapid.Bool().Draw(t, "any type") {
			ty = cty.DynamicPseudoType
		}
		d, err := Seal(v, ty, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Live(); err != nil || !got.RawEquals(v) {
			t.Fatalf("Live: got %#v, %v, want %#v", got, err, v)
		}
	})
}

func TestMarks(t *testing.T) {
	v := cty.ObjectVal(obj{
		"a": cty.ListVal([]cty.Value{str("x"), ephemeral}), "b": cty.MapVal(obj{"k": sensitive.Mark(Ephemeral)}), "c": str("y").Mark(Sensitive),
	}).Mark(Sensitive)
	for m, want := range map[Mark][]string{Ephemeral: {"a[1]", `b["k"]`}, Sensitive: {"", `b["k"]`, "c"}, TypeValue: nil} {
		var got []string
		for _, p := range PathsWith(v, m) {
			got = append(got, schema.PathString(p))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("paths with %s (-want +got)\n%s", m, diff)
		}
		if Contains(v, m) != (want != nil) {
			t.Errorf("Contains %s: got %v, want %v", m, Contains(v, m), (want != nil))
		}
	}
	if Has(v, Ephemeral) || !Has(v, Sensitive) {
		t.Error("Has looks at nested values")
	}
	if raw, secret := Unmark(cty.NilVal); raw != cty.NilVal || secret || IsMarked(cty.NilVal) {
		t.Error("no value is marked")
	}
	if Contains(cty.NilVal, Sensitive) || PathsWith(cty.NilVal, Sensitive) != nil || Contains(str("x"), Sensitive) {
		t.Error("a mark where there is none")
	}
	bare, _ := v.UnmarkDeep()
	remarked := MarkPaths(bare, PathsWith(v, Ephemeral), Ephemeral)
	if diff := cmp.Diff(len(PathsWith(v, Ephemeral)), len(PathsWith(remarked, Ephemeral))); diff != "" {
		t.Errorf("marked by paths (-want +got)\n%s", diff)
	}
	if same := MarkPaths(bare, []cty.Path{cty.GetAttrPath("nowhere"), cty.GetAttrPath("a").IndexInt(9)}, Sensitive); !same.RawEquals(bare) {
		t.Errorf("marked where there is nothing: got %#v, want %#v", same, bare)
	}
}

func TestRedacted(t *testing.T) {
	for _, test := range []struct {
		marks []any
		want  string
	}{
		{nil, ""},
		{[]any{Deprecated{By: "x"}, TypeValue}, ""},
		{[]any{Sensitive}, "(sensitive value)"},
		{[]any{Ephemeral}, "(ephemeral value)"},
		{[]any{Ephemeral, Deprecated{}, Sensitive}, "(sensitive, ephemeral value)"},
		{[]any{Ephemeral, Computed{By: "a", Type: "t"}}, "(ephemeral value)"},
		{[]any{Ephemeral, Sensitive, Computed{By: "a", Type: "t", Past: true}}, "(sensitive, ephemeral value, not available in this run)"},
		{[]any{Ephemeral, Computed{By: "a", Past: true}}, "(ephemeral value, not available in this run)"},
		{[]any{Ephemeral, Computed{By: "a"}, Computed{By: "b", Past: true}}, "(ephemeral value, not available in this run)"},
	} {
		if got, hide := Redacted(cty.NewValueMarks(test.marks...)); got != test.want || hide != (test.want != "") {
			t.Errorf("Redacted(%v): got %q, %t, want %q, %t", test.marks, got, hide, test.want, test.want != "")
		}
	}
}

func TestSame(t *testing.T) {
	seal := func(v cty.Value) Durable {
		d, err := Seal(v, v.Type(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	text := cty.TupleVal([]cty.Value{cty.StringVal("x"), cty.UnknownVal(cty.String)})
	secret := cty.TupleVal([]cty.Value{cty.StringVal("x").Mark(Sensitive), cty.UnknownVal(cty.String)})
	tests := []struct {
		name        string
		a, b        Durable
		value, same bool
	}{
		{"alike", seal(text), seal(text), true, true},
		{"another sensitivity", seal(text), seal(secret), true, false},
		{"another value", seal(cty.StringVal("x")), seal(cty.StringVal("y")), false, false},
		{"another type", seal(cty.NullVal(cty.String)), seal(cty.NullVal(cty.Number)), false, false},
		{"none", Durable{}, Durable{}, false, true},
		{"one", Durable{}, seal(text), false, false},
	}
	for _, test := range tests {
		if got := test.a.SameValue(test.b); got != test.value {
			t.Errorf("%s: SameValue: got %t, want %t", test.name, got, test.value)
		}
		if got := test.a.Same(test.b); got != test.same {
			t.Errorf("%s: Same: got %t, want %t", test.name, got, test.same)
		}
	}
}
