package blockhash

import (
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestExpressions lists expressions that are alike, and whether they have the same hash.
func TestExpressions(t *testing.T) {
	hashOf := func(expr string) Hash {
		s := newSetting(t, head+"locals {\n  a = \"a\"\n  b = [\"b\"]\n  v = "+expr+"\n}\n")
		set, cfg := s.both(t)
		h, known := set.Block(cfg.Modules[addr.RootModule].Locals["v"])
		if !known {
			t.Errorf("%s: got no hash, want one", expr)
		}
		return h
	}
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{`1`, `1.0`, true},
		{`1`, `"1"`, false},
		{`1`, `-1`, false},
		{`true`, `!true`, false},
		{`(local.a)`, `[local.a]`, false},
		{`"a\u0062"`, `"ab"`, true},
		{`"a"`, `"b"`, false},
		{`"a${local.a}"`, `"${local.a}a"`, false},
		{`"${local.a}"`, `local.a`, false},
		{`["ab", "c"]`, `["a", "bc"]`, false},
		{`[["a"], "b"]`, `[["a", "b"]]`, false},
		{`[[], ["a"]]`, `[["a"], []]`, false},
		{`["a",]`, `["a"]`, true},
		{`{ a = 1, b = 2 }`, "{\na : 1 // one\nb = 2\n}", true},
		{`{ a = 1 }`, `{ b = 1 }`, false},
		{`{ local = 1 }`, `{ (local.a) = 1 }`, false},
		{`{ a = 1, b = 2 }`, `{ a = 1, b = 3 }`, false},
		{`local.a`, `local.b`, false},
		{`local.b[0]`, `local.b[1]`, false},
		{`local.b[0]`, `local.b[local.a]`, false},
		{`local.b.*.x`, `local.b[*].x`, true},
		{`local.b[*].x`, `local.b[*].y`, false},
		{`local.b[*].x`, `local.b[*].x.x`, false},
		{`upper(local.a)`, `lower(local.a)`, false},
		{`max(local.b...)`, `max(local.b)`, false},
		{`upper(local.a)`, `core::upper(local.a)`, false},
		{`local.a == local.b`, `local.a != local.b`, false},
		{`local.a + local.b`, `local.b + local.a`, false},
		{`1 - (2 - 3)`, `(1 - 2) - 3`, false},
		{`true ? 1 : 2`, `true ? 2 : 1`, false},
		{`true ? false ? 1 : 2 : 3`, `true ? false : 1 ? 2 : 3`, false},
		{`[for x in local.b : x]`, `[for y in local.b : y]`, false},
		{`[for x in local.b : x]`, `[for x, y in local.b : x]`, false},
		{`[for x in local.b : x]`, `[for k, x in local.b : x]`, false},
		{`[for x in local.b : [for y in local.b : x]]`, `[for y in local.b : [for x in local.b : x]]`, false},
		{`[for x, k in local.b : [for y, k in local.b : x]]`, `[for y, k in local.b : [for x, k in local.b : x]]`, false},
		{`[for x in local.b : x]`, `[for x in local.b : x if true]`, false},
		{`{ for x in local.b : x => x }`, `{ for x in local.b : x => x... }`, false},
		{`[for x in local.b : { a = x }]`, `[for x in local.b : { b = x }]`, false},
		{`(local.b)[0].x`, `(local.b)[0].y`, false},
		{`"%{ if true }a%{ endif }"`, `"%{ if false }a%{ endif }"`, false},
		{`"%{ for x in local.b }${x}%{ endfor }"`, `"%{ for x in local.b }${x}.%{ endfor }"`, false},
		{"<<-EOT\n    a\n  EOT\n", `"a\n"`, true},
	} {
		if got := hashOf(c.one) == hashOf(c.other); got != c.same {
			t.Errorf("%s and %s: got the same hash %v, want %v", c.one, c.other, got, c.same)
		}
	}
}

// TestAbsolutePath hashes the working directory with an expression that depends on it, and with no other.
func TestAbsolutePath(t *testing.T) {
	for call, same := range map[string]bool{`abspath("x")`: false, `core::abspath("x")`: false, `path.cwd`: false, `path.root`: true, `path.module`: true, `upper("x")`: true} {
		hashes := map[Hash]bool{}
		for _, dir := range []string{"/one", "/two"} {
			s := newSetting(t, head+"locals {\n  v = "+call+"\n}\n")
			s.workDir = dir
			set, cfg := s.both(t)
			h, _ := set.Block(cfg.Modules[addr.RootModule].Locals["v"])
			hashes[h] = true
		}
		if got := len(hashes) == 1; got != same {
			t.Errorf("%s: got the same hash in two directories %v, want %v", call, got, same)
		}
	}
}

// strange is a node that HCL doesn't have yet.
type strange struct{ hclsyntax.Node }

// TestStrangeNode takes a node of an unknown kind for one that looks at the world.
func TestStrangeNode(t *testing.T) {
	w := &treeWalker{f: &filler{}}
	if w.structure(strange{}); !w.f.world {
		t.Error("got a hash of a node of an unknown kind, want none")
	}
}

// TestExpressionsInJSON lists expressions of JSON syntax that are alike, and whether they have the same hash.
func TestExpressionsInJSON(t *testing.T) {
	hashOf := func(expr string) (Hash, bool) {
		s := newSetting(t, "-- main.tf.json --\n{\"locals\": {\"a\": \"a\", \"b\": [\"b\"], \"v\": "+expr+"}}\n")
		set, cfg := s.both(t)
		return set.Block(cfg.Modules[addr.RootModule].Locals["v"])
	}
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{`"${local.a}"`, `"${ local.a }"`, true},
		{`"${local.a}"`, `"local.a"`, false},
		{`["${local.a}"]`, `[ "${ local.a }" ]`, true},
		{`["${local.a}"]`, `["${local.b}"]`, false},
		{`{"k": "${local.a}"}`, `{ "k": "${ local.a }" }`, true},
		{`{"k": "${local.a}"}`, `{"l": "${local.a}"}`, false},
		{`{"k": "${local.a}"}`, `{"k": "${local.b}"}`, false},
		{`[["a"], "b"]`, `[["a", "b"]]`, false},
		{`{"a": {"b": "c"}, "d": "e"}`, `{"a": {"b": "c", "d": "e"}}`, false},
		{`["a", "b"]`, `{"a": "b"}`, false},
		{`true`, `false`, false},
		{`true`, `"true"`, false},
		{`1`, `1.0`, true},
		{`null`, `"null"`, false},
		{`"%{ if"`, `"%{ if"`, true},
	} {
		one, _ := hashOf(c.one)
		other, _ := hashOf(c.other)
		if got := one == other; got != c.same {
			t.Errorf("%s and %s: got the same hash %v, want %v", c.one, c.other, got, c.same)
		}
	}
	for expr, want := range map[string]bool{`["${timestamp()}", true]`: false, `[true, "${timestamp()}"]`: false, `{"k": "${timestamp()}", "l": null}`: false, `[true]`: true} {
		if _, known := hashOf(expr); known != want {
			t.Errorf("%s: got a known hash %v, want %v", expr, known, want)
		}
	}
}
