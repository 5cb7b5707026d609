package lang

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// redactFunctions are those of the contexts in these tests. check quotes its argument in its error.
func redactFunctions() map[string]function.Function {
	text := function.Parameter{Name: "str", Type: cty.String, AllowMarked: true}
	same := func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0], nil }
	sensitive := function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowMarked: true, AllowUnknown: true, AllowDynamicType: true}},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0].Mark(value.Sensitive), nil },
	})
	return map[string]function.Function{
		"upper": function.New(&function.Spec{Params: []function.Parameter{text}, Type: function.StaticReturnType(cty.String), Impl: same}),
		"join":  function.New(&function.Spec{Params: []function.Parameter{text}, VarParam: &function.Parameter{Name: "lists", Type: cty.List(cty.String)}, Type: function.StaticReturnType(cty.String), Impl: same}),
		"check": function.New(&function.Spec{Params: []function.Parameter{text}, Type: function.StaticReturnType(cty.String), Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].IsMarked() {
				return cty.NilVal, errors.New("it is secret")
			}
			return cty.NilVal, errors.New("it is " + args[0].AsString())
		}}),
		"sensitive": sensitive, "core::sensitive": sensitive,
	}
}

// redactContext has a secret of each kind, of which each is or has the canary, beside what is public.
func redactContext() *hcl.EvalContext {
	canary := cty.StringVal("canary")
	object := cty.ObjectVal(map[string]cty.Value{"canary": cty.True})
	return &hcl.EvalContext{Functions: redactFunctions(), Variables: map[string]cty.Value{
		"public":  cty.StringVal("public"),
		"s":       canary.Mark(value.Sensitive),
		"e":       canary.Mark(value.Ephemeral),
		"both":    canary.Mark(value.Sensitive).Mark(value.Ephemeral),
		"part":    cty.ObjectVal(map[string]cty.Value{"s": canary.Mark(value.Sensitive), "public": cty.StringVal("public")}),
		"object":  object.Mark(value.Sensitive),
		"objects": cty.ListVal([]cty.Value{object}).Mark(value.Ephemeral),
		"list":    cty.ListVal([]cty.Value{canary}).Mark(value.Sensitive),
		"pair":    cty.TupleVal([]cty.Value{canary, canary}).Mark(value.Ephemeral),
		"open":    cty.TupleVal([]cty.Value{canary, canary}).Mark(value.Ephemeral).Mark(value.EphemeralType),
	}}
}

// evaluated returns the errors of an expression before and after Redact.
func evaluated(t *testing.T, text string, ctx *hcl.EvalContext) (before, after diag.List) {
	t.Helper()
	expr, hd := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	if hd.HasErrors() {
		t.Fatal(hd)
	}
	errs := func(ctx *hcl.EvalContext) diag.List {
		_, hd := expr.Value(ctx)
		return diag.FromHCL(hd)
	}
	before = errs(ctx)
	return before, Redact(slices.Clone(before), ctx, errs)
}

// TestRedact evaluates expressions that fail. Of each, details says which details are kept, hidden by which
// word, or stand before what is hidden.
func TestRedact(t *testing.T) {
	const kept = "kept"
	hidden := func(word string) string {
		return "The details are not shown here, because they could reveal a part of a value: (" + word + " value)."
	}
	for text, details := range map[string][]string{
		`public + 1`:                    {kept},
		`{ a = public }.b`:              {kept},
		`s + 1`:                         {hidden("sensitive, ephemeral")},
		`part.s + 1`:                    {hidden("sensitive, ephemeral")},
		`part.public + 1`:               {kept},
		`[public + 1, s + 1]`:           {kept, hidden("sensitive, ephemeral")},
		`object.other`:                  {hidden("sensitive, ephemeral")},
		`objects[0].other`:              {hidden("sensitive, ephemeral")},
		`list + 1`:                      {kept}, // whatever is in it
		`pair[5]`:                       {kept}, // whose length is known
		`open[5]`:                       {hidden("sensitive, ephemeral")},
		`check(s)`:                      {kept}, // which sees the mark
		`check(public)`:                 {kept},
		`[for x in list : check(x)]`:    {hidden("sensitive, ephemeral")},
		`[for x in list : x + 1]`:       {hidden("sensitive, ephemeral")},
		`[for x in ["a"] : public + 1]`: {kept},
		`[for x in ["a"] : check(x)]`:   {kept},
		`upper([s])`:                    {kept},
		`upper(object)`:                 {`Invalid value for "str" parameter: string required. ` + hidden("sensitive, ephemeral")},
		`join("", objects[0])`:          {`Invalid value for "lists" parameter: list of string required. ` + hidden("sensitive, ephemeral")},
		`sensitive("canary") + 1`:       {hidden("sensitive, ephemeral")},
		`core::sensitive("canary") + 1`: {hidden("sensitive, ephemeral")},
	} {
		before, after := evaluated(t, text, redactContext())
		if len(before) != len(details) || len(after) != len(before) {
			t.Errorf("%s: got %d errors, and %d once they are redacted, want %d: %v", text, len(before), len(after), len(details), before)
			continue
		}
		for i, want := range details {
			if want == kept {
				want = before[i].Detail
			}
			if after[i].Detail != want || after[i].Summary != before[i].Summary || *after[i].Subject != *before[i].Subject {
				t.Errorf("%s: %s: %s, want %s", text, after[i].Summary, after[i].Detail, want)
			}
		}
	}
}

