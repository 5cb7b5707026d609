package blocks

import "testing"

// TestBorrowsAreComputedOnce has a compiled configuration left as it is by the questions of the runs that
// share it.
func TestBorrowsAreComputedOnce(t *testing.T) {
	c, diags := compileText(t, `
variable "a" {}
locals {
  b = var.a
  c = local.b
}
output "d" {
  value = local.c
}`, "")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	values := 0
	for n := range c.eachNode {
		if v, ok := n.(*Value); ok {
			values++
			if v.Borrows == nil {
				t.Errorf("got no borrows of %v after compiling, want them computed", v)
			}
		}
	}
	if values != 4 {
		t.Errorf("got %d values, want 4", values)
	}
}
