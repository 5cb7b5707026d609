package engine

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// configured returns a configuration with variables and the text of a file.
func configured(file string, variables map[string]*config.Variable) *blocks.Config {
	for _, v := range variables {
		v.Type = cty.String
	}
	return &blocks.Config{Tree: &config.Tree{Root: &config.Module{Variables: variables}, Sources: map[string][]byte{"main.tf": []byte(file)}}}
}

// TestVariablesAreRemembered remembers the values of ephemeral variables, and what is sensitive of them.
func TestVariablesAreRemembered(t *testing.T) {
	e := &Engine{&host{opt: Options{Leaks: leak.New()}}}
	e.rememberVariables(configured("", map[string]*config.Variable{
		"ephemeral": {Ephemeral: true}, "both": {Ephemeral: true, Sensitive: true}, "sensitive": {Sensitive: true}, "plain": {}, "none": {Ephemeral: true},
	}), map[string]cty.Value{
		"ephemeral": cty.StringVal("ephem3ral-17"), "both": cty.StringVal("b0th-kinds-17"), "sensitive": cty.StringVal("s3nsitive-17"), "plain": cty.StringVal("pl4in-text-17"), "undeclared": cty.StringVal("und3clared-17"),
	})
	for text, want := range map[string]struct{ found, confidential bool }{
		"ephem3ral-17": {true, false}, "b0th-kinds-17": {true, true}, "s3nsitive-17": {}, "pl4in-text-17": {}, "und3clared-17": {},
	} {
		found, confidential := false, false
		for m := range e.opt.Leaks.Matches(text) {
			_, confidential, found = m.OfRun()
		}
		if found != want.found || confidential != want.confidential {
			t.Errorf("%s: got found %t, confidential %t, want %+v", text, found, confidential, want)
		}
	}
}

// TestWhatIsExposed has each text that is in the open, and for how long.
func TestWhatIsExposed(t *testing.T) {
	e := &Engine{&host{opt: Options{Leaks: leak.New()}}}
	texts := []string{"in-the-file-17", "pl4in-text-17", "a-d3fault-17", "s3nsitive-17", "ephem3ral-17", "in-the-state-17", "nowhere-at-all-17"}
	for _, s := range texts {
		e.opt.Leaks.Remember(leak.Source{Kind: leak.Result, Address: "a"}, cty.StringVal(s), cty.String)
	}
	st := state.New()
	instance, err := addr.ParseInstance("t.x")
	if err != nil {
		t.Fatal(err)
	}
	v := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("in-the-state-17")})
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	st.SetObject(addr.Object{Instance: instance}, o, addr.ProviderConfig{Provider: addr.BuiltinProvider})
	gone, err := addr.ParseInstance("t.gone")
	if err != nil {
		t.Fatal(err)
	}
	st.SetObject(addr.Object{Instance: gone, Deposed: "0a1b2c3d"}, o, addr.ProviderConfig{Provider: addr.BuiltinProvider})
	cfg := configured("in-the-file-17", map[string]*config.Variable{
		"plain": {}, "default": {Default: cty.StringVal("a-d3fault-17")}, "given": {Default: cty.StringVal("nowhere-at-all-17")}, "sensitive": {Sensitive: true}, "ephemeral": {Ephemeral: true}, "required": {Default: cty.NilVal},
	})
	given := map[string]cty.Value{
		"plain": cty.StringVal("pl4in-text-17"), "given": cty.StringVal("x"), "sensitive": cty.StringVal("s3nsitive-17"), "ephemeral": cty.StringVal("ephem3ral-17"),
	}
	shown := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, s := range texts {
			if e.opt.Leaks.Redact(s) == s {
				got = append(got, s)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, %q are shown, want %q", when, got, want)
		}
	}
	shown("before")
	end := e.expose(cfg, given, st)
	given["plain"] = cty.StringVal("changed by the caller")
	shown("meanwhile", texts[0], texts[1], texts[2], texts[5])
	end()
	shown("after the end", texts[0], texts[1], texts[2])
	e.expose(configured("", nil), nil, nil)()
	shown("in the next operation")
}

// TestResultsOfFunctions accepts or refuses what a function of a configured provider returns.
func TestResultsOfFunctions(t *testing.T) {
	on := &eval.ProviderObject{Addr: addr.ProviderConfig{Provider: addr.BuiltinProvider, Alias: "a"}}
	call := eval.FunctionCall{Provider: addr.BuiltinProvider, On: on, Name: "f"}
	for _, policy := range []leak.Policy{leak.Standard, leak.Strict} {
		guard := leak.New()
		guard.Reveal(leak.Source{Kind: leak.Configuration, Address: on.Addr.String()}, cty.StringVal("s3cret-s3cret").Mark(value.Ephemeral), cty.String)
		w := &walk{run: &eval.Run{Diags: &diag.Collector{}}, shared: &shared{env: &object.Env{Leaks: contract.Leaks{Guard: guard, Policy: policy}}}}
		if got, err := w.acceptResult(call, cty.StringVal("plain")); err != nil || got != cty.StringVal("plain") || len(w.run.Diags.List()) != 0 {
			t.Errorf("%s: got %#v, %v, want \"plain\" without diagnostics", policy, got, err)
		}
		got, err := w.acceptResult(call, cty.StringVal("<s3cret-s3cret>"))
		if refused := policy == leak.Strict; (err != nil) != refused || (got == cty.StringVal("<s3cret-s3cret>")) == refused || (len(w.run.Diags.List()) == 1) == refused {
			t.Errorf("%s: got %#v, %v, with %v, want it refused: %t, otherwise returned with one warning", policy, got, err, w.run.Diags.List(), refused)
		}
	}
}
