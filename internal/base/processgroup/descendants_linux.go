package processgroup

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// descendants stops a process and everything it has started, directly or not, so that they start nothing
// more, and returns all of them except the process itself. A process whose parent has ended is not
// recognized.
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
	entries, _ := os.ReadDir("/proc") // without it, no process is found
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
		// The name, in parentheses, may contain anything; state and parent follow it.
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
