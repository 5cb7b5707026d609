package workdir

import (
	"context"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// person answers questions, and corrects wrong answers if it is patient.
type person struct {
	patient bool
	answers []string
	log     []string // questions, and summaries of what was wrong
}

func (p *person) Value(_ context.Context, v *config.Variable) (string, error) {
	p.log = append(p.log, v.Name)
	if len(p.answers) == 0 {
		return "", ErrNoAnswer
	}
	text := p.answers[0]
	p.answers = p.answers[1:]
	return text, nil
}

func (p *person) Again(wrong diag.List) bool {
	if p.patient {
		p.log = append(p.log, wrong[0].Summary)
	}
	return p.patient
}

func (p *person) CopyStates(context.Context, int) (bool, error) { return false, nil }

// TestAsk answers for the variables a, b and place. The configuration cannot be loaded without the last one.
func TestAsk(t *testing.T) {
	const rule, kind = "Invalid value for variable", "Invalid value for input variable"
	for _, c := range []struct {
		name     string
		patient  bool
		settings []string
		answers  []string
		log      []string
		want     string // the summary of the error
	}{
		{"right", false, nil, []string{"m", "7", "3"}, []string{"place", "a", "b"}, ""},
		{"corrected", true, nil, []string{"x", "m", "one", "1", "7", "8", "3"}, []string{"place", rule, "place", "a", kind, "a", rule, "a", "b", rule, "b"}, ""},
		{"three times", true, nil, []string{"m", "1", "2", "3", "4"}, []string{"place", "a", rule, "a", rule, "a"}, rule},
		{"three times while loading", true, nil, []string{"x", "y", "z", "m"}, []string{"place", rule, "place", rule, "place"}, rule},
		{"in a pipe", false, nil, []string{"m", "1", "7"}, []string{"place", "a"}, rule},
		{"given up", true, nil, []string{"m", "1"}, []string{"place", "a", rule, "a"}, "No value for required variable"},
		{"nothing is asked beside a wrong value", true, []string{"a=1"}, []string{"m", "3"}, []string{"place"}, rule},
		{"rules with two variables", true, []string{"a=7"}, []string{"m", "8", "3"}, []string{"place", "b", rule, "b"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			filetest.Write(t, "m/m.tf", "")
			filetest.Write(t, ".terraform/modules/modules.json", `{"Modules": [{"Key": "m", "Source": "./m", "Dir": "m"}]}`)
			filetest.Write(t, "main.tf", `
variable "a" {
  type = number
  validation {
    condition     = var.a > 5
    error_message = "too small"
  }
}
variable "b" {
  type = number
  validation {
    condition     = var.b < var.a
    error_message = "not less than a"
  }
}
variable "place" {
  validation {
    condition     = var.place == "m"
    error_message = "not the place"
  }
}
module "m" {
  source = "./${var.place}"
}
`)
			p := &person{patient: c.patient, answers: c.answers}
			opt := Options{Asker: p, Environ: []string{"X=y"}}
			for _, s := range c.settings {
				opt.Settings = append(opt.Settings, Setting{Text: s})
			}
			d := New(opt)
			diags := config.Formal(d.Load(t.Context()))
			if !diags.HasErrors() {
				_, diags = d.Variables.Read(t.Context(), false)
			}
			got := ""
			if len(diags) > 0 {
				got = diags[0].Summary
			}
			if got != c.want || !slices.Equal(p.log, c.log) {
				t.Errorf("%v, want %q; asked %q, want %q", diags, c.want, p.log, c.log)
			}
		})
	}
}
