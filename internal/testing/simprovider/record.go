package simprovider

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// recorder appends transcript entries to a file, one write per line, so that several processes may share the
// file.
type recorder struct {
	clock func() int64
	pid   int

	mu   sync.Mutex
	file *os.File // nil records nothing
}

// calls numbers the calls of this process, across all its servers, since they may share a transcript.
var calls atomic.Int64

func newRecorder(path string, clock func() int64, pid int) (*recorder, error) {
	r := &recorder{clock: clock, pid: pid}
	if path == "" {
		return r, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the RPC transcript: %w", err)
	}
	r.file = f
	return r, nil
}

// write stamps the entry and appends it. If that fails it ends the process, because tests could pass
// wrongly without a transcript.
func (r *recorder) write(e simlog.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return
	}
	e.T, e.Wall, e.PID = r.clock(), time.Now(), r.pid
	line, err := json.Marshal(e)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("simprovider: writing the RPC transcript: %s", err))
	}
}

// hashes adds the secrets of an object to a transcript entry: sensitive and write-only values, at every
// depth, under "role.attribute".
func hashes(into map[string]string, role string, b *tfprotov6.SchemaBlock, o object) {
	mapBlock(b, o, func(a *tfprotov6.SchemaAttribute, _ object, v tftypes.Value) tftypes.Value {
		if !a.Sensitive && !a.WriteOnly {
			return v
		}
		key := role + "." + a.Name
		text := "null"
		switch {
		case !v.IsKnown():
			text = "unknown"
		case !v.IsNull():
			text = simlog.Hash(fmt.Sprint(plain(v)))
		}
		if prior, ok := into[key]; ok {
			text = prior + "," + text
		}
		into[key] = text
		return v
	})
}
