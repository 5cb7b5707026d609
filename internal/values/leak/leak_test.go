package leak

import (
	"bytes"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

var (
	token   = Source{Kind: Variable, Address: "var.token"}
	session = Source{Kind: Result, Address: "ephemeral.vault.session"}
)

func TestForms(t *testing.T) {
	g := New()
	secret := "p<4ss>&\"wörd\"/\n\tx"
	g.Remember(token, cty.StringVal(secret), cty.String)
	for _, text := range []string{
		secret, "at the end: " + secret, secret + " at the start",
		`{"a":"p\u003c4ss\u003e\u0026\"wörd\"/\n\tx"}`, `{"a":"p<4ss>&\"wörd\"/\n\tx"}`,
		"<td>p&lt;4ss&gt;&amp;&#34;wörd&#34;/\n\tx</td>", "https://example.com/?q=p%3C4ss%3E%26%22w%C3%B6rd%22%2F%0A%09x&r=1",
	} {
		if got := g.Redact(text); !strings.Contains(got, Withheld) || strings.Contains(got, "4ss") {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := g.Redact("twice: " + secret + secret + "."); got != "twice: (ephemeral value)(ephemeral value)." {
		t.Errorf("got %q, want %q", got, "twice: (ephemeral value)(ephemeral value).")
	}
}

func TestLines(t *testing.T) {
	g := New()
	g.Remember(token, cty.StringVal("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n"), cty.String)
	if got := g.Redact("  key: |\n    -----BEGIN KEY-----\n    MIIEvQIBADANBgkqhkiG9w0B\n    AQEFAASCBKcwggSjAgEAAoIB\n"); strings.Count(got, Withheld) != 2 || !strings.Contains(got, "BEGIN") {
		t.Errorf("got %q, want both lines of the key withheld", got)
	}
}

func TestWhatIsRemembered(t *testing.T) {
	result := cty.ObjectVal(map[string]cty.Value{
		"access_key_id": cty.StringVal("AKIA-17-ABCD").Mark(value.Sensitive),
		"username":      cty.StringVal("postgres-admin").Mark(value.Sensitive),
		"stage":         cty.StringVal("AWSCURRENT"),
		"created":       cty.StringVal("2026-01-01T00:00:00Z"),
		"arn":           cty.StringVal("arn:aws:secret:1"),
		"pin":           cty.NumberIntVal(4711081512),
		"small":         cty.NumberIntVal(4711),
		"zeros":         cty.StringVal("0000000000"),
		"short":         cty.StringVal("a1b2c3d"),
		"none":          cty.NullVal(cty.String),
		"later":         cty.UnknownVal(cty.String),
		"1pv4_address":  cty.NullVal(cty.String),
		"any":           cty.ObjectVal(map[string]cty.Value{"n4me-of-json": cty.True}),
		"tags":          cty.MapVal(map[string]cty.Value{"database_name": cty.StringVal("abc-123-def"), "k3y-0f-map": cty.StringVal("")}),
	}).Mark(value.Ephemeral)
	g := New()
	declared := cty.Object(map[string]cty.Type{"access_key_id": cty.String, "1pv4_address": cty.String, "tags": cty.Map(cty.String), "any": cty.DynamicPseudoType})
	g.Remember(session, result, declared, cty.ObjectVal(map[string]cty.Value{"arn": cty.StringVal("arn:aws:secret:1")}))
	want := map[string]bool{ // whether confidential
		"AKIA-17-ABCD": true, "postgres-admin": true, "2026-01-01T00:00:00Z": false, "4711081512": false, "abc-123-def": false, "k3y-0f-map": false, "n4me-of-json": false,
	}
	for _, text := range []string{
		"AKIA-17-ABCD", "postgres-admin", "AWSCURRENT", "2026-01-01T00:00:00Z", "arn:aws:secret:1", "4711081512", "4711", "0000000000", "a1b2c3d",
		"access_key_id", "database_name", "abc-123-def", "k3y-0f-map", "n4me-of-json", "1pv4_address",
	} {
		confidential, found := want[text]
		matches := slices.Collect(g.Matches(text))
		if len(matches) > 0 != found {
			t.Errorf("%s: got %d matches, want it found: %t", text, len(matches), found)
			continue
		}
		for _, m := range matches {
			got, ok := m.From(session)
			if _, other := m.From(token); !ok || got != confidential || other {
				t.Errorf("%s: got it from the session %t, confidential %t, from the token %t, want true, %t, false", text, ok, got, other, confidential)
			}
			if _, _, ok := m.OfRun(); ok {
				t.Errorf("%s is known before the run", text)
			}
		}
	}
	if _, found := g.RedactDocument([]byte("2026-01-01T00:00:00Z")); found {
		t.Error("a document lost a value that is not confidential")
	}
	g.Remember(token, cty.StringVal("2026-01-01T00:00:00Z").Mark(value.Sensitive), cty.String)
	for m := range g.Matches("2026-01-01T00:00:00Z") {
		if source, confidential, ok := m.OfRun(); !ok || source != token || !confidential {
			t.Errorf("value known before the run: got %v (%t), confidential %t, want %v, confidential", source, ok, confidential, token)
		}
		if confidential, _ := m.From(session); confidential {
			t.Error("one source has made a value confidential in another")
		}
	}
	if got, found := g.RedactDocument([]byte("at 2026-01-01T00:00:00Z")); !found || string(got) != "at "+Withheld {
		t.Errorf("value that has become confidential: got %s, want it withheld", got)
	}
}

func TestReveal(t *testing.T) {
	g := New()
	plain := g.Reveal(session, cty.ObjectVal(map[string]cty.Value{
		"host": cty.StringVal("db-1.example.com"), "password": cty.StringVal("s3cret-s3cret").Mark(value.Ephemeral),
		"doc": cty.MapVal(map[string]cty.Value{"k3y-0f-map": cty.StringVal("")}).Mark(value.Ephemeral),
	}), cty.DynamicPseudoType)
	if value.IsMarked(plain) || plain.GetAttr("password").AsString() != "s3cret-s3cret" {
		t.Errorf("got %#v, want the password without marks", plain)
	}
	named := cty.ObjectVal(map[string]cty.Value{"n4me-of-schema": cty.True}).Mark(value.Ephemeral)
	g.Reveal(session, named, cty.Object(map[string]cty.Type{"n4me-of-schema": cty.Bool}))
	if g.Contains("n4me-of-schema") {
		t.Error("a name of the schema is taken for a value")
	}
	for text, want := range map[string]bool{"db-1.example.com": false, "password=s3cret-s3cret": true, "k3y-0f-map": true} {
		if g.Contains(text) != want {
			t.Errorf("%s: got it found %t, want %t", text, !want, want)
		}
	}
}

// TestOwn remembers write-only arguments: with marks they are confidential, without they are still known.
func TestOwn(t *testing.T) {
	g := New()
	own := Source{Kind: WriteOnly, Address: "t.x"}
	g.RememberOwn(own, cty.ObjectVal(map[string]cty.Value{
		"marked": cty.StringVal("only letters").Mark(value.Sensitive), "plain": cty.StringVal("hunter2-hunter2"), "word": cty.StringVal("more letters"),
		"secret": cty.StringVal("s3cret-s3cret").Mark(value.Ephemeral).Mark(value.Sensitive), "n4me-of-json": cty.StringVal(""),
	}), cty.DynamicPseudoType)
	for text, want := range map[string]struct{ found, confidential, document bool }{
		"only letters": {true, true, false}, "hunter2-hunter2": {true, false, false}, "more letters": {}, "s3cret-s3cret": {true, true, true}, "n4me-of-json": {},
	} {
		found, confidential := false, false
		for m := range g.Matches(text) {
			confidential, found = m.From(own)
		}
		_, document := g.RedactDocument([]byte(text))
		if found != want.found || confidential != want.confidential || document != want.document || (g.Redact(text) != text) != found {
			t.Errorf("%s: got it found %t, confidential %t, taken out of documents %t, want %+v", text, found, confidential, document, want)
		}
	}
}

func TestOpen(t *testing.T) {
	g := New()
	g.Remember(token, cty.TupleVal([]cty.Value{cty.StringVal("production"), cty.StringVal("hunter2-hunter2")}).Mark(value.Sensitive), cty.DynamicPseudoType)
	files := iter.Seq[[]byte](slices.Values([][]byte{nil, []byte(`stage = "production"`)}))
	end := g.Publish(files)
	if got := g.Redact("production: hunter2-hunter2"); got != "production: (ephemeral value)" {
		t.Errorf("got %q, want %q", got, "production: (ephemeral value)")
	}
	end()
	if got := g.Redact("production"); got != "production" {
		t.Errorf("got %q, want %q: what was made of it is shown until there is something else", got, "production")
	}
	end, again := g.Publish(files), g.Publish(slices.Values([][]byte{[]byte("nothing")}))
	again()
	if got := g.Redact("production"); got != "production" {
		t.Errorf("got %q, want %q: it is in the open, whatever ends meanwhile", got, "production")
	}
	end()
	defer g.Publish(slices.Values([][]byte{[]byte("nothing")}))()
	if got := g.Redact("production"); got != Withheld {
		t.Errorf("got %q, want %q: it is not in the open any more", got, Withheld)
	}
	g.Remember(token, cty.StringVal("staging-1"), cty.String)
	end = g.Stored(slices.Values([][]byte{[]byte("staging-1 hunter2-hunter2")}))
	if got := g.Redact("staging-1: hunter2-hunter2"); got != "staging-1: (ephemeral value)" {
		t.Errorf("got %q, want %q: what the state has hides only what is confidential", got, "staging-1: (ephemeral value)")
	}
	defer g.Publish(slices.Values([][]byte{[]byte("hunter2-hunter2")}))()
	if got := g.Redact("staging-1: hunter2-hunter2"); got != "staging-1: hunter2-hunter2" {
		t.Errorf("got %q, want %q: it was remembered before it was in the open", got, "staging-1: hunter2-hunter2")
	}
	for m := range g.Matches("hunter2-hunter2") {
		if !m.Published() {
			t.Error("a published value is not known as such")
		}
	}
	for m := range g.Matches("staging-1") {
		if m.Published() {
			t.Error("what the state has is known as published")
		}
	}
	end()
}

// TestOpenUntil has texts in the open one after the other, of both kinds.
func TestOpenUntil(t *testing.T) {
	g := New()
	g.Remember(token, cty.StringVal("staging-1"), cty.String)
	expect := func(when string, shown bool) {
		t.Helper()
		if got := g.Redact("staging-1"); (got == "staging-1") != shown {
			t.Errorf("%s: got %s, want it shown: %t", when, got, shown)
		}
	}
	texts := slices.Values([][]byte{[]byte("in staging-1")})
	expect("at first", false)
	end := g.Publish(texts)
	expect("in the configuration", true)
	end()
	endState := g.Stored(slices.Values([][]byte{nil}))
	expect("while there is no other configuration", true)
	endState()
	expect("after a state", true)
	g.Publish(slices.Values([][]byte{nil}))()
	expect("with another configuration", false)
	endState = g.Stored(texts)
	end = g.Publish(texts)
	endState()
	expect("in the configuration again", true)
	end()
	g.Publish(texts)()
	expect("again after its end", true)
	end, other := g.Publish(texts), g.Publish(slices.Values([][]byte{nil}))
	end()
	expect("when one of two has ended", true)
	other()
	expect("when both have ended", false)
}

// TestStricter remembers a value of one source again: what any time says, holds from then on.
func TestStricter(t *testing.T) {
	source := Source{Kind: WriteOnly, Address: "t.x"}
	text := cty.StringVal("s3cret-s3cret")
	own := func(v cty.Value) func(*Guard) { return func(g *Guard) { g.RememberOwn(source, v, cty.String) } }
	plain := func(g *Guard) { g.Remember(source, text, cty.String) } // ephemeral, and not confidential
	for name, times := range map[string][]func(*Guard){
		"ephemeral later":     {own(text), own(text.Mark(value.Ephemeral)), own(text)},
		"sensitive first":     {own(text.Mark(value.Sensitive)), own(text.Mark(value.Ephemeral)), own(text.Mark(value.Sensitive))},
		"at once":             {own(text.Mark(value.Ephemeral)), own(text)},
		"sensitive, then not": {own(text.Mark(value.Sensitive)), plain},
		"ephemeral, then not": {plain, own(text.Mark(value.Sensitive))},
	} {
		g := New()
		for _, remember := range times {
			remember(g)
		}
		if got, found := g.RedactDocument([]byte("<s3cret-s3cret>")); !found || string(got) != "<"+Withheld+">" {
			t.Errorf("%s: got the document %s, want the value withheld", name, got)
		}
		if n := g.count.Load(); n != 1 {
			t.Errorf("%s: there are %d values, want 1", name, n)
		}
	}
}

// cut is a writer that takes so many bytes.
type cut struct {
	most int
	got  bytes.Buffer
}

func (c *cut) Write(b []byte) (int, error) {
	n, _ := c.got.Write(b[:min(c.most, len(b))])
	if n < len(b) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// TestWriter passes documents on, and tells how much of them, whatever becomes longer or shorter.
func TestWriter(t *testing.T) {
	g := New()
	for _, s := range []string{"s3cret-s3cret", "a-longer-s3cret-than-what-stands-for-it"} {
		g.Remember(token, cty.StringVal(s).Mark(value.Sensitive), cty.String)
	}
	for _, test := range []struct {
		in, out string
		most, n int
		fails   bool
	}{
		{"plain", "plain", 100, 5, false},
		{"plain", "pla", 3, 3, true},
		{"<s3cret-s3cret>", "<" + Withheld + ">", 100, 15, false},
		{"<a-longer-s3cret-than-what-stands-for-it>", "<" + Withheld + ">", 100, 41, false},
		{"<a-longer-s3cret-than-what-stands-for-it>", "<(eph", 5, 5, true},
		{"<s3cret-s3cret>", "<(ephemeral value)", 18, 15, true},
	} {
		to := &cut{most: test.most}
		if n, err := g.Writer(to).Write([]byte(test.in)); n != test.n || (err != nil) != test.fails || to.got.String() != test.out {
			t.Errorf("%s: got %d, %v, and %s written, want %d, an error: %t, and %s", test.in, n, err, to.got.String(), test.n, test.fails, test.out)
		}
	}
	plain := []byte("plain")
	if got, found := g.RedactDocument(plain); found || &got[0] != &plain[0] {
		t.Error("a document without a value is another one")
	}
}

// TestNames has what messages say of sources and policies.
func TestNames(t *testing.T) {
	for name, policy := range Policies {
		if got := policy.String(); got != name {
			t.Errorf("name of %s: got %s, want %s", name, got, name)
		}
	}
	if got := Policy(200).String(); got != "unknown" {
		t.Errorf("no policy is named: got %s, want %s", got, "unknown")
	}
	for kind, want := range map[Kind]string{
		Variable: "an ephemeral value of a", Credential: "a secret of a", Result: "an ephemeral value of a", WriteOnly: "the value of a write-only argument of a",
		Configuration: "an ephemeral value that a was configured with", Other: "an ephemeral value that a uses",
	} {
		if got := (Source{Kind: kind, Address: "a"}).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestOverlaps has values that overlap and contain each other: all are found, and replaced as one.
func TestOverlaps(t *testing.T) {
	g := New()
	for _, s := range []string{"abcd-1234", "1234-efgh", "abcd-1234-efgh-5", "4-efgh-5x"} {
		g.Remember(token, cty.StringVal(s), cty.String)
	}
	if n := len(slices.Collect(g.Matches("<abcd-1234-efgh-5x>"))); n != 4 {
		t.Errorf("got %d values, want 4", n)
	}
	if got := g.Redact("<abcd-1234-efgh-5x>"); got != "<(ephemeral value)>" {
		t.Errorf("got %q, want %q", got, "<(ephemeral value)>")
	}
	if got := g.Redact("abcd-1234.1234-efghabcd-1234"); got != "(ephemeral value).(ephemeral value)(ephemeral value)" {
		t.Errorf("got %q, want %q", got, "(ephemeral value).(ephemeral value)(ephemeral value)")
	}
}

func TestNone(t *testing.T) {
	var none *Guard
	none.Remember(token, cty.StringVal("hunter2-hunter2"), cty.String)
	none.RememberOwn(token, cty.StringVal("hunter2-hunter2"), cty.String)
	if v := none.Reveal(token, cty.StringVal("hunter2-hunter2").Mark(value.Ephemeral), cty.String); value.IsMarked(v) {
		t.Error("a value that is revealed has its mark")
	}
	none.RememberBytes(token, []byte("a key of the state"))
	none.Publish(nil)()
	none.Stored(nil)()
	if none.Holds(cty.StringVal("hunter2-hunter2")) || none.Contains("hunter2-hunter2") || none.NewUse() != 0 {
		t.Error("without a guard, something is found")
	}
	if got := none.Redact("hunter2-hunter2"); got != "hunter2-hunter2" || none.Knows() {
		t.Errorf("got %q, want %q", got, "hunter2-hunter2")
	}
	empty := New()
	empty.Remember(token, cty.NilVal, cty.String)
	empty.RememberOwn(token, cty.NilVal, cty.String)
	empty.RememberOwn(token, cty.StringVal("a1b2c3d").Mark(value.Sensitive), cty.String)
	first, second := empty.NewUse(), empty.NewUse()
	if v := empty.Reveal(token, cty.NilVal, cty.String); v != cty.NilVal || empty.Knows() || first == second {
		t.Errorf("Reveal(no value): got %#v, known: %t, want none, and two different uses", v, empty.Knows())
	}
	for _, text := range []string{"", "x", "hunter2-", "hunter2-h"} {
		if got := New().Redact(text); got != text {
			t.Errorf("%q: got %q, want %q", text, got, text)
		}
	}
}

// TestRandom compares Find with a plain search, for secrets that share their beginnings and stand anywhere.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab0-"[r.IntN(4)]
		}
		return string(b)
	}
	for range 3000 {
		g := New()
		var secrets []string
		for range 1 + r.IntN(5) {
			s := text(MinLength + r.IntN(6))
			if isSecret(s) {
				secrets = append(secrets, s)
				g.Remember(token, cty.StringVal(s), cty.String)
			}
		}
		in := text(r.IntN(200))
		if len(secrets) > 0 && r.IntN(2) == 0 {
			in += secrets[r.IntN(len(secrets))] + text(r.IntN(3))
		}
		first := -1
		for _, s := range secrets {
			if at := strings.Index(in, s); at >= 0 && (first < 0 || at < first) {
				first = at
			}
		}
		found := slices.Collect(g.Matches(in))
		if (len(found) > 0) != (first >= 0) || first >= 0 && found[0].Start != first {
			t.Fatalf("%q in %q: got %d matches, want the first at %d", secrets, in, len(found), first)
		}
		slices.Sort(secrets)
		all := 0
		for _, s := range slices.Compact(secrets) {
			for at := range in {
				if strings.HasPrefix(in[at:], s) {
					all++
				}
			}
		}
		if len(found) != all {
			t.Fatalf("%q in %q: got %d matches, want %d", secrets, in, len(found), all)
		}
		out := g.Redact(in)
		for _, s := range secrets {
			if strings.Contains(out, s) {
				t.Fatalf("%q is left in %q", s, out)
			}
		}
	}
}

// TestManySecrets remembers so many that the filter grows, from several goroutines that search meanwhile.
func TestManySecrets(t *testing.T) {
	g := New()
	name := func(i int) string {
		return strings.Repeat("x", i%5) + "secret-" + string(rune('a'+i%26)) + strings.Repeat("9", i/26%40) + string(rune('A'+i%23))
	}
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < 8000; i += 4 {
				g.Remember(token, cty.StringVal(name(i)).Mark(value.Sensitive), cty.String)
				if !g.Contains("- " + name(i)) {
					t.Errorf("%s is not found", name(i))
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkDocument(b *testing.B) {
	g := New()
	for i := range 1000 {
		g.Remember(token, cty.StringVal("secret-"+strings.Repeat("z", i%30)+string(rune('a'+i%26))+"-17"), cty.String)
	}
	r := rand.New(rand.NewPCG(1, 2))
	doc := bytes.Repeat([]byte(`{"id":"i-0123456789abcdef","tags":{"name":"web server","stage":"production"}},`), 1<<14)
	for i := range doc {
		if r.IntN(7) == 0 {
			doc[i] = byte('a' + r.IntN(26))
		}
	}
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, found := g.RedactDocument(doc); found {
			b.Fatal("found something")
		}
	}
}

func BenchmarkObject(b *testing.B) {
	g := New()
	g.Remember(token, cty.StringVal("s3cr3t-s3cr3t").Mark(value.Sensitive), cty.String)
	object := cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal("0b9f1c5e-7b8f-4d7b-9f1c-5e7b8f4d7b9f"), "triggers_replace": cty.NullVal(cty.DynamicPseudoType), "output": cty.DynamicVal,
		"input": cty.ObjectVal(map[string]cty.Value{
			"name": cty.StringVal("web-17"), "n": cty.NumberIntVal(17),
			"tags": cty.TupleVal([]cty.Value{cty.StringVal("a-longer-text-of-a-tag"), cty.StringVal("another one 17")}),
		}),
	})
	b.ReportAllocs()
	for b.Loop() {
		if g.Holds(object) {
			b.Fatal("found something")
		}
	}
}
