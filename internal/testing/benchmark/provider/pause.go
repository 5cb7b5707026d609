package provider

import (
	"math/big"
	"os"
	"strings"
	"time"
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

// pause sleeps for some milliseconds if the operation takes time.
func pause(operation string, millis int64) {
	if pauses[operation] {
		time.Sleep(time.Duration(millis) * time.Millisecond)
	}
}

// pause sleeps for as long as the object says if the operation takes time.
func (o object) pause(operation string) {
	if pauses[operation] {
		pause(operation, o.millis())
	}
}

// millis is the time that operations on the object take.
func (o object) millis() int64 {
	n := new(big.Float)
	if v := o["millis"]; v.IsKnown() && !v.IsNull() {
		_ = v.As(n) // it is a number, as the schema says
	}
	millis, _ := n.Int64()
	return millis
}
