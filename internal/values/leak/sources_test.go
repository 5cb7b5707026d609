package leak

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestOfRun names the same source of a value each time: a confidential one if there is any, and the first by
// its address.
func TestOfRun(t *testing.T) {
	const secret = "hunter2-hunter2"
	g := New()
	for _, step := range []struct {
		from         Source
		confidential bool
		want         Source
		wants        bool // whether the source that is wanted is confidential
	}{
		{Source{Kind: Result, Address: "a"}, true, Source{}, false},
		{Source{Kind: Configuration, Address: "a"}, true, Source{}, false},
		{Source{Kind: Variable, Address: "var.n"}, false, Source{Kind: Variable, Address: "var.n"}, false},
		{Source{Kind: Variable, Address: "var.m"}, false, Source{Kind: Variable, Address: "var.m"}, false},
		{Source{Kind: Variable, Address: "var.o"}, false, Source{Kind: Variable, Address: "var.m"}, false},
		{Source{Kind: Credential, Address: "z"}, true, Source{Kind: Credential, Address: "z"}, true},
		{Source{Kind: Credential, Address: "x"}, true, Source{Kind: Credential, Address: "x"}, true},
		{Source{Kind: Credential, Address: "y"}, true, Source{Kind: Credential, Address: "x"}, true},
	} {
		v := cty.StringVal(secret)
		if step.confidential {
			v = v.Mark(value.Sensitive)
		}
		g.Remember(step.from, v, cty.String)
		for range 50 { // in the orders in which a map gives its keys
			for m := range g.Matches(secret) {
				if from, confidential, ok := m.OfRun(); from != step.want || confidential != step.wants || ok != (step.want != Source{}) {
					t.Fatalf("with %v: got %v, confidential %t, found %t, want %v, confidential %t", step.from, from, confidential, ok, step.want, step.wants)
				}
			}
		}
	}
}

// TestBytes recognizes a key in each spelling, once, and a part of it by none.
func TestBytes(t *testing.T) {
	for _, text := range []string{"a key of the state", "33 bytes, which fill their groups", "\x00\x01\xfe\xffsixteen bytes!"} {
		g, key := New(), []byte(text)
		g.RememberBytes(token, key)
		for name, as := range map[string]string{
			"hex": hex.EncodeToString(key), "Base64": base64.StdEncoding.EncodeToString(key), "raw": base64.RawURLEncoding.EncodeToString(key), "itself": text,
		} {
			if got := g.Redact("<" + as + ">"); got != "<"+Withheld+">" {
				t.Errorf("%q in %s: got %s, want %s", text, name, got, "<"+Withheld+">")
			}
			once := map[int]bool{}
			for m := range g.Matches(as) {
				if _, ok := m.From(token); !ok || once[m.End] {
					t.Errorf("%q in %s: found again up to %d, or from elsewhere", text, name, m.End)
				}
				once[m.End] = true
			}
		}
	}
	short, plain := New(), New()
	short.RememberBytes(token, []byte("7 bytes"))
	if short.Knows() {
		t.Error("a key is remembered that is too short")
	}
	plain.RememberBytes(token, make([]byte, 16))
	for _, zeros := range []string{hex.EncodeToString(make([]byte, 16)), string(make([]byte, 16)), "AAAAAAAAAAAAAAAAAAAAAA"} {
		if plain.Contains(zeros) {
			t.Errorf("what is too plain is recognized in %q", zeros)
		}
	}
}

// TestBytesAgain gives one key to a guard twice, and another guard the sum of a key in place of it.
func TestBytesAgain(t *testing.T) {
	g := New()
	key := sha256.Sum256([]byte("key"))
	g.RememberBytes(token, key[:])
	g.RememberBytes(session, key[:])
	if n := g.count.Load(); n != 1 {
		t.Errorf("one key counts as: got %d, want 1", n)
	}
	found := slices.Collect(g.Matches(hex.EncodeToString(key[:])))
	if len(found) != 1 {
		t.Errorf("a key is found %d times, want 1", len(found))
	}
}

