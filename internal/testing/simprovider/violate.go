package simprovider

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// violation is one rule at work on one answer.
type violation struct {
	rule Rule
	call call
	ans  answer
}

// alteration changes a response. It fails if the response has nothing that the deed applies to: a rule must
// not be silently without effect.
type alteration func(v *violation) error

// alterations are the deeds that change a response.
var alterations map[string]alteration

// init fills the table. Its functions use rules, and a rule checks its deed in the table, so a plain
// variable would be an initialization cycle.
func init() {
	alterations = map[string]alteration{
		"change-config":    objectDeed((*violation).changeConfig),
		"set-unconfigured": objectDeed((*violation).setUnconfigured),
		"change-known":     objectDeed((*violation).changeKnown),
		"unknown":          objectDeed((*violation).makeUnknown),
		"set":              objectDeed((*violation).setValue),
		"write-only":       objectDeed((*violation).setWriteOnly),
		"echo-write-only":  objectDeed((*violation).echoWriteOnly),
		"drop-block":       objectDeed((*violation).dropBlock),
		"add-block":        objectDeed((*violation).addBlock),
		"huge":             objectDeed((*violation).huge),
		"null-object":      (*violation).nullObject,
		"keep-object":      (*violation).keepObject,
		"wrong-type":       (*violation).wrongType,
		"not-an-object":    (*violation).notAnObject,
		"garbage":          (*violation).garbage,
		"no-value":         (*violation).noValue,
		"warning":          (*violation).warning,
		"invalid-path":     (*violation).invalidPath,
		"deferred":         (*violation).deferred,
		"no-private":       (*violation).noPrivate,
		"set-private":      (*violation).setPrivate,
		"legacy":           (*violation).legacy,
		"replace":          (*violation).replace,
		"bad-replace":      (*violation).badReplace,
		"renew-at":         (*violation).renewAt,
		"change-identity":  (*violation).changeIdentity,
		"no-identity":      (*violation).noIdentity,
		"empty-import":     (*violation).emptyImport,
		"wrong-type-name":  (*violation).wrongTypeName,
		"twice":            (*violation).twice,
		doError:            (*violation).failure,
	}
}

// violate applies the rules that change the response, in order.
func violate(rules []Rule, cl call, a answer) error {
	for _, r := range rules {
		deed, ok := alterations[r.Do]
		if !ok {
			continue
		}
		v := &violation{rule: r, call: cl, ans: a}
		if err := deed(v); err != nil {
			return fmt.Errorf("misbehaviour rule %s of %s cannot be carried out: %w", r.Do, r.RPC, err)
		}
	}
	return nil
}

// objectDeed converts a change of the returned object to a change of the response.
func objectDeed(change func(*violation, object) error) alteration {
	return func(v *violation) error {
		dv, typ, err := v.typedSlot()
		if err != nil {
			return err
		}
		o, err := decode(*dv, typ)
		if err != nil {
			return err
		}
		if o == nil {
			return fmt.Errorf("the answer holds no object")
		}
		if err := change(v, o); err != nil {
			return err
		}
		*dv, err = encode(o, typ)
		return err
	}
}

// slot returns the place of the returned object.
func (v *violation) slot() (**tfprotov6.DynamicValue, error) {
	if v.ans.imported != nil && len(*v.ans.imported) > 0 {
		return &(*v.ans.imported)[0].State, nil
	}
	if v.ans.object == nil {
		return nil, fmt.Errorf("%s answers no object", v.call.RPC)
	}
	return v.ans.object, nil
}

// typedSlot returns the slot and the schema's type for it.
func (v *violation) typedSlot() (**tfprotov6.DynamicValue, tftypes.Type, error) {
	if v.call.block == nil {
		return nil, nil, fmt.Errorf("%s answers no object of a schema", v.call.RPC)
	}
	dv, err := v.slot()
	return dv, v.call.block.ValueType(), err
}

