package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// VarsFile is the content of a file with values for a root module's variables or a backend's arguments.
type VarsFile struct {
	Values map[string]*VarValue
	// Source is the text of the file for snippets, with asterisks in place of values that must not be
	// shown.
	Source []byte
}

// VarValue is a value for a root module variable from a file. It isn't converted to the variable's type
// yet, because the file may name variables that don't exist; see Variable.Convert.
type VarValue struct {
	Value     cty.Value
	Expr      hcl.Expression
	NameRange hcl.Range
}

// Convert converts the value as Variable.Convert does. The error is at the part of the file that does not
// fit.
func (val *VarValue) Convert(v *Variable) (cty.Value, diag.List) {
	out, err := v.Convert(val.Value)
	if err != nil {
		return out, diag.At(rangeOfProblem(val.Expr, err), invalidInput,
			"The given value is not suitable for var.%s declared at %s: %s.%s", v.Name, diag.Place(v.Range), err, hintAtForm(v, err))
	}
	return out, nil
}

// LoadVarsFile reads a file of values for variables, in JSON if its name ends in ".json". The caller checks
// that the variables exist; vars are the existing ones. The text of the file in diagnostics shows only their
// values, unless they are sensitive or ephemeral: any other value may be a secret under a mistyped name. The
// result is never nil; with errors it has the values that could be read. The file has assignments and no
// blocks:
//
//	region = "eu-west-1"
//	sizes  = { web = 3 }
func LoadVarsFile(fsys FS, name string, vars map[string]*Variable) (*VarsFile, diag.List) {
	out := &VarsFile{Values: map[string]*VarValue{}}
	src, diags := readChecked(fsys, name)
	if diags.HasErrors() {
		return out, diags
	}
	body, parseDiags := parse(src, name)
	diags = append(diags, nameCharacters(parseDiags, src)...)
	attrs, hd := body.JustAttributes()
	isJSON := strings.HasSuffix(name, ".json")
	if isJSON {
		diags = append(diags, limit(jsonValuesHints(hd), name)...)
	} else {
		diags = append(diags, limit(valuesHints(hd, body, src, vars), name)...)
	}
	if diags.HasErrors() {
		out.Source = coverGuessed(src, isJSON, vars)
	} else {
		out.Source = coverValues(src, attrs, vars)
	}
	for _, attr := range inOrder(attrs) {
		val, hd := attr.Expr.Value(nil)
		if !brokenAt(parseDiags, attr) {
			diags = append(diags, limit(plainValueHints(attr.Expr, hd), name)...)
		}
		if parseDiags.HasErrors() {
			val = cty.DynamicVal // the value may have been cut off
		}
		out.Values[attr.Name] = &VarValue{Value: val, Expr: attr.Expr, NameRange: attr.NameRange}
	}
	return out, diags.WithSource(name, out.Source)
}

// LoadBackendFile reads a file of settings for a backend block: a body like the block's, in JSON if its name
// ends in ".json". The text of the file in diagnostics shows only the values of shown arguments. The body is
// never nil.
func LoadBackendFile(fsys FS, name string, shown []string) (hcl.Body, []byte, diag.List) {
	src, diags := readChecked(fsys, name)
	if diags.HasErrors() {
		return hcl.EmptyBody(), nil, diags
	}
	vars := map[string]*Variable{}
	for _, arg := range shown {
		vars[arg] = &Variable{Name: arg}
	}
	source := coverGuessed(src, strings.HasSuffix(name, ".json"), vars)
	body, diags := parse(src, name)
	plain := func(_ *Module, expr hcl.Expression) (cty.Value, diag.List) {
		v, hd := expr.Value(nil)
		return v, plainValueHints(expr, hd)
	}
	return staticBody{body, nil, plain}, source, limit(nameCharacters(diags, src), name).WithSource(name, source)
}

// nameCharacters adds to diagnostics which characters are wrong, and where: the text of a file of values may
// be covered.
func nameCharacters(diags diag.List, src []byte) diag.List {
	for i, d := range diags {
		if at := d.Subject; d.Summary == "Invalid character" && at != nil && at.CanSliceBytes(src) {
			if c, size := utf8.DecodeRune(at.SliceBytes(src)); size > 0 && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
				diags[i].Detail += fmt.Sprintf(" The character is %U, %q, in column %d.", c, c, at.Start.Column)
			}
		}
	}
	return diags
}

// jsonValuesHints explains the form of a values file in JSON.
func jsonValuesHints(hd hcl.Diagnostics) diag.List {
	diags := diag.FromHCL(hd)
	for i := range diags {
		diags[i].Detail = "A JSON file of values must be one object, such as {\"name\": \"value\"}."
	}
	return diags
}

// valuesHints explains the form of a values file in native syntax. Its structural errors are blocks: users
// put declarations there by mistake.
func valuesHints(hd hcl.Diagnostics, body hcl.Body, src []byte, vars map[string]*Variable) diag.List {
	diags := diag.FromHCL(hd)
	native := diag.Native(body)
	for i := range diags {
		hint := "This file only sets values, as in name = \"value\" or name = { ... }. "
		if native != nil {
			for _, block := range native.Blocks {
				if line := assignment(block, src, vars); line != "" && hd[i].Subject != nil && *hd[i].Subject == block.TypeRange {
					hint = "This file only sets values. To set the variable, write:\n  " + line + "\n\n"
				}
			}
		}
		diags[i].Detail += " " + hint + "Variables are declared in a configuration file (.tf or .tofu)."
	}
	return diags
}

