package work

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Schedule is work whose time depends on the order in which an engine does it: tasks that take a given time
// each and wait for others.
type Schedule struct{ tasks []task }

// task is one resource.
type task struct {
	takes time.Duration
	needs []int // indexes of earlier tasks
}

// Graph is n tasks of 50 to 600 ms, each of which waits for up to two earlier ones. It is the same for the
// same n.
func Graph(n int) Schedule {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	var s Schedule
	for i := range n {
		t := task{takes: time.Duration(50+rng.IntN(551)) * time.Millisecond}
		for range min(i, rng.IntN(3)) {
			t.needs = append(t.needs, rng.IntN(i))
		}
		s.tasks = append(s.tasks, t)
	}
	return s
}

// Chain is a chain of n/10 tasks of 250 ms, beside n tasks of 200 ms that wait for nothing.
func Chain(n int) Schedule {
	var s Schedule
	for range n {
		s.tasks = append(s.tasks, task{takes: 200 * time.Millisecond})
	}
	for i := range n / 10 {
		t := task{takes: 250 * time.Millisecond}
		if i > 0 {
			t.needs = []int{n + i - 1}
		}
		s.tasks = append(s.tasks, t)
	}
	return s
}

// Bound is the least time that the work can take with a parallelism: the longest chain or, if that is
// longer, the time of all tasks divided by the parallelism.
func (s Schedule) Bound(parallelism int) time.Duration {
	var all, longest time.Duration
	ends := make([]time.Duration, len(s.tasks))
	for i, t := range s.tasks {
		for _, n := range t.needs {
			ends[i] = max(ends[i], ends[n])
		}
		ends[i] += t.takes
		all, longest = all+t.takes, max(longest, ends[i])
	}
	return max(longest, all/time.Duration(parallelism))
}

// Independent returns the same tasks without their references: reading objects to destroy them needs no
// order.
func (s Schedule) Independent() Schedule {
	var out Schedule
	for _, t := range s.tasks {
		out.tasks = append(out.tasks, task{takes: t.takes})
	}
	return out
}

// Files returns the configuration. The names of the blocks and their places in the file say nothing about
// the order of the tasks.
func (s Schedule) Files() map[string]string {
	names := rand.New(rand.NewPCG(uint64(len(s.tasks)), 2)).Perm(len(s.tasks))
	texts := make([]string, len(s.tasks))
	for i, t := range s.tasks {
		input := fmt.Sprintf("%q", fmt.Sprint("task ", i))
		if len(t.needs) > 0 {
			var refs []string
			for _, n := range t.needs {
				refs = append(refs, fmt.Sprintf("bench_thing.r%03d.id", names[n]))
			}
			input = fmt.Sprintf("md5(join(\" \", [%s]))", strings.Join(refs, ", "))
		}
		texts[names[i]] = fmt.Sprintf("resource \"bench_thing\" \"r%03d\" {\n  input  = %s\n  millis = %d\n}\n", names[i], input, t.takes.Milliseconds())
	}
	return map[string]string{"main.tf": Plugin.Header + strings.Join(texts, "")}
}
