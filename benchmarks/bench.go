package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/measure"
	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
)

// bench runs jobs in a directory of its own.
type bench struct {
	settings
	dir    string // has a folder per engine and job
	config string // the CLI configuration, which finds the plugin
	counts string // where the plugin counts

	failures int // commands that have failed so far
}

// figures are the cost of one command for one engine.
type figures struct {
	measure.Cost
	provider.Counts
	tried  bool // false if an earlier command of the job has failed or taken too long
	failed bool // the command said that it has failed; there are no other figures
}

func (f figures) measured() bool { return f.tried && !f.failed }

// own returns the CPU time spent outside the plugin.
func (f figures) own() time.Duration { return max(0, f.Cost.CPU-f.Counts.CPU) }

func newBench(s settings, dir string) (*bench, error) {
	b := &bench{settings: s, dir: dir, config: filepath.Join(dir, "cli.tfrc"), counts: filepath.Join(dir, "counts")}
	// The counts are best kept in memory: then they are not among the bytes that a run writes to disk.
	if shared, err := os.MkdirTemp("/dev/shm", "benchmarks-"); err == nil {
		b.counts = shared
	} else if err := os.Mkdir(b.counts, 0o700); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	mirror, err := program.Mirror(filepath.Join(dir, "mirror"), provider.Address, "1.0.0", self)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	return b, os.WriteFile(b.config, []byte(text), 0o600)
}

// do does a job with each engine, as often as the settings say, and shows the best of each command.
func (b *bench) do(ctx context.Context, j job, t *table) error {
	best := make([][]figures, len(j.steps))
	for range b.repeat {
		all, err := b.once(ctx, j)
		if err != nil {
			return err
		}
		for i, row := range all {
			if best[i] == nil {
				best[i] = row
				continue
			}
			for e, f := range row {
				if have := best[i][e]; f.measured() && (!have.measured() || better(j.steps[i], f, have)) {
					best[i][e] = f
				}
			}
		}
	}
	for i, row := range best {
		t.row(j, j.steps[i], row)
	}
	return nil
}

// better reports whether a run is to be shown instead of another: it took less time, if that has a bound, or
// else less processor time.
func better(s step, f, than figures) bool {
	if s.bound > 0 {
		return f.Wall < than.Wall
	}
	return f.Cost.CPU < than.Cost.CPU
}

// once does a job with each engine, one after the other, and returns the figures by step and engine.
func (b *bench) once(ctx context.Context, j job) ([][]figures, error) {
	dirs, over := make([]string, len(b.binaries)), make([]bool, len(b.binaries))
	for e := range b.binaries {
		dirs[e] = filepath.Join(b.dir, fmt.Sprintf("engine%d", e))
		if err := os.RemoveAll(dirs[e]); err != nil {
			return nil, err
		}
		for name, text := range j.files {
			path := filepath.Join(dirs[e], name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return nil, err
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
		if err := os.MkdirAll(dirs[e], 0o700); err != nil {
			return nil, err
		}
		if len(j.files) > 0 {
			f, err := b.run(ctx, j, e, dirs[e], step{name: "init", args: []string{"init", "-input=false", "-no-color"}})
			if err != nil {
				return nil, err
			}
			over[e] = f.failed || f.TimedOut
		}
	}
	var all [][]figures
	for _, s := range j.steps {
		row := make([]figures, len(b.binaries))
		for e := range b.binaries {
			if over[e] {
				continue
			}
			f, err := b.run(ctx, j, e, dirs[e], s)
			if err != nil {
				return nil, err
			}
			over[e] = (f.TimedOut || f.failed) && s.name != "plan"
			row[e] = f
		}
		all = append(all, row)
	}
	return all, nil
}

// run runs one command. A failure is reported at once and counted: it ends the job for its engine, not
// the work of the others.
func (b *bench) run(ctx context.Context, j job, engine int, dir string, s step) (figures, error) {
	env := measure.Environment(append(slices.Concat(j.env, s.env), "TF_CLI_CONFIG_FILE="+b.config, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
		"XDG_CACHE_HOME="+filepath.Join(dir, ".cache"), provider.EnvCounts+"="+b.counts)...)
	cost, err := measure.Run(ctx, measure.Command{Binary: b.binaries[engine], Dir: dir, Args: s.args, Env: env, Timeout: b.timeout})
	if ctx.Err() != nil {
		return figures{}, ctx.Err()
	}
	if err != nil {
		b.failures++
		fmt.Fprintf(os.Stderr, "%s at %d, %s: %s\n", j.name, j.n, s.name, err)
	}
	counts, countErr := provider.Read(b.counts)
	return figures{Cost: cost, Counts: counts, tried: true, failed: err != nil}, countErr
}
