package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const secret = "hunter2-hunter2"

func sensitive(s string) cty.Value { return str(s).Mark(value.Sensitive) }

func ephemeral(s string) cty.Value { return str(s).Mark(value.Ephemeral) }

// guarded returns a checker with a guard that knows nothing yet.
func guarded(t *testing.T) Checker {
	c := checker(t)
	c.Leaks.Guard = leak.New()
	c.Configured = addr.ProviderConfig{Provider: c.Provider, Alias: "a"}
	return c
}

// fate is what becomes of a value in an answer.
type fate uint8

const (
	passes  fate = iota // without a word
	warned              // stored, with a warning
	dropped             // left out, with a warning
	refused             // left out, with an error
)

// fateOf returns what becomes of a text in an attribute of an answer.
func fateOf(t *testing.T, c *Checker, text string, a Answer) fate {
	t.Helper()
	got, diags := c.Accept(object(map[string]cty.Value{"made": str(text), "chosen": str("kept")}), nil, a)
	if got == cty.NilVal || got.GetAttr("chosen") != str("kept") {
		t.Fatalf("got %#v, want the rest of the object kept", got)
	}
	if len(diags) > 1 || len(diags) == 1 && strings.Contains(diags[0].String(), "hunter2") {
		t.Errorf("got %d diagnostics, with %v", len(diags), diags)
	}
	left := !got.GetAttr("made").IsNull()
	switch {
	case len(diags) == 0 && left:
		return passes
	case diags.HasErrors() && !left:
		return refused
	case !diags.HasErrors() && left:
		return warned
	case !diags.HasErrors():
		return dropped
	}
	t.Fatalf("stored %v, with %v", left, diags)
	return passes
}

// TestVerdicts has the table of the definition: what becomes of a value by what it is for the object, by the
// policy and by the answer.
func TestVerdicts(t *testing.T) {
	configured := leak.Source{Kind: leak.Configuration, Address: guardedAddress(t)}
	variable, key := leak.Source{Kind: leak.Variable, Address: "var.a"}, leak.Source{Kind: leak.Credential, Address: "a key"}
	given := func(v cty.Value) func(*Checker) {
		return func(c *Checker) { c.Given(object(map[string]cty.Value{"secret": v})) }
	}
	reveal := func(from leak.Source, v cty.Value) func(*Checker) {
		return func(c *Checker) { c.Leaks.Guard.Reveal(from, v, cty.String) }
	}
	remember := func(from leak.Source, v cty.Value) func(*Checker) {
		return func(c *Checker) { c.Leaks.Guard.Remember(from, v, cty.String) }
	}
	always := func(f fate) [3]fate { return [3]fate{f, f, warned} }
	for _, row := range []struct {
		name        string
		learn       func(*Checker)
		whole, part [3]fate // of an object, by policy; the value alone, and in a longer text
		read        fate    // of the value alone, in an answer that was only read
	}{
		{"nothing", func(*Checker) {}, [3]fate{}, [3]fate{}, passes},
		{"own, ephemeral", given(ephemeral(secret)), always(refused), always(refused), dropped},
		{"own, sensitive", given(sensitive(secret)), always(refused), always(refused), dropped},
		{"own, without a mark", given(str(secret)), always(refused), [3]fate{warned, refused, warned}, dropped},
		{"configured, confidential", reveal(configured, ephemeral(secret).Mark(value.Sensitive)), [3]fate{warned, refused, warned}, [3]fate{warned, refused, warned}, warned},
		{"configured, not ephemeral", reveal(configured, sensitive(secret)), [3]fate{}, [3]fate{}, passes},
		{"variable, confidential", remember(variable, sensitive(secret)), always(refused), always(refused), refused},
		{"variable", remember(variable, str(secret)), [3]fate{warned, refused, warned}, [3]fate{warned, refused, warned}, warned},
		{"key", remember(key, sensitive(secret)), always(refused), always(refused), refused},
		{"configured with a variable", func(c *Checker) {
			remember(variable, sensitive(secret))(c)
			reveal(configured, ephemeral(secret))(c)
		}, [3]fate{warned, refused, warned}, [3]fate{warned, refused, warned}, warned},
		{"own and configured", func(c *Checker) {
			given(ephemeral(secret))(c)
			reveal(configured, ephemeral(secret))(c)
		}, always(refused), always(refused), dropped},
		{"another object's", reveal(leak.Source{Kind: leak.WriteOnly, Address: "t.y"}, ephemeral(secret).Mark(value.Sensitive)), [3]fate{}, [3]fate{}, passes},
		{"another configuration's", reveal(leak.Source{Kind: leak.Configuration, Address: "provider[\"x\"]"}, ephemeral(secret)), [3]fate{}, [3]fate{}, passes},
		{"a result", remember(leak.Source{Kind: leak.Result, Address: "ephemeral.x.y"}, sensitive(secret)), [3]fate{}, [3]fate{}, passes},
	} {
		for policy := range 3 {
			for text, want := range map[string]fate{secret: row.whole[policy], "a=" + secret + ";": row.part[policy]} {
				c := guarded(t)
				c.Leaks.Policy = leak.Policy(policy)
				row.learn(&c)
				if got := fateOf(t, &c, text, Object); got != want {
					t.Errorf("%s, policy %d, %q: got %d, want %d", row.name, policy, text, got, want)
				}
			}
		}
		c := guarded(t)
		row.learn(&c)
		if got := fateOf(t, &c, secret, Read); got != row.read {
			t.Errorf("%s, read: got %d, want %d", row.name, got, row.read)
		}
	}
}

