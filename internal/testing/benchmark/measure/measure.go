// Package measure runs programs and tells the cost of a run: processor time, time, memory, bytes written.
//
// It imports nothing of the module. It must not know the work of the programs.
package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Cost is the cost of one run of a program. Figures that the system does not tell are 0.
type Cost struct {
	CPU     time.Duration // user and system, of the program and of processes that it has started and waited for
	Wall    time.Duration
	Memory  int64 // the most that the program itself had resident, bytes
	Written int64 // bytes that the program and its children sent to disk
	// TimedOut says that the run was ended because it had taken too long; the figures are valid until then.
	TimedOut bool
}

// Command is one run.
type Command struct {
	Binary, Dir string
	Args, Env   []string // Env is the whole environment
	Timeout     time.Duration
}

// Run runs a command. An error is one that leaves no figures: the program does not start, or says by its exit
// status that it has failed. The error ends with the last lines of the program's output.
func Run(ctx context.Context, c Command) (Cost, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var out tail
	cmd := exec.CommandContext(ctx, c.Binary, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, &out, &out
	cmd.WaitDelay = 10 * time.Second
	together(cmd)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Cost{}, err
	}
	w := watch(cmd.Process.Pid)
	written := w.finish()
	err := cmd.Wait()
	cost := Cost{
		CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), Wall: time.Since(begin),
		Memory: w.memory(), Written: written, TimedOut: ctx.Err() != nil,
	}
	if err != nil && !cost.TimedOut {
		return cost, fmt.Errorf("%s %s: %w\n%s", c.Binary, strings.Join(c.Args, " "), err, out.String())
	}
	return cost, nil
}

// tail keeps the end of its input.
type tail struct{ b []byte }

const keep = 4096 // bytes

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	if len(t.b) > 2*keep {
		t.b = append(t.b[:0], t.b[len(t.b)-keep:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.b[max(0, len(t.b)-keep):]) }

// Environment returns the environment of this process without variables that would change the runs, and with
// more.
func Environment(more ...string) []string {
	var env []string
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); {
		case strings.HasPrefix(name, "TF_"), strings.HasPrefix(name, "BENCH_"), strings.HasPrefix(name, "TOFU_"):
		default:
			env = append(env, kv)
		}
	}
	return append(env, more...)
}
