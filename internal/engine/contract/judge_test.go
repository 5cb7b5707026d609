package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const variableSecret = "variable-s3cret-17"

// withVariable makes a confidential variable known.
func withVariable(c *Checker) {
	c.Leaks.Guard.Remember(leak.Source{Kind: leak.Variable, Address: "var.a"}, sensitive(variableSecret), cty.String)
}

// withConfigured makes a value known that the provider was configured with.
func withConfigured(c *Checker, s string) {
	c.Leaks.Guard.Reveal(leak.Source{Kind: leak.Configuration, Address: c.Configured.String()}, ephemeral(s), cty.String)
}

func withOwn(c *Checker, v cty.Value) { c.Given(object(map[string]cty.Value{"secret": v})) }

// TestKindsOfAnswers has what becomes of an object's own value by the kind of the answer, and by the policy.
func TestKindsOfAnswers(t *testing.T) {
	for a := Plan; a <= Identity; a++ {
		read := slices.Contains([]Answer{Read, Imported, Upgraded, Moved, Generated}, a)
		for policy, want := range map[leak.Policy]fate{leak.Standard: refused, leak.Strict: refused, leak.Lenient: warned} {
			if read && policy == leak.Standard {
				want = dropped
			}
			c := guarded(t)
			c.Leaks.Policy = policy
			withOwn(&c, ephemeral(secret))
			if got := fateOf(t, &c, secret, a); got != want {
				t.Errorf("%s, %s: got %d, want %d", a, policy, got, want)
			}
		}
		exists := slices.Contains([]Answer{Object, Read, Imported, Upgraded, Moved}, a)
		c := guarded(t)
		c.Block = &schema.Block{Attributes: map[string]*schema.Attribute{"id": {Type: cty.String, Computed: true}}}
		withVariable(&c)
		got, diags := c.Accept(cty.ObjectVal(map[string]cty.Value{"id": str(variableSecret)}), nil, a)
		if got.GetAttr("id").IsNull() == exists || c.Exposed != exists || !diags.HasErrors() {
			t.Errorf("the id of what a %s is about: %#v, exposed: got %t, want %t", a, got, c.Exposed, exists)
		}
	}
	c := guarded(t)
	c.Block = &schema.Block{Attributes: map[string]*schema.Attribute{"id": {Type: cty.String, Computed: true}}}
	withConfigured(&c, secret)
	if _, diags := c.Accept(cty.ObjectVal(map[string]cty.Value{"id": str(secret)}), nil, Object); len(diags) != 1 || c.Exposed || !strings.Contains(diags[0].Detail, "stored in the state") {
		t.Errorf("id that may be stored: got exposed %t, %v, want one warning, not exposed", c.Exposed, diags)
	}
}

