package provision

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// outputMasked is the value of the argument "output" that shows the output with the secret values hidden in
// it, in place of no output.
const outputMasked = "masked"

// maskedValue stands for a value that was hidden.
const maskedValue = "(masked value)"

// wantsMask reports whether the output is to be shown with secrets masked.
func (p *Provisioner) wantsMask() bool {
	args, _ := p.Arguments.Unmark()
	if !args.Type().HasAttribute("output") {
		return false
	}
	output, _ := args.GetAttr("output").Unmark()
	return !output.IsNull() && output.AsString() == outputMasked
}

// signs are the characters that make no line secret if it has no others, such as those that end an object.
const signs = "{}[]()<>,;:\"'=-/ \t"

// mask returns a function that hides the secret values in a line of output, or an error that says why that
// cannot be done. Only values that stand alone can be recognized: a command that contains a secret is not
// masked. Every line of a value must be recognized by itself, since output comes line by line.
func (p *Provisioner) mask() (func(string) string, error) {
	guard := leak.New()
	var problem error
	remember := func(name string, v cty.Value) {
		leak.Texts(v, func(text string) bool {
			for _, line := range append(strings.Split(text, "\n"), text) {
				whole := line == text
				if line = strings.TrimSpace(line); line == "" || !whole && strings.Trim(line, signs) == "" {
					continue
				}
				guard.Remember(leak.Source{Kind: leak.Other}, cty.StringVal(line).Mark(value.Sensitive), cty.String)
				if !guard.Contains(line) && problem == nil {
					problem = fmt.Errorf("a value of %s, or a line of it, is too short or too plain to be recognized", name)
				}
			}
			return true
		})
	}
	args, marks := p.Arguments.Unmark()
	if len(marks) > 0 {
		return nil, errors.New("all arguments are secret")
	}
	for name, v := range args.AsValueMap() {
		switch {
		case name == "environment":
			rememberMarked(name, v, remember)
		case isSecret(v):
			return nil, fmt.Errorf("the argument %s contains a secret: pass it in environment", name)
		}
	}
	if p.Connection != cty.NilVal {
		rememberMarked("connection", p.Connection, remember)
	}
	if problem != nil {
		return nil, problem
	}
	return func(text string) string { return strings.ReplaceAll(guard.Redact(text), leak.Withheld, maskedValue) }, nil
}

// rememberMarked calls remember for each secret element of a map or object, or for all of it if it is secret
// as a whole.
func rememberMarked(name string, v cty.Value, remember func(name string, v cty.Value)) {
	whole, marks := v.Unmark()
	if whole.IsNull() {
		return
	}
	for _, e := range whole.AsValueMap() {
		if len(marks) > 0 || isSecret(e) {
			remember(name, e)
		}
	}
}

func isSecret(v cty.Value) bool {
	return value.Contains(v, value.Sensitive) || value.Contains(v, value.Ephemeral)
}
