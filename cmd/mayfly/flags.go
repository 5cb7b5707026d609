package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/workdir"
)

// boolFlag returns an option that is on or off. The value of dst is the default, here as in the other
// functions; usage is its line in the help, where the name of a value is in backquotes. An option is local:
// it is not inherited by subcommands.
func boolFlag(name, usage string, dst *bool) cli.Flag {
	return &cli.BoolFlag{Name: name, Usage: usage, Destination: dst, Value: *dst, Local: true}
}

// stringFlag returns an option with a text.
func stringFlag(name, usage string, dst *string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: usage, Destination: dst, Value: *dst, Local: true}
}

// intFlag returns an option with a whole number.
func intFlag(name, usage string, dst *int) cli.Flag {
	return &cli.IntFlag{Name: name, Usage: usage, Destination: dst, Value: *dst, Local: true}
}

// durationFlag returns an option with a duration in the notation of Go, such as 30s.
func durationFlag(name, usage string, dst *time.Duration) cli.Flag {
	return &cli.DurationFlag{Name: name, Usage: usage, Destination: dst, Value: *dst, Local: true}
}

// listFlag returns an option that may be given several times. Values are not split at commas.
func listFlag(name, usage string, dst *[]string) cli.Flag {
	return genericFlag(name, usage, func(s string) error {
		*dst = append(*dst, s)
		return nil
	})
}

// genericFlag returns an option that may be given several times and passes each value to a function. An error
// of the function is one of usage.
func genericFlag(name, usage string, set func(string) error) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: setter(set), Local: true}
}

// valueFlag returns an option that may have a value: -NAME sets given, -NAME=VALUE sets dst too.
func valueFlag(name, usage string, given *bool, dst *string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: optional{given, dst}, Local: true}
}

// optional is an option whose value may be left out.
type optional struct {
	given *bool
	value *string
}

// Set, String and Get implement cli.Value. A value that is left out is "true", as for any option without one.
func (o optional) Set(s string) error {
	*o.given, *o.value = true, s
	if s == "true" {
		*o.value = ""
	}
	return nil
}
func (o optional) String() string { return "" }
func (o optional) Get() any       { return "" }

// IsBoolFlag makes the value optional.
func (o optional) IsBoolFlag() bool { return true }

// setter is an option whose value is passed to a function.
type setter func(string) error

// Set, String and Get implement cli.Value.
func (f setter) Set(s string) error { return f(s) }
func (f setter) String() string     { return "" }
func (f setter) Get() any           { return "" }

// defaultParallelism is how many operations of providers run at once unless an option says otherwise, as in
// other engines: the services behind providers limit the rate of calls.
const defaultParallelism = 10

// parallelismFlag is the option that bounds how many operations of providers run at once.
type parallelismFlag struct{ parallelism int }

// flag returns the option. usage says which operations it is about.
func (p *parallelismFlag) flag(usage string) cli.Flag {
	p.parallelism = defaultParallelism
	return intFlag("parallelism", usage, &p.parallelism)
}

// lockFlags are the options about the state's lock.
type lockFlags struct {
	lock    bool
	timeout time.Duration
	note    string
}

// flags returns the options, and sets their defaults.
func (l *lockFlags) flags() []cli.Flag {
	l.lock = true
	return usage.Grouped(usage.StateGroup,
		boolFlag("lock", "Don't lock the state. Others may then change it at the same time.", &l.lock),
		durationFlag("lock-timeout", "Wait up to `DURATION`, such as 30s or 5m, for a lock that another process holds.", &l.timeout),
		genericFlag("run-note", "Say with `TEXT` why the run is made. Others see it while they wait for the lock, and in the history of a backend that keeps one.", l.setNote),
	)
}

// locking returns how to lock a state, and says so when it begins to wait.
func (l *lockFlags) locking(out *output) store.Locking {
	return store.Locking{NoLock: !l.lock, LockTimeout: l.timeout, Note: l.note, Job: ciJob(out.env.vars), Waiting: func(held *store.LockError) {
		out.say("Waiting up to %s for the state lock, which is held by %s...", l.timeout, held.Holder())
	}}
}

// stateFlags are the options that name state files for the local backend.
type stateFlags struct{ workdir.StateFiles }

// stamped makes the backup permanent by a time stamp in its name. It is for commands by which people edit
// the state, whose mistakes are noticed late.
func (s stateFlags) stamped() stateFlags {
	s.Stamp = time.Now().UTC().Format("20060102T150405.000Z")
	return s
}

// flags returns the options, of which a command may also declare a single one itself.
func (s *stateFlags) flags() []cli.Flag {
	return usage.Grouped(usage.StateGroup,
		stringFlag("state", "Read the state from `FILE`, and write it there unless -state-out is given. For the local backend.", &s.State),
		stringFlag("state-out", "Write the state to `FILE`. For the local backend.", &s.Out),
		stringFlag("backup", "Keep the previous state in `FILE`, or nowhere if it is \"-\". For the local backend.", &s.Backup),
	)
}

// inputFlag is the option that allows asking for missing input.
type inputFlag struct{ input bool }

// flags returns the option. Its default comes from TF_INPUT, which test frameworks and CI systems set.
func (i *inputFlag) flags(vars map[string]string) []cli.Flag {
	i.input = true
	if v := vars["TF_INPUT"]; v == "0" || strings.EqualFold(v, "false") {
		i.input = false
	}
	return usage.Grouped(usage.VariableGroup, boolFlag("input", "Don't ask for input; fail if a value is missing.", &i.input))
}

// fileOptions returns the files that the options name, for checkFiles. A backup at "-" means none.
func (s *stateFlags) fileOptions() []fileOption {
	out := []fileOption{{"-state", s.State, false}, {"-state-out", s.Out, false}}
	if s.Backup != "-" {
		out = append(out, fileOption{"-backup", s.Backup, false})
	}
	return out
}
