package view

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// FormatValue returns a value in the notation of the configuration language, with conversion functions where
// the plain notation would mean another type (E23). Secrets become placeholders: sensitive values unless
// Options.ShowSensitive is set, ephemeral values always (E24).
func FormatValue(v cty.Value, o Options) string {
	f := formatter{o: o}
	f.write(v, 0)
	return f.String()
}

// formatter writes a value over lines. indent is the number of columns that its first line is indented by.
type formatter struct {
	strings.Builder
	o Options
}

// write writes a value whose first line starts after indent columns. Marks are checked at every level,
// since a secret may be deep inside.
func (f *formatter) write(v cty.Value, indent int) {
	if v == cty.NilVal {
		f.WriteString("null")
		return
	}
	if v.IsMarked() {
		raw, marks := v.Unmark()
		if text, secret := value.Redacted(marks); secret {
			_, ephemeral := marks[value.Ephemeral]
			if ephemeral || !f.o.ShowSensitive {
				f.WriteString(text)
				return
			}
		}
		v = raw
	}
	ty := v.Type()
	switch {
	case !v.IsKnown():
		f.WriteString(unknownText)
	case v.IsNull():
		f.null(ty)
	case ty == cty.String:
		f.text(v.AsString(), indent)
	case ty.IsListType():
		f.call("tolist", v, indent)
	case ty.IsSetType():
		f.call("toset", v, indent)
	case ty.IsMapType():
		f.call("tomap", v, indent)
	case ty.IsTupleType():
		f.sequence(v, indent)
	case ty.IsObjectType():
		f.mapping(v, indent)
	default:
		f.WriteString(scalarText(v))
	}
}

// null writes a null of the type by a conversion function, or with the type in a comment where the language
// has no function that keeps it.
func (f *formatter) null(ty cty.Type) {
	switch {
	case ty == cty.DynamicPseudoType:
		f.WriteString("null")
	case ty == cty.String:
		f.WriteString("tostring(null)")
	case ty == cty.Number:
		f.WriteString("tonumber(null)")
	case ty == cty.Bool:
		f.WriteString("tobool(null)")
	case ty.IsListType():
		f.WriteString("tolist(null) /* of " + ty.ElementType().FriendlyName() + " */")
	case ty.IsSetType():
		f.WriteString("toset(null) /* of " + ty.ElementType().FriendlyName() + " */")
	case ty.IsMapType():
		f.WriteString("tomap(null) /* of " + ty.ElementType().FriendlyName() + " */")
	default:
		f.WriteString("null /* " + ty.FriendlyName() + " */")
	}
}

// call writes a collection as the argument of the function that makes a value of its type.
func (f *formatter) call(name string, v cty.Value, indent int) {
	f.WriteString(name + "(")
	if v.Type().IsMapType() {
		f.mapping(v, indent)
	} else {
		f.sequence(v, indent)
	}
	f.WriteByte(')')
}

// sequence writes the elements of a list, set or tuple, one on each line.
func (f *formatter) sequence(v cty.Value, indent int) {
	if v.LengthInt() == 0 {
		f.WriteString("[]")
		return
	}
	f.WriteByte('[')
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		f.newline(indent + 2)
		f.write(e, indent+2)
		f.WriteByte(',')
	}
	f.newline(indent)
	f.WriteByte(']')
}

// mapping writes the items of a map or object, one on each line, sorted by key. All keys are quoted, since a
// key may be any text.
func (f *formatter) mapping(v cty.Value, indent int) {
	if v.LengthInt() == 0 {
		f.WriteString("{}")
		return
	}
	f.WriteByte('{')
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		f.newline(indent + 2)
		f.WriteString(strconv.Quote(k.AsString()) + " = ")
		f.write(e, indent+2)
	}
	f.newline(indent)
	f.WriteByte('}')
}

// newline begins a line and indents it.
func (f *formatter) newline(indent int) { f.WriteString("\n" + strings.Repeat(" ", indent)) }

// text writes a string, as a here document if it has several lines. The marker of the document must not occur
// in it. Control characters are escaped in both forms.
func (f *formatter) text(s string, indent int) {
	if !strings.Contains(s, "\n") {
		f.WriteString(strconv.Quote(s))
		return
	}
	end := "EOT"
	for strings.Contains(s, end) {
		end += "_"
	}
	open := "<<"
	if indent > 0 {
		open = "<<-"
	}
	f.WriteString(open + end)
	for line := range strings.SplitSeq(s, "\n") {
		f.newline(indent)
		f.WriteString(visible(line))
	}
	f.newline(indent)
	f.WriteString(end)
}
