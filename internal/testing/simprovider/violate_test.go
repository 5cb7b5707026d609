package simprovider

//lint:file-ignore SA1019 the legacy type system is what these types are about

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// struck is what a driven call answered, in the terms of the rules.
type struck struct {
	r      *rig
	answer answer
	object object // decoded, nil if null or not decodable
	err    error  // why it could not be decoded
}

// drive makes the one call about sim_thing.x (or the ephemeral) that the rule strikes, after whatever must
// come before it.
func drive(t *testing.T, rule Rule) *struck {
	t.Helper()
	r := newRig(t, rule)
	switch rule.RPC {
	case "PlanResourceChange":
		p, err := r.planChange(typeThing, nil, fullThing)
		if err != nil {
			t.Fatal(err)
		}
		return r.struck(typeThing, answer{
			object: &p.PlannedState, diags: &p.Diagnostics, deferred: &p.Deferred, private: &p.PlannedPrivate,
			identity: &p.PlannedIdentity, replace: &p.RequiresReplace, legacy: &p.UnsafeToUseLegacyTypeSystem,
		})
	case "ApplyResourceChange":
		return driveApply(t, r, rule)
	case "ReadResource":
		made := r.change(typeThing, nil, fullThing)
		p, err := r.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeThing, CurrentState: made.NewState})
		if err != nil {
			t.Fatal(err)
		}
		return r.struck(typeThing, answer{object: &p.NewState, diags: &p.Diagnostics, identity: &p.NewIdentity})
	case "UpgradeResourceState":
		p, err := r.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
			TypeName: typeThing, Version: 1,
			RawState: &tfprotov6.RawState{JSON: []byte(`{"id":"x-1","name":"x","rule":[],"zone":[]}`)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.struck(typeThing, answer{object: &p.UpgradedState, diags: &p.Diagnostics})
	case "ImportResourceState":
		p, err := r.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: typeThing, ID: "x-1"})
		if err != nil {
			t.Fatal(err)
		}
		a := answer{imported: &p.ImportedResources, diags: &p.Diagnostics}
		if len(p.ImportedResources) > 0 {
			a.object = &p.ImportedResources[0].State
		}
		return r.struck(typeThing, a)
	case "OpenEphemeralResource":
		p, err := r.OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: typeSecret, Config: jsonValue(`{"name":"x"}`)})
		if err != nil {
			t.Fatal(err)
		}
		o, err := decode(p.Result, r.opened[typeSecret].ValueType())
		return &struck{r: r, object: o, err: err, answer: answer{object: &p.Result, deferred: &p.Deferred, renewAt: &p.RenewAt, private: &p.Private}}
	}
	t.Fatalf("the test does not know how to drive %s", rule.RPC)
	return nil
}

func driveApply(t *testing.T, r *rig, rule Rule) *struck {
	t.Helper()
	var prior *tfprotov6.DynamicValue
	config := fullThing
	if rule.Action == actionDelete {
		prior, config = r.change(typeThing, nil, fullThing).NewState, ""
	}
	plan, err := r.planChange(typeThing, prior, config)
	r.none(plan.Diagnostics, err)
	p, err := r.applyPlan(typeThing, prior, config, plan)
	if err != nil {
		t.Fatal(err)
	}
	return r.struck(typeThing, answer{
		object: &p.NewState, diags: &p.Diagnostics, private: &p.Private, identity: &p.NewIdentity,
		legacy: &p.UnsafeToUseLegacyTypeSystem,
	})
}

func (r *rig) struck(typ string, a answer) *struck {
	r.t.Helper()
	s := &struck{r: r, answer: a}
	if a.object != nil {
		s.object, s.err = decode(*a.object, r.resources[typ].ValueType())
	}
	return s
}

func (s *struck) length(name string) int {
	var list []tftypes.Value
	if s.object[name].As(&list) != nil {
		return -1
	}
	return len(list)
}

const (
	planRPC, applyRPC, readRPC = "PlanResourceChange", "ApplyResourceChange", "ReadResource"
	upgradeRPC, importRPC      = "UpgradeResourceState", "ImportResourceState"
	openRPC                    = "OpenEphemeralResource"
)

