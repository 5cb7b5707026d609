package plan

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

// RelevantAttribute is an attribute that contributed to the changes of a plan, or a whole object if Path is
// empty. If the key of an instance of a resource or module is missing, all instances are meant.
type RelevantAttribute struct {
	Instance addr.Instance
	Path     cty.Path
}

// Covers reports whether the attribute belongs to the instance i. Keys that are missing in the attribute's
// address stand for any key.
func (a RelevantAttribute) Covers(i addr.Instance) bool {
	if a.Instance.Resource != i.Resource || a.Instance.Key != addr.NoKey && a.Instance.Key != i.Key {
		return false
	}
	referred, actual := a.Instance.Module.Path(), i.Module.Path()
	if len(referred) != len(actual) {
		return false
	}
	for n := range actual {
		_, name, key := referred[n].Parent()
		_, actualName, actualKey := actual[n].Parent()
		if name != actualName || key != addr.NoKey && key != actualKey {
			return false
		}
	}
	return true
}
