package event_test

import (
	"fmt"
	"log"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/plan"
)

// Example observes an operation. The engine reports its operations like this to the observer that it is
// given.
func Example() {
	kinds := map[event.Kind]string{event.Started: "started", event.Completed: "completed", event.Failed: "failed"}
	reporter := event.NewReporter(event.ObserverFunc(func(e event.Event) {
		fmt.Println(e.Object, e.Op, kinds[e.Kind])
	}), time.Now, nil)

	site, err := addr.ParseInstance("terraform_data.site")
	if err != nil {
		log.Fatal(err)
	}
	end := reporter.Begin(event.OpCreate, addr.Object{Instance: site}, plan.Create, "", "")
	end(nil, "id", "i-1")
	reporter.Flush()
	// Output:
	// terraform_data.site create started
	// terraform_data.site create completed
}