func guardedAddress(t *testing.T) string {
	c := guarded(t)
	return c.Configured.String()
}

// TestDataSources lets a data source read what an ephemeral variable or a write-only argument of its own has
// too, such as a key to the state that it reads: it is asked for what is elsewhere.
func TestDataSources(t *testing.T) {
	c := guarded(t)
	c.Object.Resource.Mode = addr.Data
	c.Leaks.Guard.Remember(leak.Source{Kind: leak.Variable, Address: "var.a"}, sensitive(secret), cty.String)
	if got := fateOf(t, &c, secret, Read); got != passes {
		t.Errorf("an equal variable: got %d, want %d", got, passes)
	}
	c.Given(object(map[string]cty.Value{"secret": ephemeral(secret).Mark(value.Sensitive)}))
	if got := fateOf(t, &c, secret, Read); got != passes {
		t.Errorf("an equal write-only argument: got %d, want %d", got, passes)
	}
	c.Leaks.Guard.Reveal(leak.Source{Kind: leak.Configuration, Address: c.Configured.String()}, ephemeral(secret), cty.String)
	if got := fateOf(t, &c, secret, Read); got != warned {
		t.Errorf("what the provider was configured with: got %d, want %d", got, warned)
	}
}

// TestInTheOpen has each place that a value may come back from, and those that do not count.
func TestInTheOpen(t *testing.T) {
	own := object(map[string]cty.Value{"secret": ephemeral(secret)})
	for name, row := range map[string]struct {
		learn func(*Checker) (end func())
		want  fate
	}{
		"argument": {func(c *Checker) func() {
			c.Given(object(map[string]cty.Value{"set": sensitive(secret), "secret": ephemeral(secret)}))
			return nil
		}, passes},
		"part of an argument": {func(c *Checker) func() {
			c.Given(object(map[string]cty.Value{"set": str("<" + secret + ">"), "secret": ephemeral(secret)}))
			return nil
		}, passes},
		"key of an argument": {func(c *Checker) func() {
			c.Given(object(map[string]cty.Value{"tags": cty.MapVal(map[string]cty.Value{secret: str("")}), "secret": ephemeral(secret)}))
			return nil
		}, passes},
		"the state": {func(c *Checker) func() {
			c.Publish(func(yield func(string) bool) { yield(`{"made":"` + secret + `"}`) })
			c.Given(own)
			return nil
		}, passes},
		"the files": {func(c *Checker) func() {
			c.Given(own)
			return c.Leaks.Guard.Publish(slices.Values([][]byte{[]byte(secret)}))
		}, refused},
		"the state of others": {func(c *Checker) func() {
			c.Given(own)
			return c.Leaks.Guard.Stored(slices.Values([][]byte{[]byte(secret)}))
		}, refused},
		"the files, a variable": {func(c *Checker) func() {
			c.Leaks.Guard.Remember(leak.Source{Kind: leak.Variable, Address: "var.a"}, sensitive(secret), cty.String)
			return c.Leaks.Guard.Publish(slices.Values([][]byte{[]byte(secret)}))
		}, passes},
		"the files, configured": {func(c *Checker) func() {
			c.Leaks.Guard.Reveal(leak.Source{Kind: leak.Configuration, Address: c.Configured.String()}, ephemeral(secret), cty.String)
			return c.Leaks.Guard.Publish(slices.Values([][]byte{[]byte(secret)}))
		}, passes},
	} {
		c := guarded(t)
		if end := row.learn(&c); end != nil {
			defer end()
		}
		if got := fateOf(t, &c, "x"+secret+"y", Object); got != row.want {
			t.Errorf("%s: got %d, want %d", name, got, row.want)
		}
	}
	c := guarded(t)
	c.Given(own)
	if got := fateOf(t, &c, secret, Object); got != refused {
		t.Errorf("before it is public: got %d, want %d", got, refused)
	}
	c.Given(object(map[string]cty.Value{"set": str(secret)}))
	if got := fateOf(t, &c, secret, Object); got != passes {
		t.Errorf("what becomes known later is not public: got %d, want %d", got, passes)
	}
}

