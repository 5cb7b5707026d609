package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

var (
	str     = cty.StringVal
	null    = cty.NullVal(cty.String)
	unknown = cty.UnknownVal(cty.String)
)

type obj = map[string]cty.Value

func object(o obj) cty.Value { return cty.ObjectVal(o) }

func list(vs ...cty.Value) cty.Value { return cty.ListVal(vs) }

func set(vs ...cty.Value) cty.Value { return cty.SetVal(vs) }

func attr(flags string) *Attribute {
	a := &Attribute{Type: cty.String}
	for _, f := range flags {
		switch f {
		case 'r':
			a.Required = true
		case 'o':
			a.Optional = true
		case 'c':
			a.Computed = true
		case 's':
			a.Sensitive = true
		case 'w':
			a.WriteOnly = true
		case 'd':
			a.Deprecated = true
		}
	}
	return a
}

// parts has an attribute of each sort: key is required, opt optional, both optional and computed, id
// computed.
func parts() map[string]*Attribute {
	return map[string]*Attribute{"key": attr("r"), "opt": attr("o"), "both": attr("oc"), "id": attr("c")}
}

func elem(key, opt, both, id cty.Value) cty.Value {
	return object(obj{"key": key, "opt": opt, "both": both, "id": id})
}

var elemType = elem(null, null, null, null).Type()

// nestedBlock has one block type or one nested attribute called n.
func nestedBlock(nesting Nesting) *Block {
	return &Block{Blocks: map[string]*NestedBlock{"n": {Nesting: nesting, Block: Block{Attributes: parts()}}}}
}

func nestedAttr(nesting Nesting) *Block {
	return &Block{Attributes: map[string]*Attribute{
		"n": {Optional: true, Nested: &Object{Nesting: nesting, Attributes: parts()}},
	}}
}

// collect makes the value of n from elements; map keys are those of the elements.
func collect(nesting Nesting, elems ...cty.Value) cty.Value {
	switch nesting {
	case List:
		if len(elems) == 0 {
			return object(obj{"n": cty.ListValEmpty(elemType)})
		}
		return object(obj{"n": cty.ListVal(elems)})
	case Set:
		if len(elems) == 0 {
			return object(obj{"n": cty.SetValEmpty(elemType)})
		}
		return object(obj{"n": cty.SetVal(elems)})
	case Map:
		if len(elems) == 0 {
			return object(obj{"n": cty.MapValEmpty(elemType)})
		}
		keyed := obj{}
		for _, e := range elems {
			keyed[e.GetAttr("key").AsString()] = e
		}
		return object(obj{"n": cty.MapVal(keyed)})
	default:
		if len(elems) == 0 {
			return object(obj{"n": cty.NullVal(elemType)})
		}
		return object(obj{"n": elems[0]})
	}
}

func parse(t testing.TB, src string) hcl.Body {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(src), "t.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return file.Body
}

func parseJSON(t testing.TB, src string) hcl.Body {
	t.Helper()
	file, diags := json.Parse([]byte(src), "t.tf.json")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return file.Body
}

func wantValue(t testing.TB, got, want cty.Value) {
	t.Helper()
	if got == cty.NilVal || !got.RawEquals(want) {
		t.Errorf("wrong value\ngot:  %#v\nwant: %#v", got, want)
	}
}

func wantErrors(t testing.TB, errs []error, want ...string) {
	t.Helper()
	got := []string{}
	for _, err := range errs {
		pathErr, ok := err.(cty.PathError)
		if !ok {
			t.Fatalf("not a PathError: %v", err)
		}
		got = append(got, PathString(pathErr.Path)+": "+err.Error())
	}
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("wrong errors (-want +got)\n%s", diff)
	}
}

func pathStrings(paths []cty.Path) []string {
	got := []string{}
	for _, p := range paths {
		got = append(got, PathString(p))
	}
	return got
}
