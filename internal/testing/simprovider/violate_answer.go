package simprovider

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// alter replaces the value at the path in place.
func (o object) alter(path []string, f func(tftypes.Value) (tftypes.Value, error)) error {
	v, ok := o[path[0]]
	if !ok {
		return fmt.Errorf("there is no attribute %q", path[0])
	}
	var err error
	o[path[0]], err = alterAt(v, path[1:], f)
	return err
}

func alterAt(v tftypes.Value, path []string, f func(tftypes.Value) (tftypes.Value, error)) (tftypes.Value, error) {
	if len(path) == 0 {
		return f(v)
	}
	if m := asObject(v); m != nil {
		err := m.alter(path, f)
		return tftypes.NewValue(v.Type(), map[string]tftypes.Value(m)), err
	}
	var list []tftypes.Value
	i, err := strconv.Atoi(path[0])
	if err != nil || !isKnownNonNull(v) || v.As(&list) != nil || i < 0 || i >= len(list) {
		return v, fmt.Errorf("there is no element %q", path[0])
	}
	if list[i], err = alterAt(list[i], path[1:], f); err != nil {
		return v, err
	}
	return tftypes.NewValue(v.Type(), list), nil
}

// changed returns the rule's value, or else another value of the old one's type.
func (v *violation) changed(old tftypes.Value) (tftypes.Value, error) {
	if v.rule.Value != nil {
		return v.rule.value(old.Type())
	}
	if !isKnownNonNull(old) {
		return old, fmt.Errorf("the attribute has no value to change; give one with value")
	}
	switch t := old.Type(); {
	case t.Is(tftypes.String):
		return str(textOf(old) + "-changed"), nil
	case t.Is(tftypes.Number):
		var f big.Float
		if err := old.As(&f); err != nil {
			return old, err
		}
		return tftypes.NewValue(t, f.Add(&f, big.NewFloat(1))), nil
	case t.Is(tftypes.Bool):
		var b bool
		if err := old.As(&b); err != nil {
			return old, err
		}
		return tftypes.NewValue(t, !b), nil
	}
	var list []tftypes.Value
	if old.As(&list) != nil || len(list) == 0 {
		return old, fmt.Errorf("how to change a %s is not obvious; give a value", old.Type())
	}
	return tftypes.NewValue(old.Type(), list[:len(list)-1]), nil
}

// filled returns the rule's value, or text if the attribute is a string.
func (v *violation) filled(text string) func(tftypes.Value) (tftypes.Value, error) {
	return func(old tftypes.Value) (tftypes.Value, error) {
		if v.rule.Value != nil {
			return v.rule.value(old.Type())
		}
		if !old.Type().Is(tftypes.String) {
			return old, fmt.Errorf("the attribute is not a string; give a value")
		}
		return str(text), nil
	}
}

// value returns the rule's value as one of a type.
func (r Rule) value(typ tftypes.Type) (tftypes.Value, error) {
	val, err := tfprotov6.DynamicValue{JSON: r.Value}.Unmarshal(typ)
	if err != nil {
		return tftypes.Value{}, fmt.Errorf("the rule's value does not fit the attribute: %w", err)
	}
	return val, nil
}

func (v *violation) nullObject() error {
	dv, typ, err := v.typedSlot()
	if err != nil {
		return err
	}
	*dv, err = encode(nil, typ)
	return err
}

// keepObject returns the prior object where null would be right.
func (v *violation) keepObject() error {
	if v.call.prior == nil {
		return fmt.Errorf("the request holds no prior object")
	}
	dv, typ, err := v.typedSlot()
	if err != nil {
		return err
	}
	*dv, err = encode(v.call.prior, typ)
	return err
}

// wrongType returns the object with one attribute of a type other than the schema's.
func (v *violation) wrongType() error {
	name := cmp.Or(v.rule.Attr, "name")
	dv, typ, err := v.typedSlot()
	if err != nil {
		return err
	}
	o, err := decode(*dv, typ)
	if err != nil {
		return err
	}
	if _, ok := o[name]; !ok {
		return fmt.Errorf("the answered object has no attribute %q", name)
	}
	o[name] = tftypes.NewValue(tftypes.List{ElementType: tftypes.Bool}, []tftypes.Value{tftypes.NewValue(tftypes.Bool, true)})
	types := maps.Clone(typ.(tftypes.Object).AttributeTypes)
	types[name] = o[name].Type()
	*dv, err = encode(o, tftypes.Object{AttributeTypes: types})
	return err
}

func (v *violation) notAnObject() error {
	dv, err := encodeValue(str("this is not an object"), tftypes.String)
	if err != nil {
		return err
	}
	return v.put(dv)
}

// garbage answers bytes that are not MessagePack at all: 0xc1 is never used.
func (v *violation) garbage() error {
	return v.put(&tfprotov6.DynamicValue{MsgPack: []byte{0xc1, 0xc1, 0x00, 0xff}})
}

// noValue leaves the object out of the message.
func (v *violation) noValue() error {
	return v.put(nil)
}

