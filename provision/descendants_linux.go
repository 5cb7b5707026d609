package provision

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// descendants stops a process and all that it has started, directly or not, so that they start nothing more,
// and returns them without the process itself. What outlived its parent cannot be told from others.
func descendants(pid int) []int {
	_ = syscall.Kill(pid, syscall.SIGSTOP) // one that has ended has no children either
	found := map[int]struct{}{pid: {}}
	var out []int
	for more := true; more; {
		more = false
		for child, parent := range parents() {
			_, known := found[child]
			if _, ok := found[parent]; !ok || known {
				continue
			}
			found[child] = struct{}{}
			_ = syscall.Kill(child, syscall.SIGSTOP)
			out = append(out, child)
			more = true // it may have started another one before it stopped
		}
	}
	return out
}

// parents returns the parent of each process.
func parents() map[int]int {
	entries, _ := os.ReadDir("/proc") // without it, nothing is known
	out := map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name, in parentheses, may hold anything; state and parent come after it.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(string(fields[1])); err == nil {
			out[pid] = parent
		}
	}
	return out
}
