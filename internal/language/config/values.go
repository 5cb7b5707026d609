package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

const invalidInput = "Invalid value for input variable"

// ParseVariableValue interprets text that the user gave for v on the command line, in the environment or at
// a prompt, and converts it to v's type. For a variable with a primitive type or without a declared type,
// the text is the value; otherwise it is an expression without references. from says where the text comes
// from, as in "-var=\"name=...\"" or "the environment variable TF_VAR_name". It is the place of errors
// within the text and must not contain the text. Diagnostics show the text unless the variable is sensitive
// or ephemeral. With errors, the value is unknown.
func ParseVariableValue(v *Variable, text, from string) (cty.Value, diag.List) {
	unknown := cty.UnknownVal(v.Type)
	if v.ParseLiteral {
		val, err := v.Convert(cty.StringVal(text))
		if err != nil {
			return unknown, unsuitable(v, v.Range, from, err, instead(v, text))
		}
		return val, nil
	}
	filename := "<" + from + ">"
	expr, val, diags := parseValue([]byte(text), filename)
	if diags.HasErrors() {
		return unknown, notAnExpression(v, diags[0], from).WithSource(filename, []byte(text))
	}
	val, err := v.Convert(val)
	switch {
	case err == nil:
		return val, nil
	case v.Secret():
		return unknown, unsuitable(v, v.Range, from, err, "."+hintAtForm(v, err))
	}
	return unknown, unsuitable(v, rangeOfProblem(expr, err), from, err, "."+hintAtForm(v, err)).WithSource(filename, []byte(text))
}

// unsuitable returns the error for a value that does not fit the type of v. rest ends the sentence, and is
// where the value may be shown.
func unsuitable(v *Variable, at hcl.Range, from string, err error, rest string) diag.List {
	return diag.At(at, invalidInput, "Unsuitable value for var.%s set using %s: %s%s", v.Name, from, err, rest)
}

// instead ends a sentence with the value given for a variable, unless it is secret or long.
func instead(v *Variable, text string) string {
	const longest = 80
	if v.Secret() || len(text) > longest {
		return "."
	}
	return fmt.Sprintf(", not %q.", text)
}

// hintAtForm shows how to write a value for v if err is about the value as a whole.
func hintAtForm(v *Variable, err error) string {
	if within, ok := errors.AsType[cty.PathError](err); ok && len(within.Path) > 0 || v.Type.IsPrimitiveType() {
		return ""
	}
	return " Write it as in " + exampleOf(v.Constraint) + "."
}

// rangeOfProblem returns the range of the part of an expression whose value could not be converted.
func rangeOfProblem(expr hcl.Expression, err error) hcl.Range {
	if path, ok := errors.AsType[cty.PathError](err); ok {
		return diag.RangeOf(expr, path.Path)
	}
	return expr.Range()
}

// notAnExpression reports that the text for v is not an expression of its type, with the first problem
// found: later ones are mostly consequences. If the text is secret, the problem is not shown either.
func notAnExpression(v *Variable, problem diag.Diagnostic, from string) diag.List {
	what := "an expression"
	if v.Type != cty.DynamicPseudoType {
		what += " of type " + v.Type.FriendlyNameForConstraint()
	}
	detail := fmt.Sprintf("The value of var.%s from %s must be %s, such as %s.", v.Name, from, what, exampleOf(v.Constraint))
	if v.Secret() {
		return diag.At(v.Range, invalidInput, "%s What was given is not shown, because the variable is sensitive or ephemeral.", detail)
	}
	problem.Summary, problem.Detail = invalidInput, detail+" "+problem.Detail
	return diag.List{problem}
}

// parseValue parses and evaluates an expression without references. The expression is nil if it can't be
// parsed.
func parseValue(src []byte, filename string) (hcl.Expression, cty.Value, diag.List) {
	src, diags := checkEncoding(src, filename)
	if diags.HasErrors() {
		return nil, cty.DynamicVal, diags
	}
	if diags := CheckExpression(src, filename); diags.HasErrors() {
		return nil, cty.DynamicVal, diags
	}
	expr, hd := hclsyntax.ParseExpression(src, filename, hcl.InitialPos)
	if hd.HasErrors() {
		return nil, cty.DynamicVal, limit(InExpression(expressionSyntax(hd, src, filename, hcl.InitialPos), src, filename), filename)
	}
	val, hd := expr.Value(nil)
	return expr, val, diag.FromHCL(hd)
}

// AutoVarsFiles lists the values files of the root module that are loaded automatically, in order of
// increasing precedence: terraform.tfvars, terraform.tfvars.json, then *.auto.tfvars and *.auto.tfvars.json
// by name.
func (l *Loader) AutoVarsFiles(rootDir string) ([]string, diag.List) {
	entries, err := l.fs().ReadDir(rootDir)
	if err != nil {
		return nil, unlisted(rootDir, err)
	}
	var fixed, auto []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case ignoredName(name): // anything else is read, and an error if it is a directory or a pipe
		case name == "terraform.tfvars" || name == "terraform.tfvars.json":
			fixed = append(fixed, name)
		case strings.HasSuffix(name, ".auto.tfvars") || strings.HasSuffix(name, ".auto.tfvars.json"):
			auto = append(auto, name)
		}
	}
	slices.Sort(fixed)
	slices.Sort(auto)
	out := append(fixed, auto...)
	for i := range out {
		out[i] = joinFile(rootDir, out[i])
	}
	return out, nil
}

// unlisted is the error about a directory that cannot be listed; none if it does not exist. It must not pass
// for an empty one, whose files would be left out.
func unlisted(dir string, err error) diag.List {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return diag.Errorf("Failed to read directory", "The directory %s could not be read: %s.", dir, diag.Reason(err))
}