// violations lists for each deed the calls in which it was asked for and how the answer shows it.
var violations = []struct {
	rule  Rule
	shown func(s *struck) bool
}{
	{Rule{RPC: planRPC, Do: "change-config", Attr: "name"}, func(s *struck) bool { return s.object.text("name") == "x-changed" }},
	{Rule{RPC: planRPC, Do: "change-config"}, func(s *struck) bool { return s.object.text("json") == `{"k":1}-changed` }},
	{Rule{RPC: planRPC, Do: "change-config", Attr: "size"}, func(s *struck) bool { return s.object.number("size") == 4 }},
	{Rule{RPC: planRPC, Do: "change-config", Attr: "rule.1.note"}, func(s *struck) bool {
		var rules []tftypes.Value
		return s.object["rule"].As(&rules) == nil && asObject(rules[1]).text("note") == "n-changed"
	}},
	{Rule{RPC: planRPC, Do: "change-config", Attr: "nested.m.value"}, func(s *struck) bool {
		return asObject(asObject(s.object["nested"])["m"]).text("value") == "v-changed"
	}},
	{Rule{RPC: planRPC, Do: "set-unconfigured"}, func(s *struck) bool { return s.object.known("delay") }},
	{Rule{RPC: planRPC, Do: "change-known"}, func(s *struck) bool { return s.object.text("label") == "p-x-changed" }},
	{Rule{RPC: planRPC, Do: "drop-block"}, func(s *struck) bool { return s.length("rule") == 1 }},
	{Rule{RPC: planRPC, Do: "drop-block", Attr: "zone"}, func(s *struck) bool { return s.length("zone") == 0 }},
	{Rule{RPC: planRPC, Do: "add-block", Attr: "zone"}, func(s *struck) bool { return s.length("zone") == 2 }},
	{Rule{RPC: planRPC, Do: "write-only"}, func(s *struck) bool { return s.object.known("secret_wo") }},
	{Rule{RPC: planRPC, Do: "echo-write-only"}, func(s *struck) bool { return s.object.text("status") == "CANARY-wo" }},
	{Rule{RPC: planRPC, Do: "wrong-type"}, func(s *struck) bool { return s.err != nil }},
	{Rule{RPC: planRPC, Do: "not-an-object"}, func(s *struck) bool { return s.err != nil }},
	{Rule{RPC: planRPC, Do: "garbage"}, func(s *struck) bool { return s.err != nil }},
	{Rule{RPC: planRPC, Do: "no-value"}, func(s *struck) bool { return *s.answer.object == nil }},
	{Rule{RPC: planRPC, Do: "deferred"}, func(s *struck) bool { return *s.answer.deferred != nil }},
	{Rule{RPC: planRPC, Do: "no-private"}, func(s *struck) bool { return *s.answer.private == nil }},
	{Rule{RPC: planRPC, Do: "set-private", Text: "other"}, func(s *struck) bool { return string(*s.answer.private) == "other" }},
	{Rule{RPC: planRPC, Do: "legacy"}, func(s *struck) bool { return *s.answer.legacy }},
	{Rule{RPC: planRPC, Do: "replace"}, func(s *struck) bool { return pathNames(*s.answer.replace) == `AttributeName("name")` }},
	{Rule{RPC: planRPC, Do: "bad-replace"}, func(s *struck) bool { return strings.Contains(pathNames(*s.answer.replace), "no_such") }},
	{Rule{RPC: planRPC, Do: "change-identity"}, func(s *struck) bool {
		o, err := decode((*s.answer.identity).IdentityData, identitySchema.ValueType())
		return err == nil && o.text("name") == "another-identity"
	}},
	{Rule{RPC: applyRPC, Do: "no-identity"}, func(s *struck) bool { return *s.answer.identity == nil }},
	{Rule{RPC: planRPC, Do: "invalid-path"}, func(s *struck) bool { return (*s.answer.diags)[0].Attribute != nil }},
	{Rule{RPC: planRPC, Do: "warning"}, func(s *struck) bool {
		return (*s.answer.diags)[0].Severity == tfprotov6.DiagnosticSeverityWarning
	}},
	{Rule{RPC: applyRPC, Do: "error", Text: "boom"}, func(s *struck) bool {
		return (*s.answer.diags)[0].Detail == "boom" && s.object.text("id") == "x-1"
	}},
	{Rule{RPC: applyRPC, Do: "change-known"}, func(s *struck) bool { return s.object.text("label") == "p-x-changed" }},
	{Rule{RPC: applyRPC, Do: "unknown", Attr: "serial"}, func(s *struck) bool { return !s.object["serial"].IsKnown() }},
	{Rule{RPC: applyRPC, Do: "write-only"}, func(s *struck) bool { return s.object.known("secret_wo") }},
	{Rule{RPC: applyRPC, Do: "echo-write-only", Attr: "label"}, func(s *struck) bool { return s.object.text("label") == "CANARY-wo" }},
	{Rule{RPC: applyRPC, Do: "huge", Size: 1000, Attr: "status"}, func(s *struck) bool { return len(s.object.text("status")) == 1000 }},
	{Rule{RPC: applyRPC, Do: "null-object", Action: actionCreate}, func(s *struck) bool { return s.err == nil && s.object == nil }},
	{Rule{RPC: applyRPC, Do: "keep-object", Action: actionDelete}, func(s *struck) bool { return s.object.text("id") == "x-1" }},
	{Rule{RPC: readRPC, Do: "unknown"}, func(s *struck) bool { return !s.object["computed_list"].IsKnown() }},
	{Rule{RPC: readRPC, Do: "wrong-type", Attr: "size"}, func(s *struck) bool { return s.err != nil }},
	{Rule{RPC: readRPC, Do: "write-only"}, func(s *struck) bool { return s.object.known("secret_wo") }},
	{Rule{RPC: readRPC, Do: "set", Attr: "size", Value: json.RawMessage("99")}, func(s *struck) bool { return s.object.number("size") == 99 }},
	{Rule{RPC: upgradeRPC, Do: "write-only"}, func(s *struck) bool { return s.object.known("secret_wo") }},
	{Rule{RPC: upgradeRPC, Do: "add-block"}, func(s *struck) bool { return s.length("rule") == 1 }},
	{Rule{RPC: importRPC, Do: "write-only"}, func(s *struck) bool { return s.object.known("secret_wo") }},
	{Rule{RPC: importRPC, Do: "empty-import"}, func(s *struck) bool { return len(*s.answer.imported) == 0 }},
	{Rule{RPC: importRPC, Do: "twice"}, func(s *struck) bool { return len(*s.answer.imported) == 2 }},
	{Rule{RPC: importRPC, Do: "wrong-type-name"}, func(s *struck) bool { return (*s.answer.imported)[0].TypeName == "sim_no_such_type" }},
	{Rule{RPC: openRPC, Do: "unknown", Attr: "value"}, func(s *struck) bool { return !s.object["value"].IsKnown() }},
	{Rule{RPC: openRPC, Do: "change-config"}, func(s *struck) bool { return s.object.text("name") == "x-changed" }},
	{Rule{RPC: openRPC, Do: "set-unconfigured", Attr: "hint"}, func(s *struck) bool { return s.object.known("hint") }},
	{Rule{RPC: openRPC, Do: "wrong-type"}, func(s *struck) bool { return s.err != nil }},
	{Rule{RPC: openRPC, Do: "deferred"}, func(s *struck) bool { return *s.answer.deferred != nil }},
	{Rule{RPC: openRPC, Do: "renew-at", Text: "-1h"}, func(s *struck) bool { return time.Since(*s.answer.renewAt) > 59*time.Minute }},
}