// TestStoredWithAWarning warns once about each value of an object.
func TestStoredWithAWarning(t *testing.T) {
	c := guarded(t)
	c.Leaks.Guard.Reveal(leak.Source{Kind: leak.Configuration, Address: c.Configured.String()}, ephemeral(secret), cty.String)
	if got := fateOf(t, &c, secret, Plan); got != warned {
		t.Errorf("first: got %d, want %d", got, warned)
	}
	if got := fateOf(t, &c, secret, Object); got != passes {
		t.Errorf("then: got %d, want %d", got, passes)
	}
	other := guarded(t)
	other.Leaks.Guard = c.Leaks.Guard
	if got := fateOf(t, &other, secret, Plan); got != warned {
		t.Errorf("of another object: got %d, want %d", got, warned)
	}
	if got := c.Leaks.Guard.Redact(secret); got != leak.Withheld {
		t.Errorf("a message shows: got %q, want %q", got, leak.Withheld)
	}
}

// TestSeveralValues has texts that hold several values. Each counts, whatever stands before it or around it.
func TestSeveralValues(t *testing.T) {
	learn := func(c *Checker) {
		configured := leak.Source{Kind: leak.Configuration, Address: c.Configured.String()}
		for _, s := range []string{"db-user-1", "prefix-" + secret + "-suffix", secret + "-suffix"} {
			c.Leaks.Guard.Reveal(configured, ephemeral(s), cty.String)
		}
		c.Given(object(map[string]cty.Value{"secret": ephemeral(secret)}))
	}
	for _, text := range []string{
		`{"u":"db-user-1","p":"` + secret + `"}`, "db-user-1-" + secret, "prefix-" + secret + "-suffix", secret + "-suffix db-user-1",
	} {
		c := guarded(t)
		learn(&c)
		if got := fateOf(t, &c, text, Object); got != refused {
			t.Errorf("%s: got %d, want %d", text, got, refused)
		}
		c = guarded(t)
		learn(&c)
		before := []byte("before")
		private, diags := c.AcceptPrivate([]byte(text), before, Object)
		if string(private) != "before" || !diags.HasErrors() {
			t.Errorf("private data %s: got %s, %v, want that of before, and an error", text, private, diags)
		}
		id, diags := c.AcceptIdentity(cty.ObjectVal(map[string]cty.Value{"id": str(text)}), Object)
		if id != cty.NilVal || !diags.HasErrors() {
			t.Errorf("identity %s: got %#v, %v, want none, and an error", text, id, diags)
		}
	}
	c := guarded(t)
	learn(&c)
	if private, diags := c.AcceptPrivate([]byte(`{"u":"db-user-1"}`), nil, Object); private == nil || diags.HasErrors() || len(diags) != 1 {
		t.Errorf("private data that may be stored: got %s, %v, want it kept, and one warning", private, diags)
	}
	if id, diags := c.AcceptIdentity(cty.ObjectVal(map[string]cty.Value{"id": str("x")}), Object); id == cty.NilVal || diags != nil {
		t.Errorf("an identity that may be stored: %#v, %v", id, diags)
	}
	if id, diags := c.AcceptIdentity(cty.ObjectVal(map[string]cty.Value{"id": str(secret)}), Imported); id != cty.NilVal || diags.HasErrors() || len(diags) != 1 {
		t.Errorf("identity of a read object: got %#v, %v, want none, and one warning", id, diags)
	}
}

