package object

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Identifying returns the attribute that identifies an object to people: id, else name. Both results are
// empty if there is none or it is sensitive, by its schema or as one of the given paths.
func Identifying(v cty.Value, b *schema.Block, sensitive []cty.Path) (key, text string) {
	v, _ = v.Unmark()
	if v.IsNull() || !v.Type().IsObjectType() {
		return "", ""
	}
	for _, name := range []string{"id", "name"} {
		a := b.Attributes[name]
		hidden := slices.ContainsFunc(sensitive, func(p cty.Path) bool { return len(p) == 0 || p.Equals(cty.GetAttrPath(name)) })
		if a == nil || a.Sensitive || a.WriteOnly || hidden || a.Type != cty.String {
			continue
		}
		if got := v.GetAttr(name); got.IsKnown() && !got.IsMarked() && !got.IsNull() && got.AsString() != "" {
			return name, got.AsString()
		}
	}
	return "", ""
}

// Label returns the attribute that identifies a stored object to people, in parentheses after a space. It is
// empty if there is none, it is sensitive, or s, the schema, is nil.
func Label(o *state.Object, s *schema.Schema) string {
	if s == nil {
		return ""
	}
	v, err := o.DecodeUnmarked(s.Block.Type())
	if err != nil {
		return ""
	}
	key, text := Identifying(v, s.Block, o.Sensitive)
	if key == "" {
		return ""
	}
	return fmt.Sprintf(" (%s = %q)", key, text)
}

// ImportText returns the attribute and the value by which an object was imported, for display; both are ""
// if unknown.
func ImportText(i *plan.Importing) (key, text string) {
	if i.ID != "" {
		return "id", i.ID
	}
	id, err := i.Identity.Live()
	if err != nil || id.IsNull() || !id.CanIterateElements() { // as values with marks
		return "", ""
	}
	return contract.IdentityText(id)
}
