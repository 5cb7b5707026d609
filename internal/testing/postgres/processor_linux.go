package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor times in /proc on all common systems.
const tick = 10 * time.Millisecond

// ProcessorTime returns how much processor time the server has used, the sessions that have ended included.
func (s *Server) ProcessorTime() (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(s.data, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	sum := 0
	for _, path := range all {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the process has just ended
		}
		// The name, in parentheses, may contain anything. After it come the state, the parent and others, and
		// then the times of the process, and of its children that have ended.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		used := fields[11:13]
		switch {
		case filepath.Base(filepath.Dir(path)) == first:
			used = fields[11:15]
		case fields[1] != first:
			continue
		}
		for _, text := range used {
			n, err := strconv.Atoi(text)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", path, err)
			}
			sum += n
		}
	}
	return time.Duration(sum) * tick, nil
}