// TestID keeps the id of an object that exists: without it, the object would be lost.
func TestID(t *testing.T) {
	block := &schema.Block{Attributes: map[string]*schema.Attribute{
		"id": {Type: cty.String, Computed: true}, "secret": {Type: cty.String, Optional: true, WriteOnly: true},
	}}
	for a, kept := range map[Answer]bool{Object: true, Plan: false, Read: true, Imported: true} {
		c := guarded(t)
		c.Block = block
		c.Given(cty.ObjectVal(map[string]cty.Value{"id": cty.NullVal(cty.String), "secret": ephemeral(secret)}))
		got, diags := c.Accept(cty.ObjectVal(map[string]cty.Value{"id": str("user:" + secret), "secret": cty.NullVal(cty.String)}), nil, a)
		if got.GetAttr("id").IsNull() == kept || diags.HasErrors() != (a == Plan || a == Object) || c.Exposed != kept {
			t.Errorf("%s: got %#v, exposed %t, %v, want the id kept and exposed: %t, an error in a plan or an object", a, got, c.Exposed, diags, kept)
		}
		if kept && !strings.Contains(diags[0].Detail, "it is stored, and the secret with it") {
			t.Errorf("it says %s", diags[0].Detail)
		}
	}
}

// TestLater judges answers that came before the configuration was known.
func TestLater(t *testing.T) {
	c := guarded(t)
	c.Later = true
	leaky := object(map[string]cty.Value{"made": str(secret), "chosen": str("kept")})
	got, diags := c.Accept(leaky, nil, Read)
	private, more := c.AcceptPrivate([]byte(secret), nil, Read)
	id, wrong := c.AcceptIdentity(cty.ObjectVal(map[string]cty.Value{"id": str(secret)}), Read)
	if !got.RawEquals(leaky) || string(private) != secret || id == cty.NilVal || len(diags)+len(more)+len(wrong) > 0 {
		t.Errorf("answer of a read: got %#v, %s, %#v, %v, want it unchanged, and judged later", got, private, id, slices.Concat(diags, more, wrong))
	}
	c.Given(object(map[string]cty.Value{"secret": ephemeral(secret)}))
	reviewed, diags := c.Review(Answered{Value: got, Identity: id, Private: private}, []byte("before"))
	want := object(map[string]cty.Value{"chosen": str("kept")})
	if !reviewed.Value.RawEquals(want) || reviewed.Identity != cty.NilVal || string(reviewed.Private) != "before" || len(diags) != 3 || diags.HasErrors() {
		t.Errorf("Review: got %#v, %v, want %#v, without identity, the private data of before, 3 warnings", reviewed, diags, want)
	}
	if got := fateOf(t, &c, secret, Object); got != refused {
		t.Errorf("an answer that follows: got %d, want %d", got, refused)
	}
}

