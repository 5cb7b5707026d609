package diag

import "testing"

func TestCollectorTake(t *testing.T) {
	var c Collector
	c.Add(Errorf("a", "first"))
	c.Add(Errorf("a", "first"))
	if got := c.Take(); len(got) != 1 || c.HasErrors() {
		t.Errorf("took %v, and errors are left: %v", got, c.HasErrors())
	}
	c.Add(Errorf("a", "first"))
	if got := c.Take(); len(got) != 1 {
		t.Errorf("what is said again was lost: %v", got)
	}
	if got := c.Take(); len(got) != 0 {
		t.Errorf("taken twice: %v", got)
	}
}
