package provider

import (
	"os"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The operations that EnvPauses may name.
const (
	pausePlan   = "plan"
	pauseCreate = "create"
	pauseRead   = "read"
	pauseDelete = "delete"
	pauseOpen   = "open"
	pauseClose  = "close"
)

// pauses are the operations that take time in this process.
var pauses = func() map[string]bool {
	named := map[string]bool{}
	for operation := range strings.SplitSeq(or(os.Getenv(EnvPauses), "create,open,close"), ",") {
		named[operation] = true
	}
	return named
}()

// pause sleeps if the operation takes time.
func pause(operation string, millis types.Int64) {
	if pauses[operation] {
		time.Sleep(time.Duration(millis.ValueInt64()) * time.Millisecond)
	}
}