// TestEveryPlace finds values wherever they stand in an object, and leaves the rest as it is.
func TestEveryPlace(t *testing.T) {
	one := cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.String})
	block := &schema.Block{Attributes: map[string]*schema.Attribute{
		"n": {Type: cty.Number, Computed: true}, "m": {Type: cty.Map(cty.String), Computed: true}, "d": {Type: cty.DynamicPseudoType, Computed: true},
		"l": {Type: cty.List(one), Computed: true}, "s": {Type: cty.Set(cty.String), Computed: true}, "t": {Type: cty.Tuple([]cty.Type{cty.String, cty.Number}), Computed: true},
		secret: {Type: cty.String, Computed: true},
	}}
	empty := map[string]cty.Value{secret: str("a name in the schema")}
	for name, a := range block.Attributes {
		if name != secret {
			empty[name] = cty.NullVal(a.Type)
		}
	}
	with := func(name string, v cty.Value) cty.Value {
		attrs := map[string]cty.Value{}
		for n, e := range empty {
			attrs[n] = e
		}
		attrs[name] = v
		return cty.ObjectVal(attrs)
	}
	list := func(vals ...cty.Value) cty.Value { return cty.ListVal(vals) }
	ab := func(a, b string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": str(a), "b": str(b)}) }
	named := func(name string, v cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{name: v, "other": str("y")})
	}
	for _, row := range []struct {
		attr string
		v    cty.Value
		want cty.Value
		path string
	}{
		{"n", cty.NumberIntVal(4711081512), cty.NullVal(cty.Number), "n"},
		{"m", cty.MapVal(map[string]cty.Value{secret: str("x"), "other": str("y")}), cty.MapVal(map[string]cty.Value{"other": str("y")}), "m"},
		{"m", cty.MapVal(map[string]cty.Value{"other": str(secret)}), cty.MapVal(map[string]cty.Value{"other": cty.NullVal(cty.String)}), `m["other"]`},
		{"m", cty.MapVal(map[string]cty.Value{secret: str("x")}), cty.MapValEmpty(cty.String), "m"},
		{"l", list(ab("x", secret), ab("y", "z")), list(cty.ObjectVal(map[string]cty.Value{"a": str("x"), "b": cty.NullVal(cty.String)}), ab("y", "z")), "l[0].b"},
		{"s", cty.SetVal([]cty.Value{str(secret), str("z")}), cty.SetVal([]cty.Value{cty.NullVal(cty.String), str("z")}), "s"},
		{"t", cty.TupleVal([]cty.Value{str(secret), cty.NumberIntVal(1)}), cty.TupleVal([]cty.Value{cty.NullVal(cty.String), cty.NumberIntVal(1)}), "t[0]"},
		{"d", named(secret, str("x")), cty.ObjectVal(map[string]cty.Value{"other": str("y")}), "d"},
		{"d", named("deep", named(secret, cty.True)), named("deep", cty.ObjectVal(map[string]cty.Value{"other": str("y")})), "d.deep"},
		{"d", list(named(secret, str("x")), named(secret, str("y"))), list(cty.ObjectVal(map[string]cty.Value{"other": str("y")}), cty.ObjectVal(map[string]cty.Value{"other": str("y")})), "d[0]"},
		{"d", list(named(secret, str("x")), cty.NullVal(named(secret, str("x")).Type())), list(cty.ObjectVal(map[string]cty.Value{"other": str("y")}), cty.NullVal(cty.Object(map[string]cty.Type{"other": cty.String}))), "d[0]"},
		{"d", cty.NullVal(named(secret, str("x")).Type()), cty.NullVal(cty.DynamicPseudoType), "d"},
		{"d", cty.UnknownVal(cty.List(named(secret, str("x")).Type())), cty.DynamicVal, "d"},
		{"d", cty.NullVal(cty.Tuple([]cty.Type{named(secret, str("x")).Type()})), cty.NullVal(cty.DynamicPseudoType), "d"},
	} {
		c := guarded(t)
		c.Block = block
		c.Leaks.Guard.Remember(leak.Source{Kind: leak.Variable, Address: "var.a"}, cty.TupleVal([]cty.Value{str(secret), cty.NumberIntVal(4711081512)}).Mark(value.Sensitive), cty.DynamicPseudoType)
		got, diags := c.Accept(with(row.attr, row.v), nil, Object)
		if !got.RawEquals(with(row.attr, row.want)) {
			t.Errorf("%s of %#v:\n got %#v\nwant %#v", row.attr, row.v, got.GetAttr(row.attr), row.want)
		}
		if len(diags) == 0 || !diags.HasErrors() || schema.PathString(diags[0].Path) != row.path {
			t.Errorf("%s of %#v: got %v, want errors, the first at %s", row.attr, row.v, diags, row.path)
		}
		if slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return strings.Contains(d.String(), secret) }) {
			t.Errorf("the secret is in a message: %v", diags)
		}
		if line := "ephemeral_attributes = [" + row.attr + "]"; !strings.HasSuffix(diags[0].Detail, line) {
			t.Errorf("got %q, want the line %q at the end", diags[0].Detail, line)
		}
	}
}