// put replaces the returned object.
func (v *violation) put(with *tfprotov6.DynamicValue) error {
	dv, err := v.slot()
	if err != nil {
		return err
	}
	*dv = with
	return nil
}

// failure adds an error to the response, whose other parts are kept: the work was done.
func (v *violation) failure() error {
	text := v.rule.message("The simulated provider fails on purpose.")
	if v.ans.failure != nil {
		*v.ans.failure = &tfprotov6.FunctionError{Text: text}
		return nil
	}
	return v.diagnose(tfprotov6.DiagnosticSeverityError, text, nil)
}

func (v *violation) warning() error {
	var path *tftypes.AttributePath
	if v.rule.Attr != "" && v.call.block != nil {
		path = typedPath(v.call.block.ValueType(), strings.Split(v.rule.Attr, "."))
	}
	return v.diagnose(tfprotov6.DiagnosticSeverityWarning, v.rule.message("The simulated provider warns on purpose."), path)
}

// invalidPath adds an error about an attribute that cannot exist.
func (v *violation) invalidPath() error {
	path := tftypes.NewAttributePath().WithElementKeyInt(7).WithAttributeName("no_such_attribute").WithElementKeyString("x")
	return v.diagnose(tfprotov6.DiagnosticSeverityError, v.rule.message("This error is about an attribute that does not exist."), path)
}

func (v *violation) diagnose(s tfprotov6.DiagnosticSeverity, text string, path *tftypes.AttributePath) error {
	if v.ans.diags == nil {
		return fmt.Errorf("%s answers no diagnostics", v.call.RPC)
	}
	*v.ans.diags = append(*v.ans.diags, &tfprotov6.Diagnostic{Severity: s, Summary: "Simulated misbehaviour", Detail: text, Attribute: path})
	return nil
}

// replaced replaces a part of an answer. With nil for the part, the error is that the call lacks it.
func replaced[T any](v *violation, part *T, lacks string, with T) error {
	if part == nil {
		return fmt.Errorf("%s %s", v.call.RPC, lacks)
	}
	*part = with
	return nil
}

func (v *violation) deferred() error {
	return replaced(v, v.ans.deferred, "cannot be deferred", &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonResourceConfigUnknown})
}

func (v *violation) noPrivate() error {
	return replaced(v, v.ans.private, "answers no private data", nil)
}

func (v *violation) setPrivate() error {
	return replaced(v, v.ans.private, "answers no private data", []byte(v.rule.message("{}")))
}

func (v *violation) legacy() error {
	return replaced(v, v.ans.legacy, "has no legacy flag", true)
}

// replace requires a replacement because of the attribute at the path attr, or of name.
func (v *violation) replace() error {
	name := cmp.Or(v.rule.Attr, "name")
	_, typ, err := v.typedSlot()
	if err != nil {
		return err
	}
	return v.demandReplace(typedPath(typ, strings.Split(name, ".")))
}

// typedPath returns an attribute path for steps that begin at a value of the type.
func typedPath(typ tftypes.Type, steps []string) *tftypes.AttributePath {
	path := tftypes.NewAttributePath()
	for _, step := range steps {
		switch t := typ.(type) {
		case tftypes.Map:
			path, typ = path.WithElementKeyString(step), t.ElementType
		case tftypes.List:
			n, err := strconv.Atoi(step)
			if err != nil {
				n = -1
			}
			path, typ = path.WithElementKeyInt(n), t.ElementType
		case tftypes.Object:
			path, typ = path.WithAttributeName(step), t.AttributeTypes[step]
		default:
			path = path.WithAttributeName(step)
		}
	}
	return path
}

func (v *violation) badReplace() error {
	return v.demandReplace(tftypes.NewAttributePath().WithAttributeName("no_such_attribute").WithElementKeyInt(3))
}

func (v *violation) demandReplace(path *tftypes.AttributePath) error {
	if v.ans.replace == nil {
		return fmt.Errorf("%s answers no replacement paths", v.call.RPC)
	}
	*v.ans.replace = append(*v.ans.replace, path)
	return nil
}

func (v *violation) changeIdentity() error {
	if v.ans.identity == nil || *v.ans.identity == nil {
		return fmt.Errorf("%s answers no identity", v.call.RPC)
	}
	id, err := identityFor(v.call.Type, v.rule.message("another-identity"))
	*v.ans.identity = id
	return err
}

func (v *violation) noIdentity() error {
	return replaced(v, v.ans.identity, "answers no identity", nil)
}

func (v *violation) emptyImport() error {
	return replaced(v, v.ans.imported, "imports nothing", nil)
}

func (v *violation) wrongTypeName() error {
	if v.ans.imported == nil || len(*v.ans.imported) == 0 {
		return fmt.Errorf("%s imports nothing", v.call.RPC)
	}
	(*v.ans.imported)[0].TypeName = v.rule.message("sim_no_such_type")
	return nil
}

// twice returns the imported object two times.
func (v *violation) twice() error {
	if v.ans.imported == nil || len(*v.ans.imported) == 0 {
		return fmt.Errorf("%s imports nothing", v.call.RPC)
	}
	*v.ans.imported = append(*v.ans.imported, (*v.ans.imported)[0])
	return nil
}
