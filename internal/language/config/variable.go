package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/unify"
)

var (
	variableSchema = schema("type default description sensitive nullable ephemeral deprecated const", "validation")
	outputSchema   = schema("value! type description sensitive ephemeral deprecated depends_on", "precondition", "postcondition")
)

// reservedVariables are invalid as names of variables because they are meta-arguments of module blocks.
var reservedVariables = []string{"source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"}

// variable decodes a variable block. With a mistake in its type or default, the variable still exists, so
// that references to it give no further errors.
func (d *decoder) variable(block *hcl.Block) {
	v := &Variable{
		Name: block.Labels[0], Nullable: true, Type: cty.DynamicPseudoType, Constraint: cty.DynamicPseudoType,
		ParseLiteral: true, Range: block.DefRange,
	}
	if !d.name(block, 0, "variable name") {
		return
	}
	if slices.Contains(reservedVariables, v.Name) {
		d.errorAt(block.LabelRanges[0], "Invalid variable name",
			"A variable can't be named %q, because a module block has an argument or block of that name with a meaning of its own. Rename the variable.", v.Name)
		return
	}
	content := d.content(block.Body, variableSchema)
	v.Description = d.text(content, "description")
	v.Sensitive = d.flag(content, "sensitive", false)
	v.Ephemeral = d.flag(content, "ephemeral", false)
	v.Nullable = d.flag(content, "nullable", true)
	v.Const = d.flag(content, "const", false)
	v.Deprecated = d.deprecated(content)
	v.Validations = d.conditions(content, "validation")
	for _, c := range v.Validations {
		d.testsValue(v, c)
	}
	if v.Const && v.Ephemeral {
		d.errorAt(content.Attributes["const"].Range, "Invalid combination of \"const\" and \"ephemeral\"",
			"The variable %q can't be both constant and ephemeral: constant values choose module sources and backends, which are recorded. Remove one of the two arguments.",
			v.Name)
	}
	if attr := content.Attributes["type"]; attr != nil {
		d.variableType(v, attr)
	}
	if attr := content.Attributes["default"]; attr != nil {
		d.variableDefault(v, attr)
	}
	d.m.Variables[v.Name] = v
}

// deprecated decodes the message of a deprecated variable or output; "" if it is not deprecated.
func (d *reader) deprecated(content *hcl.BodyContent) string {
	attr := content.Attributes["deprecated"]
	if attr == nil {
		return ""
	}
	msg := d.static(attr, cty.String)
	if msg != cty.NilVal && strings.TrimSpace(msg.AsString()) == "" {
		d.errorAt(attr.Expr.Range(), "Invalid `deprecated` value",
			"The \"deprecated\" argument must not be empty: say in it what to use instead.")
		return ""
	}
	if msg == cty.NilVal {
		return ""
	}
	return msg.AsString()
}

// variableType decodes the type of a variable. On an error, it remains any.
func (d *decoder) variableType(v *Variable, attr *hcl.Attribute) {
	ty, defaults, ok := d.typeConstraint(attr)
	if !ok {
		return
	}
	v.Constraint, v.Defaults = ty, defaults
	v.Type = v.Constraint.WithoutOptionalAttributesDeep()
	v.ParseLiteral = v.Type.IsPrimitiveType()
}

// typeConstraint decodes a type constraint with the defaults of optional attributes.
func (d *reader) typeConstraint(attr *hcl.Attribute) (cty.Type, *typeexpr.Defaults, bool) {
	if text, quoted := quotedText(attr.Expr); quoted {
		if !hcljson.IsJSONExpression(attr.Expr) {
			d.errorAt(attr.Expr.Range(), "Invalid quoted type constraints", "Type constraints are written without quotes. Remove the quotes around %q.%s", text, elementHint(text))
			return cty.NilType, nil, false
		}
		if len(text) > bounds.MaxOperators {
			d.errorAt(attr.Expr.Range(), "Invalid type specification", "This type constraint is too long.")
			return cty.NilType, nil, false
		}
	}
	// Keywords are the form from before element types could be given.
	switch hcl.ExprAsKeyword(attr.Expr) {
	case "list":
		return cty.List(cty.DynamicPseudoType), nil, true
	case "map":
		return cty.Map(cty.DynamicPseudoType), nil, true
	}
	ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(attr.Expr)
	if diags.HasErrors() {
		d.diags = append(d.diags, typeErrors(attr.Expr, diag.FromHCL(diags))...)
	}
	return ty, defaults, !diags.HasErrors()
}

// elementHint says how to write a collection type that lacks its element type.
func elementHint(collection string) string {
	switch collection {
	case "list", "map", "set":
		return fmt.Sprintf(" If the elements are strings, write %s(string).", collection)
	}
	return ""
}