func TestViolations(t *testing.T) {
	tried := map[string]bool{}
	for _, v := range violations {
		tried[v.rule.Do] = true
		t.Run(v.rule.RPC+" "+v.rule.Do+" "+v.rule.Attr, func(t *testing.T) {
			s := drive(t, v.rule)
			if !v.shown(s) {
				t.Errorf("the answer does not show it: object %v, err %v", s.object, s.err)
			}
			did := 0
			for _, e := range s.r.transcript() {
				if slices.Contains(e.Did, v.rule.Do) {
					did++
				}
			}
			if did != 1 {
				t.Errorf("the transcript tells of %d deeds, want 1", did)
			}
		})
	}
	for _, do := range slices.Sorted(maps.Keys(alterations)) {
		if !tried[do] {
			t.Errorf("the deed %s is not tried", do)
		}
	}
}

// TestRuleSelection strikes the second plan of one object only.
func TestRuleSelection(t *testing.T) {
	r := newRig(t, Rule{RPC: planRPC, Type: typeThing, Name: "x", Nth: 2, Do: "change-known"})
	s := r.resources[typeThing]
	var labels []string
	for _, config := range []string{`{"name":"x"}`, `{"name":"y"}`, `{"name":"x"}`, `{"name":"x"}`} {
		p, err := r.planChange(typeThing, nil, config)
		r.none(p.Diagnostics, err)
		labels = append(labels, r.object(p.PlannedState, s).text("label"))
	}
	if got, want := strings.Join(labels, " "), "p-x p-y p-x-changed p-x"; got != want {
		t.Errorf("labels: got %s, want %s", got, want)
	}
}

