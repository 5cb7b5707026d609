package document

import "github.com/mayfly-iac/mayfly/plan"

// jsonDeferral is a change that the plan leaves to a later one. terraform-json reads it, but for WaitsFor.
type jsonDeferral struct {
	Reason   string       `json:"reason"`
	Change   jsonChangeOf `json:"resource_change"`
	WaitsFor []string     `json:"waits_for,omitempty"`
}

// deferralList encodes deferrals in their order, nil if there are none.
func deferralList(list []*plan.Deferral, s Schemas) ([]jsonDeferral, error) {
	var out []jsonDeferral
	for _, d := range list {
		c, err := changeJSON(d.Change, s)
		if err != nil {
			return nil, err
		}
		if d.Change.Importing != nil && d.Change.Action == plan.Create {
			c.Change.Actions = actionsJSON(plan.NoOp) // as far as it is known: the object exists, so that it is not created
		}
		out = append(out, jsonDeferral{Reason: string(d.Reason), Change: c, WaitsFor: d.Awaited()})
	}
	return out, nil
}
