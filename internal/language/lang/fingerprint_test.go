package lang

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

// TestCheckFingerprint checks which arguments of fingerprint are accepted.
func TestCheckFingerprint(t *testing.T) {
	for src, want := range map[string]bool{
		"fingerprint(var.token)": true, "core::fingerprint(local.a)": true, "fingerprint((module.m.secret))": true,
		"fingerprint(ephemeral.a.b)": true, `fingerprint(ephemeral.a.b.data["password"])`: true, "fingerprint(ephemeral.a.b[each.key].value)": true,
		"fingerprint(ephemeral.a.b[0].list[count.index])": true, "fingerprint()": true, "fingerprint(var.a, var.b)": true, // the call reports these
		`fingerprint("x")`: false, "fingerprint(substr(var.token, 0, 1))": false, `fingerprint("${var.token}x")`: false, "fingerprint(var.a == var.b)": false,
		"[for c in split(\"\", var.token) : fingerprint(c)]": false, "fingerprint(var.a[*])": false, "fingerprint(true ? var.a : var.b)": false,
		"fingerprint(var.a...)": false, "fingerprint(it.value)": false, "[for c in var.a : fingerprint(c.x[0])]": false,
	} {
		x, hd := hclsyntax.ParseExpression([]byte(src), "", hcl.InitialPos)
		if hd.HasErrors() {
			t.Fatal(src, hd)
		}
		compiled, diags := Compile(x, "it")
		if got := !diags.HasErrors(); got != want {
			t.Errorf("%s: got %v, want accepted: %v", src, diags, want)
		}
		if !compiled.ClearsEphemeral {
			t.Errorf("%s: its result does not count as not ephemeral", src)
		}
	}
	for src, want := range map[string]bool{`"${fingerprint(var.token)}"`: true, `"${fingerprint(substr(var.token, 0, 1))}"`: false} {
		x, hd := json.ParseExpression([]byte(src), "x.tf.json")
		if hd.HasErrors() {
			t.Fatal(src, hd)
		}
		_, diags := Compile(x)
		if got := !diags.HasErrors(); got != want {
			t.Errorf("%s: got %v, want accepted: %v", src, diags, want)
		}
		if !want && (len(diags) != 1 || diags[0].Subject == nil || diags[0].Subject.Filename != "x.tf.json") {
			t.Errorf("%s: got %v, want one error at its place", src, diags)
		}
	}
}
