// Package profile writes profiles of a run of the program, for work on its speed.
//
// It may import nothing of this module. It must not know the command that runs.
package profile

import (
	"cmp"
	"fmt"
	"os"
	"runtime/pprof"
)

// The environment variables that name files for profiles of a run, in the format of "go tool pprof". Profiles
// contain names of functions and numbers.
const (
	envCPUProfile  = "MAYFLY_CPU_PROFILE"  // file for samples of processor time
	envHeapProfile = "MAYFLY_HEAP_PROFILE" // file for all allocations, and for those in use after the last collection
)

// Start starts the profiles that the environment variables ask for. The returned function ends them and
// writes the rest. Errors name the variable. A run without these variables costs nothing.
func Start(vars map[string]string) (stop func() error, err error) {
	cpu, heap := vars[envCPUProfile], vars[envHeapProfile]
	var f *os.File
	if cpu != "" {
		if f, err = os.Create(cpu); err != nil {
			return nil, fmt.Errorf("%s: %w", envCPUProfile, err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, fmt.Errorf("%s: %w", envCPUProfile, cmp.Or(err, f.Close()))
		}
	}
	return func() error {
		var ended, written error
		if f != nil {
			pprof.StopCPUProfile()
			ended = f.Close()
		}
		if heap != "" {
			written = writeHeapProfile(heap)
		}
		return cmp.Or(ended, written)
	}, nil
}

// writeHeapProfile writes all allocations since the start, and memory in use after the last collection.
func writeHeapProfile(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("%s: %w", envHeapProfile, err)
	}
	return cmp.Or(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