// TestRedactNamesTheSecret says which kind of secret hides the details.
func TestRedactNamesTheSecret(t *testing.T) {
	for name, want := range map[string]string{"s": "(sensitive value)", "e": "(ephemeral value)", "both": "(sensitive, ephemeral value)"} {
		ctx := redactContext()
		ctx.Variables = map[string]cty.Value{name: ctx.Variables[name]}
		if _, after := evaluated(t, name+" + 1", ctx); len(after) != 1 || !strings.HasSuffix(after[0].Detail, want+".") {
			t.Errorf("%s: got %v, want one error that ends with %s", name, after, want)
		}
	}
	ctx := redactContext()
	ctx.Variables = nil
	for _, text := range []string{`sensitive("canary") + 1`, `core::sensitive("canary") + 1`} {
		if _, after := evaluated(t, text, ctx); len(after) != 1 || !strings.HasSuffix(after[0].Detail, "(sensitive value).") {
			t.Errorf("%s: got %v, want one error without the value", text, after)
		}
	}
}

// TestRedactLoops has errors in loops, whose variables have lost the marks of their collection: what shows
// the values around an error finds them with marks.
func TestRedactLoops(t *testing.T) {
	for _, text := range []string{`[for x in list : x + 1]`, `[for i in ["a"] : [for x in list : x + 1]]`, `[for x in list : [for i in ["a"] : x + 1]]`, `[for x in list : public + 1]`, `[for x in list : check(x)]`} {
		ctx := redactContext()
		before, after := evaluated(t, text, ctx)
		if len(after) != 1 {
			t.Errorf("%s: got %v, want one error", text, after)
			continue
		}
		got, was := after[0].EvalContext, before[0].EvalContext
		for ; was != ctx; got, was = got.Parent(), was.Parent() {
			if !slices.Equal(slices.Sorted(maps.Keys(got.Variables)), slices.Sorted(maps.Keys(was.Variables))) {
				t.Errorf("%s: got the variables %q, want %q", text, slices.Sorted(maps.Keys(got.Variables)), slices.Sorted(maps.Keys(was.Variables)))
			}
			for name, v := range got.Variables {
				if !value.Has(v, value.Sensitive) || !value.Has(v, value.Ephemeral) {
					t.Errorf("%s: %s has not the marks of the context", text, name)
				}
			}
		}
		if got != ctx {
			t.Errorf("%s: got another context around the loop: %p, want %p", text, got, ctx)
		}
		if _, ok := after[0].Extra.(hclsyntax.FunctionCallDiagExtra); ok {
			t.Errorf("%s: the error of the function is kept, which quotes an element", text)
		}
	}
	if _, after := evaluated(t, `check(s)`, redactContext()); after[0].Extra == nil {
		t.Error("the error of a function is lost that saw the mark")
	}
	if _, after := evaluated(t, `upper(object)`, redactContext()); after[0].Extra == nil {
		t.Error("it is lost that a function was called")
	}
}

// TestRedactKeeps has what is kept whatever a second evaluation gives.
func TestRedactKeeps(t *testing.T) {
	ctx := redactContext()
	none := func(*hcl.EvalContext) diag.List { return nil }
	warning := diag.Warnf("a warning", "of something")
	if got := Redact(slices.Clone(warning), ctx, func(*hcl.EvalContext) diag.List { t.Error("it is evaluated again for a warning"); return nil }); got[0].Detail != "of something" {
		t.Errorf("warning: got %v, want it unchanged: of something", got)
	}
	both := slices.Concat(diag.Warnf("a warning", "of something"), diag.Errorf("an error", "about something"))
	if got := Redact(both, ctx, none); got[0].Detail != "of something" || !strings.HasPrefix(got[1].Detail, "The details are not shown") {
		t.Errorf("got %v, want the warning unchanged, and the error without details", got)
	}
	if got := Redact(diag.Errorf("an error", "about something"), ctx, func(*hcl.EvalContext) diag.List { return diag.Errorf("an error", "about something") }); got[0].Detail != "about something" {
		t.Errorf("error without a place: got %v, want it unchanged: about something", got)
	}
	public := &hcl.EvalContext{Variables: map[string]cty.Value{"public": ctx.Variables["public"]}}
	if got := Redact(diag.Errorf("an error", "about something"), public, none); got[0].Detail != "about something" {
		t.Errorf("error without a secret: got %v, want it unchanged: about something", got)
	}
}

// called is what HCL adds to the errors of calls.
type called string

func (c called) CalledFunctionName() string { return string(c) }
func (called) FunctionCallError() error     { return nil }

