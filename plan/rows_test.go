package plan

import "testing"

// TestRows counts the changed objects and outputs.
func TestRows(t *testing.T) {
	p := Plan{
		Changes: []*Change{{Action: Create}, {Action: NoOp}, {Action: Delete}},
		Outputs: []*OutputChange{{Action: NoOp}, {Action: Update}},
	}
	if got := p.Rows(); got != 3 {
		t.Errorf("got %d, want 3", got)
	}
}
