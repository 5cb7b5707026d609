package diag_test

import (
	"fmt"

	"github.com/mayfly-iac/mayfly/diag"
)

// Example collects diagnostics and returns them as an error.
func Example() {
	var diags diag.List
	diags = append(diags, diag.Warnf("Old name", "Use %q instead.", "region")...)
	fmt.Println("failed:", diags.HasErrors())
	diags = append(diags, diag.Errorf("Unknown region", "There is no region %q.%s", "nort",
		diag.DidYouMean("nort", []string{"north", "south"}))...)
	fmt.Println("failed:", diags.HasErrors())
	for _, d := range diags {
		fmt.Println(d)
	}
	// Output:
	// failed: false
	// failed: true
	// Old name: Use "region" instead.
	// Unknown region: There is no region "nort". Did you mean "north"?
}
