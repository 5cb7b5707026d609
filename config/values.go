package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// VarValue is a value for a root module variable as a file gives it. It isn't yet converted to the variable's type, because the file may
// name variables that don't exist; see Variable.Convert.
type VarValue struct {
	Value cty.Value
	Expr  hcl.Expression
	Range hcl.Range
}

// ParseVariableValue interprets text that a person gave for v on the command line, in the environment or at a prompt, and converts it to
// the type of v. For variables of a primitive type, or of no declared type, the text is the value; else it is an expression without
// references. from says where the text comes from, as in "-var=\"name=...\"" or "the environment variable TF_VAR_name", and must not
// contain the text. No diagnostic shows a value that is sensitive or ephemeral. With errors, the value is unknown.
func ParseVariableValue(v *Variable, text, from string) (cty.Value, diag.List) {
	unknown := cty.UnknownVal(v.Type)
	if v.ParseLiteral {
		val, err := v.Convert(cty.StringVal(text))
		if err != nil {
			return unknown, unsuitable(v, from, err)
		}
		return val, nil
	}
	filename := fmt.Sprintf("<value for var.%s>", v.Name)
	val, diags := parseValue([]byte(text), filename)
	if diags.HasErrors() {
		if v.Secret() {
			diags = diag.Errorf("Invalid value for input variable",
				"The value of var.%s from %s is not a valid expression. It is not shown because the variable is sensitive or ephemeral.", v.Name, from)
		}
		return unknown, diags
	}
	val, err := v.Convert(val)
	if err != nil {
		return unknown, unsuitable(v, from, err)
	}
	return val, nil
}

func unsuitable(v *Variable, from string, err error) diag.List {
	return diag.At(v.Range, "Invalid value for input variable", "Unsuitable value for var.%s set using %s: %s.", v.Name, from, err)
}

func parseValue(src []byte, filename string) (cty.Value, diag.List) {
	src, diags := checkEncoding(src, filename)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if diags := checkExpression(src, filename); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	expr, hd := hclsyntax.ParseExpression(src, filename, hcl.InitialPos)
	if hd.HasErrors() {
		return cty.DynamicVal, limit(InExpression(diag.FromHCL(hd), src, filename), filename)
	}
	val, hd := expr.Value(nil)
	return val, diag.FromHCL(hd)
}

// LoadVarsFile reads a file of variable values, in JSON if its name ends in ".json". It returns the values by variable name; the
// caller checks that the variables exist, and whether a value may be shown.
func LoadVarsFile(fsys FS, name string) (map[string]*VarValue, diag.List) {
	src, diags := readChecked(fsys, name)
	if diags.HasErrors() {
		return nil, diags
	}
	body, parseDiags := parse(src, name)
	diags = append(diags, parseDiags...)
	attrs, hd := body.JustAttributes()
	diags = append(diags, limit(varsFileHints(hd), name)...)
	values := map[string]*VarValue{}
	for _, attr := range inOrder(attrs) {
		val, hd := attr.Expr.Value(nil)
		diags = append(diags, limit(diag.FromHCL(hd), name)...)
		values[attr.Name] = &VarValue{Value: val, Expr: attr.Expr, Range: attr.Range}
	}
	return values, diags
}

// varsFileHints explains blocks in a values file, where people put declarations by mistake.
func varsFileHints(hd hcl.Diagnostics) diag.List {
	diags := diag.FromHCL(hd)
	for i := range diags {
		if strings.HasPrefix(diags[i].Summary, "Unexpected \"variable\" block") {
			diags[i].Detail += " This file gives values, as in name = \"value\"; declare variables in a configuration file (.tf or .tofu)."
		}
	}
	return diags
}

// AutoVarsFiles lists the values files of the root module that are read without being named, in order of rising precedence:
// terraform.tfvars, terraform.tfvars.json, then *.auto.tfvars and *.auto.tfvars.json by name.
func (l *Loader) AutoVarsFiles(rootDir string) []string {
	entries, err := l.fs().ReadDir(rootDir)
	if err != nil {
		return nil
	}
	var fixed, auto []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case ignoredName(name) || !regular(e):
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
	return out
}