// variableDefault decodes a default value, which must be a constant of the variable's type.
func (d *decoder) variableDefault(v *Variable, attr *hcl.Attribute) {
	val, diags := attr.Expr.Value(nil)
	if !d.hcl(diags) {
		// The variable counts as optional, so that its callers don't get consequential errors.
		v.Default = cty.UnknownVal(v.Type)
		return
	}
	if val.IsNull() && !v.Nullable {
		d.errorAt(attr.Expr.Range(), "Invalid default value for variable", "A null default value is not valid when nullable=false.")
		v.Default = cty.UnknownVal(v.Type)
		return
	}
	converted, err := v.Convert(val)
	if err != nil {
		d.errorAt(attr.Expr.Range(), "Invalid default value for variable",
			"This default value is not compatible with the variable's type constraint: %s.", err)
		v.Default = cty.UnknownVal(v.Type)
		return
	}
	v.Default = converted
	d.diags = append(d.diags, ignoredAttributes(attr.Expr, v.Type, fmt.Sprintf("variable %q", v.Name))...)
}

// testsValue checks that a validation rule refers to the variable's value.
func (d *decoder) testsValue(v *Variable, c *Condition) {
	for _, t := range c.Condition.Variables() {
		if len(t) < 2 || t.RootName() != "var" {
			continue
		}
		if step, ok := t[1].(hcl.TraverseAttr); ok && step.Name == v.Name {
			return
		}
	}
	d.errorAt(c.Condition.Range(), "Invalid variable validation condition",
		"The condition must refer to var.%s, the value that it is to test. A condition about other objects alone belongs in a check block, or in a precondition.", v.Name)
}

// Secret reports whether values of v must not be shown.
func (v *Variable) Secret() bool { return v.Sensitive || v.Ephemeral }

// Convert converts a value to the variable's type constraint and fills in the defaults of optional
// attributes. The value may be unknown or marked. Convert does not replace null by the variable's default.
// For sensitive and ephemeral variables, the error contains no part of the value, not even keys.
func (v *Variable) Convert(val cty.Value) (out cty.Value, err error) {
	out, err = unify.Conform(val, v.Constraint, v.Defaults)
	if err == nil {
		return out, nil
	}
	if v.Secret() {
		return cty.UnknownVal(v.Type), fmt.Errorf("%s required", v.Type.FriendlyNameForConstraint())
	}
	return cty.UnknownVal(v.Type), describe(err)
}

// Convert converts a value to the output's type, if that is declared. The error may tell names and types of
// elements of the value.
func (o *Output) Convert(val cty.Value) (cty.Value, error) {
	if o.Constraint == cty.NilType {
		return val, nil
	}
	out, err := unify.Conform(val, o.Constraint, o.Defaults)
	if err != nil {
		return val, describe(err)
	}
	return out, nil
}

// describe words a conversion error for people, and adds the path, which remains the error's own too.
func describe(err error) error {
	text := diag.TypeWords(err.Error())
	var pe cty.PathError
	if !errors.As(err, &pe) || len(pe.Path) == 0 {
		return errors.New(text)
	}
	var sb strings.Builder
	for _, step := range pe.Path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			sb.WriteString("." + step.Name)
		case cty.IndexStep:
			sb.WriteString(indexText(step.Key))
		}
	}
	return pe.Path.NewErrorf("at %s: %s", strings.TrimPrefix(sb.String(), "."), text)
}

// indexText formats a key in a path. Keys that are marked may be secret and are left out.
func indexText(key cty.Value) string {
	switch {
	case key.IsMarked() || !key.IsKnown() || key.IsNull():
		return "[...]"
	case key.Type() == cty.String:
		return fmt.Sprintf("[%q]", key.AsString())
	case key.Type() == cty.Number:
		return "[" + key.AsBigFloat().Text('f', -1) + "]"
	default:
		return "[...]"
	}
}

// output decodes an output block. An ephemeral output of the root module is an error (E10).
func (d *decoder) output(block *hcl.Block) {
	o := &Output{Name: block.Labels[0], Range: block.DefRange}
	if !d.name(block, 0, "output name") {
		return
	}
	content := d.content(block.Body, outputSchema)
	o.Description = d.text(content, "description")
	o.Sensitive = d.flag(content, "sensitive", false)
	o.Ephemeral = d.flag(content, "ephemeral", false)
	o.Deprecated = d.deprecated(content)
	o.DependsOn = d.dependsOn(content)
	o.Preconditions = d.conditions(content, "precondition")
	for _, b := range content.Blocks.OfType("postcondition") {
		d.errorAt(b.TypeRange, "Postconditions are not allowed", "Output values can only have preconditions, not postconditions.")
	}
	if o.Ephemeral && d.m.Path.IsRoot() && !d.ephemeralRootOutputs {
		d.semanticAt(block.DefRange, "Unallowed ephemeral output",
			"Root module is not allowed to have ephemeral outputs: they would have to be stored in the state. Remove the argument \"ephemeral\" and pass the value through ephemeralasnull, or remove the output.")
	}
	if attr := content.Attributes["type"]; attr != nil {
		if ty, defaults, ok := d.typeConstraint(attr); ok {
			o.Constraint, o.Defaults = ty, defaults
		}
	}
	if attr := content.Attributes["value"]; attr != nil {
		o.Expr = attr.Expr
	} else {
		o.Expr = hcl.StaticExpr(cty.DynamicVal, block.DefRange)
	}
	d.m.Outputs[o.Name] = o
}
