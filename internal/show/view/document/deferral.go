package document

import "github.com/mayfly-iac/mayfly/plan"

// jsonDeferral is something that a plan leaves to a later one: the change as far as it is known, the reason,
// and the addresses of the objects that it waits for.
type jsonDeferral struct {
	Reason         string       `json:"reason"`
	WaitsFor       []string     `json:"waits_for,omitempty"`
	ResourceChange jsonChangeOf `json:"resource_change"`
}

// deferralList encodes deferrals, nil if there are none.
func deferralList(list []*plan.Deferral, s Schemas) ([]jsonDeferral, error) {
	var out []jsonDeferral
	for _, d := range list {
		c, err := changeJSON(d.Change, s)
		if err != nil {
			return nil, err
		}
		out = append(out, jsonDeferral{Reason: string(d.Reason), WaitsFor: d.WaitsForNames(), ResourceChange: c})
	}
	return out, nil
}