// TestWayOut asks for the line that keeps attributes out of the state.
func TestWayOut(t *testing.T) {
	text := map[string]*schema.Attribute{"token": {Type: cty.String, Computed: true}}
	nested := func(n schema.Nesting) *schema.NestedBlock {
		return &schema.NestedBlock{Nesting: n, Block: schema.Block{Attributes: text}}
	}
	for _, row := range []struct {
		path cty.Path
		mode addr.Mode
		want string
	}{
		{cty.GetAttrPath("list").IndexInt(2).GetAttr("token"), addr.Managed, "list[*].token"},
		{cty.GetAttrPath("set").Index(cty.StringVal("CANARY")).GetAttr("token"), addr.Managed, ""},
		{cty.GetAttrPath("map").Index(cty.StringVal("CANARY")), addr.Managed, "map"},
		{cty.GetAttrPath("map"), addr.Data, ""},
		{nil, addr.Managed, ""},
	} {
		c := guarded(t)
		c.Object.Resource.Mode = row.mode
		c.Block = &schema.Block{
			Attributes: map[string]*schema.Attribute{"map": {Type: cty.Map(cty.String), Computed: true}},
			Blocks:     map[string]*schema.NestedBlock{"list": nested(schema.List), "set": nested(schema.Set)},
		}
		got := c.wayOut(place{path: row.path})
		if row.want == "" && got != "" || !strings.HasSuffix(got, row.want+"]") && row.want != "" {
			t.Errorf("%s: got %q, want %q at the end", schema.PathString(row.path), got, row.want)
		}
	}
}

// TestNestedOwn finds write-only arguments in nested blocks.
func TestNestedOwn(t *testing.T) {
	c := guarded(t)
	nested := object(map[string]cty.Value{"secret": ephemeral(secret)})
	attrs := object(nil).AsValueMap()
	inner := nested.AsValueMap()
	delete(inner, "nested")
	attrs["nested"] = cty.ListVal([]cty.Value{cty.ObjectVal(inner)})
	plain := c.Given(cty.ObjectVal(attrs))
	if value.IsMarked(plain) || plain.GetAttr("nested").Index(cty.Zero).GetAttr("secret") != str(secret) {
		t.Errorf("Given: got %#v, want the nested secret without marks", plain)
	}
	if got := fateOf(t, &c, secret, Object); got != refused {
		t.Errorf("got %d, want %d", got, refused)
	}
}

