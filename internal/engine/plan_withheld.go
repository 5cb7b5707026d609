package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// attributeOf is an attribute of an object, as references name it.
type attributeOf struct {
	instance addr.Instance
	path     cty.Path
}

func (a attributeOf) String() string { return a.instance.String() + "." + schema.PathString(a.path) }

// takenOut returns a warning about values that the apply takes out of the state: copies of it may still have
// them.
func takenOut(p *plan.Plan) diag.List {
	var taken []attributeOf
	for _, c := range p.Changes {
		for _, w := range c.Withheld {
			if w.Status == plan.WithheldStored {
				taken = append(taken, attributeOf{c.Addr, w.Path})
			}
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return diag.Warnf("Older copies of the state still have the value",
		"The next apply takes these values out of the state:%s\n\nBackups beside the state file, earlier versions in a bucket or a database, and saved plans still have them. Remove those copies, or change the secrets.",
		diag.Lines("", taken))
}