// TestWholeTexts has what is taken for a value that is nothing else: a whole text, or a whole string in JSON.
func TestWholeTexts(t *testing.T) {
	for text, want := range map[string]fate{
		secret: refused, `{"p":"` + secret + `"}`: refused, `"` + secret + `"`: refused, `"` + secret: warned, secret + `"`: warned, secret + ";": warned, ";" + secret: warned, `"` + secret + `;"`: warned, `";` + secret + `"`: warned,
	} {
		c := guarded(t)
		withOwn(&c, str(secret))
		if got := fateOf(t, &c, text, Object); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

// TestTheStrictestVerdict has texts with values of several kinds, in either order.
func TestTheStrictestVerdict(t *testing.T) {
	const configured, other = "configured-s3cret-1", "configured-s3cret-2"
	for _, row := range []struct {
		name    string
		texts   []string
		policy  leak.Policy
		own     cty.Value
		a       Answer
		want    fate
		summary string
	}{
		{"own before configured", []string{secret, configured}, leak.Strict, ephemeral(secret), Object, refused, "Provider copied a write-only value"},
		{"own before variable", []string{secret, variableSecret}, leak.Standard, ephemeral(secret), Object, refused, "Provider copied a write-only value"},
		{"variable in spite of own", []string{secret, variableSecret}, leak.Standard, str(secret), Object, refused, "Provider returned an ephemeral value"},
		{"variable in what was read", []string{secret, variableSecret}, leak.Standard, ephemeral(secret), Read, refused, "Provider returned an ephemeral value"},
		{"own in spite of configured", []string{configured, secret}, leak.Standard, ephemeral(secret), Object, refused, "Provider copied a write-only value"},
		{"variable alone", []string{variableSecret, ""}, leak.Standard, ephemeral(secret), Object, refused, "Provider returned an ephemeral value"},
	} {
		for range 2 {
			c := guarded(t)
			c.Leaks.Policy = row.policy
			withVariable(&c)
			withConfigured(&c, configured)
			withOwn(&c, row.own)
			text := strings.Join(row.texts, " ")
			_, diags := c.Accept(object(map[string]cty.Value{"made": str(text), "chosen": str("kept")}), nil, row.a)
			if len(diags) != 1 || diags[0].Summary != row.summary {
				t.Errorf("%s: got %v for %s, want: %s", row.name, diags, text, row.summary)
			}
			c.public.kept = nil
			if got := fateOf(t, &c, text, row.a); got != row.want {
				t.Errorf("%s: %s: got %d, want %d", row.name, text, got, row.want)
			}
			slices.Reverse(row.texts)
		}
	}
	said := guarded(t)
	withConfigured(&said, configured)
	if _, diags := said.Accept(object(map[string]cty.Value{"made": str(configured)}), nil, Plan); len(diags) != 1 || !strings.Contains(diags[0].Detail, "returned an ephemeral value that it was configured with in the attribute made") {
		t.Errorf("got %v, want one error about a configured ephemeral value in made", diags)
	}
	for _, text := range []string{configured + " " + other, other + " " + configured} {
		c := guarded(t)
		withConfigured(&c, configured)
		withConfigured(&c, other)
		if got := fateOf(t, &c, configured, Plan); got != warned {
			t.Errorf("first: got %d, want %d", got, warned)
		}
		if got := fateOf(t, &c, text, Plan); got != warned {
			t.Errorf("%s, with one that there was no warning about: got %d, want %d", text, got, warned)
		}
		if got := fateOf(t, &c, text, Object); got != passes {
			t.Errorf("%s, with warnings about both: got %d, want %d", text, got, passes)
		}
	}
}

// TestOrderOfAttributes judges an attribute by what is in it, whatever was stored of those before it.
func TestOrderOfAttributes(t *testing.T) {
	longer := "a=" + secret + ";"
	for _, attrs := range []map[string]cty.Value{{"chosen": str(longer), "made": str(secret)}, {"chosen": str(secret), "made": str(longer)}} {
		c := guarded(t)
		withOwn(&c, str(secret))
		got, diags := c.Accept(object(attrs), nil, Object)
		for _, name := range []string{"chosen", "made"} {
			if kept := attrs[name] == str(longer); got.GetAttr(name).IsNull() == kept || !diags.HasErrors() {
				t.Errorf("%#v became %#v, %v", attrs, got, diags)
			}
		}
	}
}

// TestGivenToOthers knows what was given for the object in this operation, and that only.
func TestGivenToOthers(t *testing.T) {
	c := guarded(t)
	c.Given(object(map[string]cty.Value{"set": str("a-bucket-17"), "secret": ephemeral(secret)}))
	later := guarded(t)
	later.Leaks.Guard = c.Leaks.Guard
	later.own()
	if got := fateOf(t, &later, secret, Object); got != passes {
		t.Errorf("of another operation: got %d, want %d", got, passes)
	}
	if got := c.Leaks.Guard.Redact("a-bucket-17 " + secret); got != "a-bucket-17 "+leak.Withheld {
		t.Errorf("a message says %s, want %s", got, "a-bucket-17 "+leak.Withheld)
	}
	nothing := guarded(t)
	nothing.Leaks.Guard = nil
	for _, c := range []*Checker{&c, &nothing} {
		if got := c.Given(cty.NilVal); got != cty.NilVal {
			t.Errorf("nothing: got %#v, want %#v", got, cty.NilVal)
		}
		if null := cty.NullVal(block().Type()); !c.Given(null).RawEquals(null) {
			t.Error("null became something")
		}
		if got := fateOf(t, c, "another text", Object); got != passes {
			t.Errorf("after nothing was given: got %d, want %d", got, passes)
		}
	}
	if got := nothing.Given(object(map[string]cty.Value{"secret": ephemeral(secret)})); value.IsMarked(got) {
		t.Errorf("without a guard, the provider is given %#v", got)
	}
}

// TestMarksAroundOwn has write-only arguments in what has a mark as a whole, and of any type.
func TestMarksAroundOwn(t *testing.T) {
	c := guarded(t)
	attrs := object(nil).AsValueMap()
	attrs["nested"] = cty.ListVal([]cty.Value{nestedObject(map[string]cty.Value{"secret": str(secret)})}).Mark(value.Sensitive)
	c.Given(cty.ObjectVal(attrs))
	if got := fateOf(t, &c, "a="+secret+";", Object); got != refused {
		t.Errorf("within what is sensitive: got %d, want %d", got, refused)
	}
	c = guarded(t)
	c.Block = &schema.Block{Attributes: map[string]*schema.Attribute{"any": {Type: cty.DynamicPseudoType, Optional: true, WriteOnly: true}}}
	c.Given(cty.ObjectVal(map[string]cty.Value{"any": cty.ObjectVal(map[string]cty.Value{"n4me-0f-it": cty.True}).Mark(value.Sensitive)}))
	if got := c.Leaks.Guard.Redact("n4me-0f-it"); got != leak.Withheld {
		t.Errorf("a name of an argument of any type: got %s, want %s", got, leak.Withheld)
	}
}

// TestPublishValue lets an object have what it is imported by.
func TestPublishValue(t *testing.T) {
	c := guarded(t)
	c.PublishValue(cty.ObjectVal(map[string]cty.Value{"name": str(secret), "zone": cty.NullVal(cty.Number)}))
	withOwn(&c, ephemeral(secret))
	if got := fateOf(t, &c, secret, Imported); got != passes {
		t.Errorf("got %d, want %d", got, passes)
	}
}

// TestPlainData accepts what holds nothing, without a word.
func TestPlainData(t *testing.T) {
	c := guarded(t)
	withVariable(&c)
	withOwn(&c, ephemeral(secret))
	if private, diags := c.AcceptPrivate([]byte("plain"), nil, Object); string(private) != "plain" || diags != nil {
		t.Errorf("AcceptPrivate: got %s, %v, want \"plain\"", private, diags)
	}
	id := cty.ObjectVal(map[string]cty.Value{"id": str(secret)})
	if got, diags := c.AcceptPlannedIdentity(id); got != cty.NilVal || !diags.HasErrors() {
		t.Errorf("planned identity with a secret: got %#v, %v, want an error", got, diags)
	}
	bad := cty.ObjectVal(map[string]cty.Value{"id": str("\xff"), "name": str("x")})
	if got, diags := c.AcceptIdentity(bad, Object); !diags.HasErrors() || !got.RawEquals(cty.ObjectVal(map[string]cty.Value{"id": cty.NullVal(cty.String), "name": str("x")})) {
		t.Errorf("identity that cannot be stored: got %#v, %v, want an error, and its id null", got, diags)
	}
	keys := []cty.Path{cty.GetAttrPath("tags").Index(cty.UnknownVal(cty.String)), cty.GetAttrPath("tags").Index(cty.NullVal(cty.String)), cty.GetAttrPath("s").Index(cty.ObjectVal(map[string]cty.Value{"a": str("x")}))}
	if got := c.AcceptPaths(keys); len(got) != 3 || slices.ContainsFunc(got, func(p cty.Path) bool { return len(p) != 2 }) {
		t.Errorf("paths with other keys: got %#v, want 3 of two steps", got)
	}
}

// TestLaterOfRun judges what came before the configuration, although a variable was known by then.
func TestLaterOfRun(t *testing.T) {
	c := guarded(t)
	withVariable(&c)
	c.Later = true
	leaky := object(map[string]cty.Value{"made": str(variableSecret), "chosen": str("kept")})
	identity := cty.ObjectVal(map[string]cty.Value{"id": str(variableSecret)})
	got, diags := c.Accept(leaky, nil, Read)
	private, more := c.AcceptPrivate([]byte(variableSecret), nil, Read)
	id, wrong := c.AcceptIdentity(identity, Read)
	if !got.RawEquals(leaky) || string(private) != variableSecret || !id.RawEquals(identity) || len(diags)+len(more)+len(wrong) > 0 {
		t.Errorf("answer of a read: got %#v, %s, %#v, %v, want it unchanged, and judged later", got, private, id, slices.Concat(diags, more, wrong))
	}
	reviewed, diags := c.Review(Answered{Value: got, Identity: id, Private: private}, []byte("before"))
	if !reviewed.Value.RawEquals(object(map[string]cty.Value{"chosen": str("kept")})) || reviewed.Identity != cty.NilVal || string(reviewed.Private) != "before" || len(diags) != 3 {
		t.Errorf("Review: got %#v, %v, want the rest, without identity, the private data of before, 3 diagnostics", reviewed, diags)
	}
}

// TestWithoutForgets looks at an earlier answer after there was a warning, and leaves what is known of
// warnings as it is.
func TestWithoutForgets(t *testing.T) {
	c := guarded(t)
	withConfigured(&c, "configured-s3cret-1")
	withConfigured(&c, "configured-s3cret-2")
	if got := fateOf(t, &c, "configured-s3cret-1", Plan); got != warned {
		t.Errorf("first: got %d, want %d", got, warned)
	}
	c.Without(object(map[string]cty.Value{"made": str("configured-s3cret-2")}), FinalPlan)
	if got := fateOf(t, &c, "configured-s3cret-2", Object); got != warned {
		t.Errorf("after an earlier answer was looked at: got %d, want %d", got, warned)
	}
}

// TestRebuilt takes names out of elements whose types differ then, and leaves typed nulls as they are.
func TestRebuilt(t *testing.T) {
	typed := cty.Object(map[string]cty.Type{"named": cty.Object(map[string]cty.Type{variableSecret: cty.String})})
	b := &schema.Block{Attributes: map[string]*schema.Attribute{"any": {Type: cty.DynamicPseudoType, Computed: true}, "typed": {Type: typed, Computed: true}}}
	inner := cty.ObjectVal(map[string]cty.Value{variableSecret: str("x")})
	first, second := cty.ObjectVal(map[string]cty.Value{"a": inner}), cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(inner.Type())})
	for name, v := range map[string]cty.Value{
		"list": cty.ListVal([]cty.Value{first, second}), "set": cty.SetVal([]cty.Value{first, second}), "map": cty.MapVal(map[string]cty.Value{"k": first, "l": second}),
	} {
		c := guarded(t)
		c.Block = b
		withVariable(&c)
		whole := func(v cty.Value) cty.Value {
			return cty.ObjectVal(map[string]cty.Value{"any": v, "typed": cty.NullVal(typed)})
		}
		got, diags := c.Accept(whole(v), nil, Object)
		if !got.RawEquals(whole(cty.NullVal(cty.DynamicPseudoType))) || !diags.HasErrors() {
			t.Errorf("%s: got %#v, %v, want null and an error", name, got, diags)
		}
		for _, d := range diags {
			if !strings.Contains(d.Detail, "a key or the name of an attribute in any") {
				t.Errorf("%s: %s", name, d.Detail)
			}
		}
	}
	c := guarded(t)
	c.Block = b
	withVariable(&c)
	v := cty.ObjectVal(map[string]cty.Value{"any": str(variableSecret), "typed": cty.NullVal(typed)})
	if got, diags := c.Accept(v, nil, Object); len(diags) != 1 || !got.GetAttr("typed").RawEquals(cty.NullVal(typed)) {
		t.Errorf("secret beside a null of a type of the schema: got %#v, %v, want the null kept, one diagnostic", got, diags)
	}
}

// TestResultsOfSeveral judges each text of a result.
func TestResultsOfSeveral(t *testing.T) {
	at := addr.ProviderConfig{Provider: addr.BuiltinProvider}
	l := Leaks{Guard: leak.New()}
	l.Guard.Reveal(leak.Source{Kind: leak.Configuration, Address: at.String()}, ephemeral(secret), cty.String)
	for _, policy := range []leak.Policy{leak.Standard, leak.Strict} {
		l.Policy = policy
		for _, v := range [][]cty.Value{{str(secret), str("x")}, {str("x"), str(secret)}, {str("x"), str(secret), str("y")}} {
			if keep, found := l.Result(cty.ListVal(v), at); !found || keep != (policy == leak.Standard) {
				t.Errorf("%s, %#v: found %t, kept: got %t, want %t", policy, v, found, keep, (policy == leak.Standard))
			}
		}
	}
}
