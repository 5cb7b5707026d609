package planfile_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Example saves a plan with its configuration and reads it again.
func Example() {
	var saved bytes.Buffer
	err := planfile.Write(&saved, &planfile.File{
		Plan:    &plan.Plan{Base: state.New(), Prior: state.New()},
		Config:  map[string][]byte{"main.tf": []byte("output \"o\" {\n  value = 1\n}\n")},
		RootDir: ".",
		Version: "1.0.0",
	})
	if err != nil {
		log.Fatal(err)
	}

	file, err := planfile.ReadBytes(saved.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("files:", len(file.Config))
	fmt.Println("anything to apply:", file.Plan.Changed())
	// Output:
	// files: 1
	// anything to apply: false
}