// TestFunctionResults judges what functions of a configured provider return.
func TestFunctionResults(t *testing.T) {
	at := addr.ProviderConfig{Provider: addr.BuiltinProvider}
	for policy, want := range []bool{true, false, true} {
		l := Leaks{Guard: leak.New(), Policy: leak.Policy(policy)}
		l.Guard.Reveal(leak.Source{Kind: leak.Configuration, Address: at.String()}, ephemeral(secret), cty.String)
		l.Guard.Remember(leak.Source{Kind: leak.Variable, Address: "var.a"}, sensitive("other-s3cret"), cty.String)
		if keep, found := l.Result(cty.ListVal([]cty.Value{str("x"), str(secret)}), at); !found || keep != want {
			t.Errorf("policy %d: found %v, kept: got %v, want %v", policy, found, keep, want)
		}
		for _, text := range []string{"x", "other-s3cret"} {
			if keep, found := l.Result(str(text), at); found || !keep {
				t.Errorf("policy %d, %s: found %v, kept %v", policy, text, found, keep)
			}
		}
	}
}

// TestPaths cuts paths before a key that must not be stored.
func TestPaths(t *testing.T) {
	c := guarded(t)
	c.Given(object(map[string]cty.Value{"secret": ephemeral(secret)}))
	got := c.AcceptPaths([]cty.Path{cty.GetAttrPath("tags").IndexString(secret).GetAttr("x"), cty.GetAttrPath("tags").IndexString("other"), cty.GetAttrPath("list").IndexInt(1)})
	var texts []string
	for _, path := range got {
		texts = append(texts, schema.PathString(path))
	}
	if want := []string{"tags", `tags["other"]`, "list[1]"}; !slices.Equal(texts, want) {
		t.Errorf("got %v, want %v", texts, want)
	}
}

// TestWithout takes out of an earlier answer what has become known since, by the same rules as an answer, and
// changes nothing for later ones.
func TestWithout(t *testing.T) {
	c := guarded(t)
	made := func(text string) cty.Value {
		return object(map[string]cty.Value{"made": str(text), "chosen": str("kept")})
	}
	if got := c.Without(made(secret), Plan); !got.RawEquals(made(secret)) {
		t.Errorf("Without, before anything is known: got %#v, want %#v", got, made(secret))
	}
	c.Given(object(map[string]cty.Value{"secret": str(secret)}))
	if got := c.Without(made(secret), Plan); !got.RawEquals(object(map[string]cty.Value{"chosen": str("kept")})) {
		t.Errorf("Without an own value: got %#v, want only chosen", got)
	}
	longer := "a=" + secret + ";"
	if got := c.Without(made(longer), Plan); !got.RawEquals(made(longer)) {
		t.Errorf("Without, in a longer text: got %#v, want %#v", got, made(longer))
	}
	if got := fateOf(t, &c, longer, Read); got != warned {
		t.Errorf("after an earlier answer was looked at: got %d, want %d", got, warned)
	}
	if got := c.Without(made(secret), Plan); !got.RawEquals(made(secret)) {
		t.Errorf("Without, stored with a warning: got %#v, want %#v", got, made(secret))
	}
	c = guarded(t)
	c.Given(object(map[string]cty.Value{"secret": ephemeral(secret)}))
	c.Without(made("id-"+secret), Object)
	if got := fateOf(t, &c, secret, Plan); got != refused || c.Exposed {
		t.Errorf("after an earlier answer was looked at: got %d, want %d", got, refused)
	}
	c.Leaks.Policy = leak.Lenient
	if got := c.Without(made(secret), Plan); !got.RawEquals(made(secret)) {
		t.Errorf("Without, by a policy that stores it: got %#v, want %#v", got, made(secret))
	}
}