// alter changes the attribute of o at the path that the rule names, or the first at the top level that fits.
func (v *violation) alter(o object, change func(tftypes.Value) (tftypes.Value, error), fits func(a *tfprotov6.SchemaAttribute) bool) error {
	if v.rule.Attr != "" {
		return o.alter(strings.Split(v.rule.Attr, "."), change)
	}
	var found []string
	for _, a := range v.call.block.Attributes {
		if a.NestedType == nil && fits(a) {
			found = append(found, a.Name)
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("no attribute fits; name one with attr")
	}
	return o.alter([]string{slices.Min(found)}, change)
}

func (v *violation) changeConfig(o object) error {
	return v.alter(o, v.changed, func(a *tfprotov6.SchemaAttribute) bool {
		return !a.Computed && !a.WriteOnly && a.Type.Is(tftypes.String) && isKnownNonNull(o[a.Name])
	})
}

func (v *violation) setUnconfigured(o object) error {
	return v.alter(o, v.filled("set by the provider"), func(a *tfprotov6.SchemaAttribute) bool {
		return a.Optional && !a.Computed && !a.WriteOnly && a.Type.Is(tftypes.String) && isUnset(o[a.Name])
	})
}

// changeKnown changes a computed value; at apply, one that the plan promised.
func (v *violation) changeKnown(o object) error {
	return v.alter(o, v.changed, func(a *tfprotov6.SchemaAttribute) bool {
		promised := v.call.planned == nil || isKnownNonNull(v.call.planned[a.Name])
		return a.Computed && promised && isKnownNonNull(o[a.Name])
	})
}

func (v *violation) makeUnknown(o object) error {
	change := func(old tftypes.Value) (tftypes.Value, error) { return unknown(old.Type()), nil }
	return v.alter(o, change, func(a *tfprotov6.SchemaAttribute) bool { return a.Computed })
}

func (v *violation) setValue(o object) error {
	if v.rule.Attr == "" || v.rule.Value == nil {
		return fmt.Errorf("it needs attr and value")
	}
	return o.alter(strings.Split(v.rule.Attr, "."), v.changed)
}

func (v *violation) setWriteOnly(o object) error {
	return v.alter(o, v.filled("CANARY-write-only-"+v.call.RPC), func(a *tfprotov6.SchemaAttribute) bool { return a.WriteOnly })
}

// echoWriteOnly copies the configured write-only value into a computed attribute, where the engine would
// store it.
func (v *violation) echoWriteOnly(o object) error {
	secret := ""
	mapBlock(v.call.block, v.call.config, func(a *tfprotov6.SchemaAttribute, _ object, val tftypes.Value) tftypes.Value {
		if text := textOf(val); a.WriteOnly && text != "" {
			secret = text
		}
		return val
	})
	if secret == "" {
		return fmt.Errorf("the configuration in the request holds no write-only text")
	}
	path := []string{"status"}
	if v.rule.Attr != "" {
		path = strings.Split(v.rule.Attr, ".")
	}
	return o.alter(path, func(tftypes.Value) (tftypes.Value, error) { return str(secret), nil })
}

func (v *violation) dropBlock(o object) error {
	name, list, err := v.blocks(o, 1)
	if err != nil {
		return err
	}
	o[name] = tftypes.NewValue(o[name].Type(), list[:len(list)-1])
	return nil
}

func (v *violation) addBlock(o object) error {
	name, list, err := v.blocks(o, 0)
	if err != nil {
		return err
	}
	typ := elementType(o[name].Type())
	o[name] = tftypes.NewValue(o[name].Type(), append(list, nullObject(typ).value(typ)))
	return nil
}

// blocks returns the nested block type that the rule names, or the first with enough blocks, and its
// blocks.
func (v *violation) blocks(o object, least int) (string, []tftypes.Value, error) {
	for _, nb := range v.call.block.BlockTypes {
		if v.rule.Attr != "" && v.rule.Attr != nb.TypeName {
			continue
		}
		var list []tftypes.Value
		if val := o[nb.TypeName]; isKnownNonNull(val) && val.As(&list) == nil && len(list) >= least {
			return nb.TypeName, list, nil
		}
	}
	return "", nil, fmt.Errorf("the object has no such nested blocks")
}

func elementType(t tftypes.Type) tftypes.Type {
	if s, ok := t.(tftypes.Set); ok {
		return s.ElementType
	}
	return t.(tftypes.List).ElementType
}

func (v *violation) huge(o object) error {
	text := str(strings.Repeat("x", cmp.Or(v.rule.Size, 8<<20)))
	change := func(tftypes.Value) (tftypes.Value, error) { return text, nil }
	return v.alter(o, change, func(a *tfprotov6.SchemaAttribute) bool { return a.Computed && a.Type.Is(tftypes.String) })
}

func (v *violation) renewAt() error {
	if v.ans.renewAt == nil {
		return fmt.Errorf("%s answers no renewal time", v.call.RPC)
	}
	d, err := time.ParseDuration(v.rule.Text)
	if err != nil {
		return fmt.Errorf("text must be a duration: %w", err)
	}
	*v.ans.renewAt = time.Now().Add(d)
	return nil
}