// TestRequirement says which type an argument must have, and nothing else of an error that is hidden.
func TestRequirement(t *testing.T) {
	ctx := redactContext()
	inner := ctx.NewChild()
	inner.Functions = map[string]function.Function{"upper": redactFunctions()["join"]}
	wrong := func(param string) string { return `Invalid value for "` + param + `" parameter: canary.` }
	for name, test := range map[string]struct {
		d    diag.Diagnostic
		want string
	}{
		"parameter":          {diag.Diagnostic{Detail: wrong("str"), EvalContext: ctx, Extra: called("upper")}, `Invalid value for "str" parameter: string required. `},
		"function of a loop": {diag.Diagnostic{Detail: wrong("lists"), EvalContext: inner, Extra: called("upper")}, `Invalid value for "lists" parameter: list of string required. `},
		"function around":    {diag.Diagnostic{Detail: wrong("lists"), EvalContext: inner, Extra: called("join")}, `Invalid value for "lists" parameter: list of string required. `},
		"another parameter":  {diag.Diagnostic{Detail: wrong("canary"), EvalContext: ctx, Extra: called("upper")}, ""},
		"another function":   {diag.Diagnostic{Detail: wrong("str"), EvalContext: ctx, Extra: called("canary")}, ""},
		"no call":            {diag.Diagnostic{Detail: wrong("str"), EvalContext: ctx}, ""},
		"another detail":     {diag.Diagnostic{Detail: "str", EvalContext: ctx, Extra: called("upper")}, ""},
		"no context":         {diag.Diagnostic{Detail: wrong("str"), Extra: called("upper")}, ""},
	} {
		if got := requirement(test.d); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	test := diag.List{{Severity: diag.Error, Summary: "wrong", Detail: wrong("lists"), EvalContext: inner, Extra: called("upper")}}
	if got := Redact(test, ctx, func(*hcl.EvalContext) diag.List { return nil }); !strings.HasPrefix(got[0].Detail, `Invalid value for "lists" parameter: list of string required. The details`) {
		t.Errorf("a function of a context within: %s", got[0].Detail)
	}
	test = diag.List{{Severity: diag.Error, Summary: "wrong", Detail: "canary"}}
	if got := Redact(test, ctx, func(*hcl.EvalContext) diag.List { return nil }); strings.Contains(got[0].Detail, "canary") || got[0].EvalContext != nil {
		t.Errorf("an error without a context: %v", got)
	}
}

// TestSecretsWithin has secrets at all places in values, which are unknown without them. Where the elements
// of a collection cannot have one type any more, because names may be secret, all of it is unknown.
func TestSecretsWithin(t *testing.T) {
	object := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"x": v}) }
	names, text := object(cty.StringVal("a")), cty.StringVal("a")
	secret, unknown := text.Mark(value.Sensitive), cty.UnknownVal(cty.String).Mark(value.Sensitive)
	secretNames, unknownNames := names.Mark(value.Ephemeral), cty.DynamicVal.Mark(value.Ephemeral)
	hold := func(kind string, parts ...cty.Value) cty.Value {
		byKey := map[string]cty.Value{}
		for i, part := range parts {
			byKey[string(rune('a'+i))] = part
		}
		switch kind {
		case "map":
			return cty.MapVal(byKey)
		case "object":
			return cty.ObjectVal(byKey)
		case "list":
			return cty.ListVal(parts)
		}
		return cty.TupleVal(parts)
	}
	for _, kind := range []string{"map", "object", "list", "tuple"} {
		mixed, reversed := cty.DynamicVal, cty.DynamicVal
		if kind == "object" || kind == "tuple" {
			mixed, reversed = hold(kind, object(names), object(unknownNames)), hold(kind, object(unknownNames), object(names))
		}
		for _, row := range []struct{ in, want cty.Value }{
			{hold(kind, text, text), hold(kind, text, text)},
			{hold(kind, text, secret), hold(kind, text, unknown)},
			{hold(kind, names, secretNames), hold(kind, names, unknownNames)},
			{hold(kind, secretNames, names), hold(kind, unknownNames, names)},
			{hold(kind, object(names), object(secretNames)), mixed},
			{hold(kind, object(secretNames), object(names)), reversed},
			{hold(kind, object(secretNames), object(secretNames)), hold(kind, object(unknownNames), object(unknownNames))},
			{hold(kind, hold(kind, names, secretNames)), hold(kind, hold(kind, names, unknownNames))},
		} {
			if got := unknownSecrets(row.in, cty.ValueMarks{}); !got.RawEquals(row.want) {
				t.Errorf("%s, %#v: got %#v, want %#v", kind, row.in, got, row.want)
			}
		}
	}
	marks := cty.ValueMarks{}
	unknownSecrets(hold("map", object(secret), object(text)).Mark(value.Ephemeral), marks)
	if !maps.Equal(marks, cty.NewValueMarks(value.Sensitive, value.Ephemeral)) {
		t.Errorf("got the marks %v, want those of all secrets", marks)
	}
}
