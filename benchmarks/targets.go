package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/work"
)

// target has the limits of the first engine for a command. 0 means no limit.
type target struct {
	cpu, wall, open time.Duration
	memory          int64   // MB
	growth          float64 // as table.growth
	pauses          float64 // the time, as a multiple of the plugin's waits when ephemeral instances are opened and closed, as many at once as usual
	wire            int64   // kB
}

// parallelism is how many calls run at once in all engines by default.
const parallelism = 10

// targetKey names a command of a job.
type targetKey struct {
	shape, kind string
	n           int
	command     string
}

// targets are the commands that have some. The times are for a machine with two cores.
var targets = func() map[targetKey]target {
	const ms = time.Millisecond
	all := map[targetKey]target{
		{"start", "", 0, "version"}:                    {wall: 30 * ms},
		{"large", work.Builtin.Name, 100_000, "no-op"}: {cpu: 30_000 * ms, memory: 2048, growth: 12},
		{"count", work.Builtin.Name, 4000, "plan"}:     {cpu: 1000 * ms, memory: 150},
		{"count", work.Builtin.Name, 40_000, "plan"}:   {cpu: 10_000 * ms, memory: 900},
		{"schema", "", schemaTypes, "plan again"}:      {wire: 1000},
		{"password", "", 1, "apply"}:                   {open: 1100 * ms},
		{"secrets", "", secrets, "plan"}:               {pauses: 1.2},
		{"secrets", "", secrets, "apply"}:              {pauses: 1.2},
	}
	for _, c := range []struct {
		shape              string
		n                  int
		plan, apply, again time.Duration
		memory             int64
	}{
		{"for_each", 1000, 300 * ms, 600 * ms, 300 * ms, 0},
		{"for_each", 10_000, 3000 * ms, 6000 * ms, 3000 * ms, 300},
		{"chained", 4000, 1000 * ms, 1500 * ms, 1000 * ms, 200},
		{"modules", 5000, 1200 * ms, 2000 * ms, 1200 * ms, 150},
	} {
		for command, cpu := range map[string]time.Duration{"plan": c.plan, "apply": c.apply, "no-op": c.again} {
			all[targetKey{c.shape, work.Builtin.Name, c.n, command}] = target{cpu: cpu, memory: c.memory}
		}
	}
	return all
}()

// verdict names the target of a command and says whether figures keep to it; "" if there is none. A provider
// has one configuration in all jobs, so it shall have one process.
func verdict(j job, command string, f figures, growth float64) string {
	t, some := targets[targetKey{j.name, j.kind, j.n, command}]
	var limits, missed []string
	check := func(limit string, kept bool) {
		limits = append(limits, limit)
		if !kept {
			missed = append(missed, limit)
		}
	}
	if t.cpu > 0 {
		check(fmt.Sprintf("%.1f CPU s", t.cpu.Seconds()), f.Cost.CPU <= t.cpu)
	}
	if t.wall > 0 {
		check(fmt.Sprintf("%.2f s", t.wall.Seconds()), f.Wall <= t.wall)
	}
	if t.open > 0 {
		check(fmt.Sprintf("%.1f s open", t.open.Seconds()), f.Open <= t.open)
	}
	if t.memory > 0 {
		check(fmt.Sprintf("%d MB", t.memory), f.Memory>>20 <= t.memory)
	}
	if t.growth > 0 && growth > 0 {
		check(fmt.Sprintf("growth %.0f", t.growth), growth <= t.growth)
	}
	if t.pauses > 0 {
		waits := time.Duration(2*f.Opens*openMillis/parallelism) * time.Millisecond
		limit := time.Duration(t.pauses * float64(waits))
		check(fmt.Sprintf("%.1f × %.1f s", t.pauses, waits.Seconds()), f.Wall <= limit)
	}
	if t.wire > 0 {
		check(fmt.Sprintf("%d wire kB", t.wire), (f.Total().In+f.Total().Out)>>10 <= t.wire)
	}
	if j.init {
		check("1 process", f.Processes == 1)
		some = true
	}
	switch {
	case !some:
		return ""
	case f.TimedOut:
		return "MISSED: " + strings.Join(limits, ", ")
	case len(missed) > 0:
		return "MISSED: " + strings.Join(missed, ", ") + "; of " + strings.Join(limits, ", ")
	}
	return "kept: " + strings.Join(limits, ", ")
}