// TestSharedRule counts over two servers of the same cloud.
func TestSharedRule(t *testing.T) {
	dir := t.TempDir()
	rule := Rule{RPC: "GetMetadata", Nth: 2, Shared: true, Do: doError}
	var struck []int
	for range 3 {
		s, err := New6(Options{Dir: dir, Rules: []Rule{rule}})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.GetMetadata(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		struck = append(struck, len(resp.Diagnostics))
	}
	if !slices.Equal(struck, []int{0, 1, 0}) {
		t.Errorf("struck: got %v, want %v", struck, []int{0, 1, 0})
	}
}

// TestRuleWithoutEffect makes a call fail when a rule finds nothing to work on.
func TestRuleWithoutEffect(t *testing.T) {
	r := newRig(t, Rule{RPC: planRPC, Do: "drop-block"})
	if _, err := r.planChange(typeThing, nil, `{"name":"x"}`); err == nil || !strings.Contains(err.Error(), "cannot be carried out") {
		t.Errorf("err = %v", err)
	}
}

func TestParseRules(t *testing.T) {
	for text, want := range map[string]string{
		`[{"rpc":"PlanResourceChange","do":"unknown"}]`:                             "",
		`[{"rpc":"Start","do":"garbage-stdout"}]`:                                   "",
		`[{"rpc":"ApplyResourceChange","do":"exit","when":"after","code":9}]`:       "",
		`[{"rpc":"Planning","do":"unknown"}]`:                                       `rpc "Planning"`,
		`[{"rpc":"PlanResourceChange","do":"nonsense"}]`:                            `"nonsense" cannot be done`,
		`[{"rpc":"Start","do":"unknown"}]`:                                          `cannot be done in Start`,
		`[{"rpc":"PlanResourceChange","do":"unknown","ntn":1}]`:                     `unknown field "ntn"`,
		`[{"rpc":"PlanResourceChange","do":"exit","when":"sometimes"}]`:             `must be before, during or after`,
		`[{"rpc":"PlanResourceChange","do":"unknown","when":"before"}]`:             `no meaning`,
		`[{"rpc":"PlanResourceChange","do":"unknown"}] []`:                          `something follows`,
		`{"rpc":"PlanResourceChange","do":"unknown"}`:                               `cannot unmarshal`,
		`[{"rpc":"CloseEphemeralResource","type":"sim_secret","do":"hang","ms":5}]`: "",
	} {
		_, err := ParseRules([]byte(text))
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte(`[{"rpc":"PlanResourceChange","do":"set","attr":"a.b","value":{"x":1}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := ParseRules(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(rules)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseRules(again); err != nil {
			t.Errorf("rules that were read cannot be read again: %s", err)
		}
	})
}
