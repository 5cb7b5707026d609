package report_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/show/view/report"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// secret is what the redaction of these tests takes out.
const secret = "SECRET-3b1d"

// alike returns a plan with changes that differ in an attribute whose name is the secret.
func alike(t *testing.T) *plan.Plan {
	t.Helper()
	tags := func(n int) value.Durable {
		return fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"tags": cty.MapVal(map[string]cty.Value{secret: cty.StringVal(strconv.Itoa(n))})}))
	}
	p := planOf(t, 20)
	for i, c := range p.Changes[5:] {
		c.Addr = fixture.Instance(t, fmt.Sprintf("t_x.many[%d]", i))
		c.PrevAddr, c.Before, c.After = c.Addr, tags(-1), tags(i)
	}
	return p
}

// TestUnfolded shows each change of a plan unless it is asked for folds.
func TestUnfolded(t *testing.T) {
	r := report.New("A page", "today", nil)
	if err := r.Plan(alike(t), nil, nil); err != nil || len(r.Content().Folds) > 0 {
		t.Errorf("%q, %v", r.Content().Folds, err)
	}
}

// TestTextsAreClean puts the secret into each text of a page, one page for each.
func TestTextsAreClean(t *testing.T) {
	planned := func(edit func(*plan.Plan, *plan.Change)) func(*testing.T, *report.Report) {
		return func(t *testing.T, r *report.Report) {
			p := planOf(t, 1)
			edit(p, p.Changes[0])
			if err := r.Plan(p, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	sealed := func(t *testing.T, s string) value.Durable {
		return fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(s)}))
	}
	keyed := addr.RootInstance.Child("m", addr.StringKey(secret))
	for name, put := range map[string]func(*testing.T, *report.Report){
		"error":             func(_ *testing.T, r *report.Report) { r.Note("it is "+secret, true) },
		"warning":           func(_ *testing.T, r *report.Report) { r.Note("it is "+secret, false) },
		"address of object": func(_ *testing.T, r *report.Report) { r.Object("a.b["+secret+"]", "", "text") },
		"module of object":  func(_ *testing.T, r *report.Report) { r.Object("a.b", "module.m["+secret+"]", "text") },
		"text of object":    func(_ *testing.T, r *report.Report) { r.Object("a.b", "", "name = "+secret) },
		"outputs":           func(_ *testing.T, r *report.Report) { r.Object("a.b", "", ""); r.Outputs("it is " + secret) },
		"reason": func(t *testing.T, r *report.Report) {
			if err := r.Plan(planOf(t, 1), nil, func(*plan.Change) []string { return []string{"because", "of " + secret} }); err != nil {
				t.Fatal(err)
			}
		},
		"address of change": planned(func(_ *plan.Plan, c *plan.Change) { c.Addr.Key = addr.StringKey(secret); c.PrevAddr = c.Addr }),
		"module of change":  planned(func(_ *plan.Plan, c *plan.Change) { c.Addr.Module = keyed; c.PrevAddr = c.Addr }),
		"previous address":  planned(func(_ *plan.Plan, c *plan.Change) { c.PrevAddr.Key = addr.StringKey(secret) }),
		"moved": planned(func(_ *plan.Plan, c *plan.Change) {
			c.Action, c.Before, c.After = plan.NoOp, sealed(t, "a"), sealed(t, "a")
			c.Addr.Key = addr.StringKey(secret)
		}),
		"text of change": planned(func(_ *plan.Plan, c *plan.Change) { c.After = sealed(t, secret) }),
		"fold": func(t *testing.T, r *report.Report) {
			r.Fold = true
			if err := r.Plan(alike(t), nil, nil); err != nil {
				t.Fatal(err)
			}
			if folds := r.Content().Folds; len(folds) != 1 || !strings.Contains(folds[0], "(redacted)") {
				t.Errorf("folds: got %q, want one, redacted", folds)
			}
		},
		"drift": planned(func(p *plan.Plan, c *plan.Change) {
			p.Drift = []*plan.Change{{Addr: c.Addr, PrevAddr: c.Addr, Provider: c.Provider, Action: plan.Update, Before: sealed(t, "a"), After: sealed(t, secret)}}
		}),
		"output of plan": planned(func(p *plan.Plan, _ *plan.Change) {
			p.Outputs = append(p.Outputs, &plan.OutputChange{Name: "o", Action: plan.Create, After: fixture.Seal(t, cty.StringVal(secret))})
		}),
	} {
		t.Run(name, func(t *testing.T) {
			redacted := false
			r := report.New("A page", "today", func(s string) string {
				redacted = redacted || strings.Contains(s, secret)
				return strings.ReplaceAll(s, secret, "(redacted)")
			})
			put(t, r)
			var doc bytes.Buffer
			if err := r.Write(&doc); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(doc.Bytes(), []byte(secret)) {
				t.Error("it is in the page")
			}
			if !bytes.Contains(doc.Bytes(), []byte("(redacted)")) || !redacted {
				t.Error("it was never there")
			}
		})
	}
}

// TestTextsAreVisible writes a page without redaction. What would change the look of a text is spelled out.
func TestTextsAreVisible(t *testing.T) {
	const odd = "SECRET-3b1d\u202e" // the last letter changes the direction of what follows
	r := report.New("", "today", nil)
	r.Object("a.b["+odd+"]", "module.m["+odd+"]", "name = "+odd)
	r.Note(odd, true)
	r.Outputs(odd)
	var doc bytes.Buffer
	if err := r.Write(&doc); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(doc.Bytes(), []byte(secret)); n != 5 || bytes.ContainsRune(doc.Bytes(), '\u202e') {
		t.Errorf("the text is there %d times, want 5", n)
	}
	if !bytes.Contains(doc.Bytes(), []byte("<title>State · Mayfly</title>")) {
		t.Error("the page has no title that says what it shows")
	}
}
