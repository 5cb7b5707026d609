package leak

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/value"
)

var (
	token   = Source{Variable, "var.token"}
	session = Source{Result, "ephemeral.vault.session"}
)

func TestForms(t *testing.T) {
	g := New()
	secret := "p<4ss>&\"wörd\"/\n\tx"
	g.Remember(token, cty.StringVal(secret))
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
		t.Errorf("got %q", got)
	}
}

func TestLines(t *testing.T) {
	g := New()
	g.Remember(token, cty.StringVal("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n"))
	if got := g.Redact("  key: |\n    -----BEGIN KEY-----\n    MIIEvQIBADANBgkqhkiG9w0B\n    AQEFAASCBKcwggSjAgEAAoIB\n"); strings.Count(got, Withheld) != 2 || !strings.Contains(got, "BEGIN") {
		t.Errorf("got %q", got)
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
		"tags":          cty.MapVal(map[string]cty.Value{"database_name": cty.StringVal("abc-123-def"), "k3y-0f-map": cty.StringVal("")}),
	}).Mark(value.Ephemeral)
	g := New()
	g.Remember(session, result, cty.ObjectVal(map[string]cty.Value{"arn": cty.StringVal("arn:aws:secret:1")}))
	want := map[string]bool{ // whether confidential
		"AKIA-17-ABCD": true, "postgres-admin": true, "2026-01-01T00:00:00Z": false, "4711081512": false, "abc-123-def": false, "k3y-0f-map": false,
	}
	for _, text := range []string{
		"AKIA-17-ABCD", "postgres-admin", "AWSCURRENT", "2026-01-01T00:00:00Z", "arn:aws:secret:1", "4711081512", "4711", "0000000000", "a1b2c3d",
		"access_key_id", "database_name", "abc-123-def", "k3y-0f-map",
	} {
		m, ok := g.Find(text)
		if confidential, found := want[text]; ok != found || ok && m.Confidential != confidential {
			t.Errorf("%s: found %v, confidential %v", text, ok, m.Confidential)
		}
		if ok && (!m.From(session) || m.From(token) || len(m.Sources()) != 1) {
			t.Errorf("%s comes from %v", text, m.Sources())
		}
	}
	if _, found := g.RedactDocument([]byte("2026-01-01T00:00:00Z")); found {
		t.Error("a document lost a value that is not confidential")
	}
	g.Remember(token, cty.StringVal("2026-01-01T00:00:00Z").Mark(value.Sensitive))
	if got, found := g.RedactDocument([]byte("at 2026-01-01T00:00:00Z")); !found || string(got) != "at "+Withheld {
		t.Errorf("a value that has become confidential is still there: %s", got)
	}
}

func TestOnlyEphemeralParts(t *testing.T) {
	g := New()
	g.RememberEphemeral(session, cty.ObjectVal(map[string]cty.Value{
		"host": cty.StringVal("db-1.example.com"), "password": cty.StringVal("s3cret-s3cret").Mark(value.Ephemeral),
	}))
	if _, ok := g.Find("db-1.example.com"); ok {
		t.Error("found what is not ephemeral")
	}
	if _, ok := g.Find("password=s3cret-s3cret"); !ok {
		t.Error("did not find what is ephemeral")
	}
}

func TestOpen(t *testing.T) {
	g := New()
	g.Remember(token, cty.TupleVal([]cty.Value{cty.StringVal("production"), cty.StringVal("hunter2-hunter2")}).Mark(value.Sensitive))
	files := iter.Seq[[]byte](slices.Values([][]byte{nil, []byte(`stage = "production"`)}))
	end := g.Expose(files)
	if got := g.Redact("production: hunter2-hunter2"); got != "production: (ephemeral value)" {
		t.Errorf("got %q", got)
	}
	end()
	g.Remember(token, cty.StringVal("staging-1"))
	defer g.Expose(slices.Values([][]byte{[]byte(`staging-1`)}))()
	if got := g.Redact("staging-1"); got != "staging-1" {
		t.Errorf("got %q: it was remembered before it was in the open", got)
	}
}

func TestNone(t *testing.T) {
	var none *Guard
	none.Remember(token, cty.StringVal("hunter2-hunter2"))
	none.RememberEphemeral(token, cty.StringVal("hunter2-hunter2").Mark(value.Ephemeral))
	none.Expose(nil)()
	if got := none.Redact("hunter2-hunter2"); got != "hunter2-hunter2" || none.Knows() {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{"", "x", "hunter2-", "hunter2-h"} {
		if got := New().Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
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
				g.Remember(token, cty.StringVal(s))
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
		m, ok := g.Find(in)
		if ok != (first >= 0) || ok && m.Start != first {
			t.Fatalf("%q in %q: found at %d (%v), is at %d", secrets, in, m.Start, ok, first)
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
				g.Remember(token, cty.StringVal(name(i)).Mark(value.Sensitive))
				if _, ok := g.Find("- " + name(i)); !ok {
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
		g.Remember(token, cty.StringVal("secret-"+strings.Repeat("z", i%30)+string(rune('a'+i%26))+"-17"))
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
	g.Remember(token, cty.StringVal("s3cr3t-s3cr3t").Mark(value.Sensitive))
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
