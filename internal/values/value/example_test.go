package value_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Example seals values for storage, which is impossible for ephemeral ones.
func Example() {
	v := cty.StringVal("secret")
	_, err := value.Seal(v.Mark(value.Ephemeral), v.Type(), nil)
	fmt.Println("refused:", errors.Is(err, value.ErrSecret))

	sealed, err := value.Seal(v.Mark(value.Sensitive), v.Type(), nil)
	if err != nil {
		log.Fatal(err)
	}
	live, err := sealed.Live()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("still sensitive:", value.Has(live, value.Sensitive))
	// Output:
	// refused: true
	// still sensitive: true
}
