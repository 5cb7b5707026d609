package value

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// longestShown is how many characters of a string a statement about it has.
const longestShown = 120

// Statement describes a value, without a secret in it, such as `is "a"` or `is list of string with 2
// elements`; "" if there is nothing to say. unknown says that the reader wants to know which values are not
// known before apply.
func Statement(v cty.Value, unknown bool) string {
	if v.IsMarked() {
		if text, secret := Redacted(v.Marks()); secret {
			return "is " + text
		}
		v, _ = v.Unmark()
	}
	ty := v.Type()
	later := ""
	if unknown {
		later = ", known only after apply"
	}
	switch {
	case v.IsNull():
		return "is null"
	case ty == cty.DynamicPseudoType && later != "":
		return "is known only after apply"
	case ty == cty.DynamicPseudoType:
		return ""
	case !v.IsKnown():
		return "is " + withArticle(ty.FriendlyName()) + later
	case ty == cty.String:
		s := []rune(v.AsString())
		if len(s) > longestShown {
			return "is " + strconv.Quote(string(s[:longestShown])) + "…"
		}
		return "is " + strconv.Quote(v.AsString())
	case ty == cty.Number:
		return "is " + v.AsBigFloat().Text('f', -1)
	case ty == cty.Bool:
		return "is " + strconv.FormatBool(v.True())
	case ty.IsObjectType():
		return "is " + ObjectShape(len(ty.AttributeTypes()), slices.Collect(maps.Keys(ty.AttributeTypes())))
	case ty.IsTupleType():
		return "is " + TupleShape(ty.Length())
	case ty.IsCollectionType():
		return "is " + ty.FriendlyName() + " with " + count(v.LengthInt(), "element")
	default:
		return "is " + withArticle(ty.FriendlyName())
	}
}

// AllElements reports whether the elements of a list, set, or tuple all have types that fit.
func AllElements(ty cty.Type, fits func(cty.Type) bool) bool {
	if ty.IsTupleType() {
		return !slices.ContainsFunc(ty.TupleElementTypes(), func(elem cty.Type) bool { return !fits(elem) })
	}
	return ty.IsCollectionType() && fits(ty.ElementType())
}

// Kind names the kind of v, for sentences: "null", or its type with an article.
func Kind(v cty.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.Type() == cty.DynamicPseudoType:
		return "a value of a type that is not known yet"
	}
	return withArticle(v.Type().FriendlyName())
}

// ObjectShape describes an object with n attributes. It names the only one, which is the first of names.
func ObjectShape(n int, names []string) string {
	if n == 1 {
		return fmt.Sprintf("object with 1 attribute %q", names[0])
	}
	return "object with " + count(n, "attribute")
}

// TupleShape describes a tuple of n elements.
func TupleShape(n int) string { return "tuple with " + count(n, "element") }

// count writes a number with its noun, such as "no items", "1 item" or "3 items".
func count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}

// withArticle puts "a" or "an" before a noun.
func withArticle(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}