// assignment returns the line that sets the variable that a block in a values file seems to declare: with
// its default if it can be shown, otherwise with an object as an example. It returns "" if no variable is
// recognized.
func assignment(block *hclsyntax.Block, src []byte, vars map[string]*Variable) string {
	if block.Type != "variable" || len(block.Labels) != 1 {
		if len(block.Labels) > 0 || vars[block.Type] == nil {
			return ""
		}
		return block.Type + " = { ... }"
	}
	const longest = 60
	name, value := block.Labels[0], "VALUE"
	if attr, v := block.Body.Attributes["default"], vars[name]; attr != nil && v != nil && !v.Secret() {
		rng := attr.Expr.Range()
		if text := string(src[rng.Start.Byte:rng.End.Byte]); len(text) <= longest && !strings.Contains(text, "\n") {
			value = text
		}
	}
	return name + " = " + value
}

// brokenAt reports whether a parser error is in a line of an attribute, whose value may then be cut off.
func brokenAt(problems diag.List, attr *hcl.Attribute) bool {
	return slices.ContainsFunc(problems, func(d diag.Diagnostic) bool {
		return d.Subject != nil && d.Subject.Start.Line >= attr.Range.Start.Line && d.Subject.Start.Line <= attr.Range.End.Line
	})
}

// plainValueHints explains that a values file has no expressions: missing quotes are the usual reason for a
// reference.
func plainValueHints(expr hcl.Expression, hd hcl.Diagnostics) diag.List {
	diags := diag.FromHCL(hd)
	if !diags.HasErrors() {
		return diags
	}
	d := diags[0]
	d.Detail = "A file of values holds plain values: nothing in it can refer to variables or other objects, or call functions."
	if _, hd := hcl.AbsTraversalForExpr(expr); !hd.HasErrors() {
		d.Detail = "This is a reference, and a file of values holds plain values. If it is meant to be text, write it in double quotes."
	}
	return diag.List{d}
}

// coverValues returns the text of a file with asterisks in place of all values except for variables that may
// be shown.
func coverValues(src []byte, attrs hcl.Attributes, vars map[string]*Variable) []byte {
	out := bytes.Clone(src)
	for _, attr := range attrs {
		if v := vars[attr.Name]; v == nil || v.Secret() {
			rng := attr.Expr.Range()
			Cover(out[rng.Start.Byte:rng.End.Byte])
		}
	}
	return out
}

// Cover overwrites a text with asterisks, except white space, so that lines and positions stay the same.
func Cover(text []byte) {
	for i, b := range text {
		if b != '\n' && b != '\r' && b != ' ' && b != '\t' {
			text[i] = '*'
		}
	}
}

// giving matches the text before a value, with its name, which may be the label of a block. Its groups are
// the indentation, if the match begins a line, and the name.
var giving = pattern.New(`(?m)(^[ \t]*)?(?:[a-z_]+[ \t]+)?"?([\pL_][\pL\pN_-]*)"?[ \t]*[=:{]`)

// coverGuessed is coverValues for a file that can't be parsed. The extent of values must be guessed, so only
// text that begins with a variable that may be shown is kept, up to the first name whose value may be secret:
// of another variable or an unknown name, unless it is within brackets, where it may be an object's key.
func coverGuessed(src []byte, isJSON bool, vars map[string]*Variable) []byte {
	outermost := 0
	if isJSON {
		outermost = 1
	}
	out := bytes.Clone(src)
	start, end := len(src), len(src) // the shown part
	depth, counted := 0, 0
	for _, m := range giving().FindAllSubmatchIndex(src, -1) {
		depth += nesting(src[counted:m[0]])
		counted = m[0]
		v := vars[string(src[m[4]:m[5]])]
		first := m[2] >= 0 && m[2] == m[3] // the name begins in the first column
		if v != nil && !v.Secret() {
			start = min(start, m[0])
		} else if v != nil || first || depth <= outermost {
			start, end = min(start, m[0]), m[1]
			break
		}
	}
	if isJSON && start == len(src) && json.Valid(src) {
		coverScalars(out)
		return out
	}
	Cover(bytes.TrimRight(out[:start], "{[ \t\r\n"))
	Cover(out[end:])
	return out
}

// coverScalars overwrites names and values in a valid JSON text with asterisks, so that only its structure
// is visible.
func coverScalars(text []byte) {
	within, escaped := false, false
	for i, b := range text {
		quote := b == '"' && !escaped
		if quote {
			within = !within
		}
		escaped = within && b == '\\' && !escaped
		if !quote && (within || !strings.ContainsRune("[]{},: \t\r\n", rune(b))) {
			text[i] = '*'
		}
	}
}

// nesting returns how many more brackets a text opens than it closes.
func nesting(text []byte) int {
	n := 0
	for _, b := range text {
		switch b {
		case '{', '[':
			n++
		case '}', ']':
			n--
		}
	}
	return n
}

// DeclaredAt returns a sentence, preceded by a space, that says where the variable is declared; "" if that is
// the given place of an error.
func (v *Variable) DeclaredAt(place hcl.Range) string {
	if v.Range == place {
		return ""
	}
	return fmt.Sprintf(" It is declared at %s.", diag.Place(v.Range))
}
