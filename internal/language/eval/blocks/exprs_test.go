package blocks

import (
	"reflect"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// fill sets every expression in a value of this package to one of its own, in each slice that can have some
// to one element, and notes them by the names of their fields. Blocks that are pointed to are left out.
func fill(v reflect.Value, name string, into map[*lang.Expr]string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*lang.Expr]() {
			x := &lang.Expr{}
			v.Set(reflect.ValueOf(x))
			into[x] = name
		}
	case reflect.Slice:
		one := reflect.MakeSlice(v.Type(), 1, 1)
		before := len(into)
		if fill(one.Index(0), name, into); len(into) > before {
			v.Set(one)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				fill(field, name+"."+v.Type().Field(i).Name, into)
			}
		}
	}
}

// TestExprsAreComplete finds the expressions of each kind of block by the fields of its type: the list of the
// block has each of them once.
func TestExprsAreComplete(t *testing.T) {
	kinds := []reflect.Type{reflect.TypeFor[DestroyProvisioners]()}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Module]()) {
		if f.Type.Kind() == reflect.Map { // by name, to pointers
			kinds = append(kinds, f.Type.Elem().Elem())
		}
	}
	if len(kinds) < 6 {
		t.Errorf("%d kinds of blocks, at least 6 are known: %v", len(kinds), kinds)
	}
	for _, kind := range kinds {
		block, want := reflect.New(kind), map[*lang.Expr]string{}
		fill(block.Elem(), kind.Name(), want)
		listed, ok := block.Interface().(interface {
			Exprs(yield func(Role, *lang.Expr) bool) bool
		})
		if !ok {
			t.Errorf("%s does not list its expressions", kind)
			continue
		}
		listed.Exprs(func(role Role, x *lang.Expr) bool {
			if want[x] == "" {
				t.Errorf("%s lists an expression twice, in role %b", kind, role)
			}
			delete(want, x)
			return true
		})
		for _, name := range want {
			t.Errorf("%s is not listed", name)
		}
	}
}