// TestCodesAreOverwritten looks at the spellings of a key after they were used: they are the key itself.
func TestCodesAreOverwritten(t *testing.T) {
	var all [][]byte
	codes([]byte("\xfb\xff a key of a state"), func(text []byte, _ edges) { all = append(all, text) })
	if len(all) < 8 {
		t.Errorf("there are %d codes", len(all))
	}
	for _, code := range all {
		for _, c := range code {
			if c != 0 {
				t.Errorf("memory: got %s left in it, want zeros", code)
				break
			}
		}
	}
}

// TestNothingStaysLocked remembers a value after everything that reads: what kept the lock would wait
// forever.
func TestNothingStaysLocked(t *testing.T) {
	const secret = "hunter2-hunter2"
	g := guardOf(secret)
	for name, do := range map[string]func(){
		"Matches": func() {
			for range g.Matches("<" + secret + ">") {
				continue
			}
		},
		"break":          func() { g.Contains("<" + secret + ">") },
		"Holds":          func() { g.Holds(cty.StringVal(secret)) },
		"RedactDocument": func() { g.RedactDocument([]byte(secret)) },
		"Redact":         func() { g.Redact(secret) },
		"Remember":       func() { g.Remember(token, cty.StringVal(secret).Mark(value.Sensitive), cty.String) },
		"RememberBytes":  func() { g.RememberBytes(token, []byte("a key of the state")) },
		"Publish":        func() { g.Publish(slices.Values([][]byte{nil}))() },
		"Stored":         func() { g.Stored(slices.Values([][]byte{nil}))() },
		"Match": func() {
			for m := range g.Matches(secret) {
				m.From(token)
				m.OfRun()
				m.Published()
			}
		},
	} {
		if do(); !g.mu.TryLock() {
			t.Errorf("the lock is held after %s", name)
			return
		}
		g.mu.Unlock()
	}
}

// TestKeysOfArguments tells keys of a write-only argument, which are names, from secret ones.
func TestKeysOfArguments(t *testing.T) {
	g := New()
	key := func(k string) cty.Value { return cty.MapVal(map[string]cty.Value{k: cty.StringVal("")}) }
	g.RememberOwn(token, cty.TupleVal([]cty.Value{
		key("pl4in-key"), key("s3nsitive-key").Mark(value.Sensitive), key("ephem3ral-key").Mark(value.Ephemeral), key("only-letters").Mark(value.Ephemeral),
		cty.ObjectVal(map[string]cty.Value{"n4me-of-schema": cty.StringVal("")}).Mark(value.Ephemeral),
	}), cty.Tuple([]cty.Type{cty.Map(cty.String), cty.Map(cty.String), cty.Map(cty.String), cty.Map(cty.String), cty.Object(map[string]cty.Type{"n4me-of-schema": cty.String})}))
	for text, want := range map[string]bool{"pl4in-key": false, "s3nsitive-key": true, "ephem3ral-key": true, "only-letters": false, "n4me-of-schema": false} {
		if g.Contains(text) != want {
			t.Errorf("%s: got it found %t, want %t", text, !want, want)
		}
	}
}

// TestExcept remembers of a result what did not go into it in the open.
func TestExcept(t *testing.T) {
	g := New()
	result := cty.TupleVal([]cty.Value{cty.StringVal("name-17"), cty.StringVal("stage-17"), cty.StringVal("s3cret-s3cret")})
	g.Remember(session, result, cty.DynamicPseudoType, cty.StringVal("name-17"), cty.TupleVal([]cty.Value{cty.StringVal("s3cret-s3cret").Mark(value.Ephemeral), cty.StringVal("another")}))
	for text, want := range map[string]bool{"name-17": false, "stage-17": true, "s3cret-s3cret": true} {
		if g.Contains(text) != want {
			t.Errorf("%s: got it found %t, want %t", text, !want, want)
		}
	}
}
