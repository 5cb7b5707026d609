package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
)

func nearest(s string, candidates []string) string { return diag.Nearest(s, candidates) }

func boolFlag(name, usage string, dst *bool) cli.Flag {
	return &cli.BoolFlag{Name: name, Usage: usage, Destination: dst, Value: *dst, Local: true}
}

func stringFlag(name, usage string, dst *string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: usage, Destination: dst, Value: *dst, Local: true}
}

func intFlag(name, usage string, dst *int) cli.Flag {
	return &cli.IntFlag{Name: name, Usage: usage, Destination: dst, Value: *dst, Local: true}
}

func durationFlag(name, usage string, dst *time.Duration) cli.Flag {
	return &cli.DurationFlag{Name: name, Usage: usage, Destination: dst, Value: *dst, Local: true}
}

// listFlag is an option that may be given several times; values are taken as they are.
func listFlag(name, usage string, dst *[]string) cli.Flag {
	return genericFlag(name, usage, func(s string) error {
		*dst = append(*dst, s)
		return nil
	})
}

func genericFlag(name, usage string, set func(string) error) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: setter(set), Local: true}
}

// setter is the value of an option that calls a function.
type setter func(string) error

func (f setter) Set(s string) error { return f(s) }
func (f setter) String() string     { return "" }
func (f setter) Get() any           { return "" }

// givenVariable is one -var or -var-file option.
type givenVariable struct {
	file bool
	text string
}

// variableFlags are the options that give values to input variables, in one order.
type variableFlags struct{ given []givenVariable }

func (v *variableFlags) flags() []cli.Flag {
	return []cli.Flag{
		genericFlag("var", "'name=value': set an input variable of the root module. May be given several times.", func(s string) error {
			v.given = append(v.given, givenVariable{text: s})
			return nil
		}),
		genericFlag("var-file", "Set input variables from a file, besides terraform.tfvars and *.auto.tfvars. May be given several times.", func(s string) error {
			v.given = append(v.given, givenVariable{file: true, text: s})
			return nil
		}),
	}
}

// lockFlags are the options about the state's lock.
type lockFlags struct {
	lock    bool
	timeout time.Duration
}

func (l *lockFlags) flags() []cli.Flag {
	l.lock = true
	return []cli.Flag{
		boolFlag("lock", "Don't hold a lock on the state meanwhile. Others may then change it at the same time.", &l.lock),
		durationFlag("lock-timeout", "How long to wait for a lock that somebody holds.", &l.timeout),
	}
}

// stateFlags are the options that replace state files of the local backend.
type stateFlags struct {
	state, out, backup string
	stamp              string // in the name of the backup; see stamped
}

// stamped makes the backup one that stays, for commands by which people change the state: what they did is rarely found out at once.
func (s stateFlags) stamped() stateFlags {
	s.stamp = strconv.FormatInt(time.Now().UnixNano(), 10)
	return s
}

func (s *stateFlags) flags() []cli.Flag {
	return []cli.Flag{
		stringFlag("state", "State file to read, and to write unless -state-out is given. For the local backend.", &s.state),
		stringFlag("state-out", "State file to write. For the local backend.", &s.out),
		stringFlag("backup", `Where to keep the previous state file, "-" for nowhere. For the local backend.`, &s.backup),
	}
}

// inputFlag says whether to ask for what is missing.
type inputFlag struct{ input bool }

func (i *inputFlag) flags(a *app) []cli.Flag {
	i.input = true
	if v := a.vars["TF_INPUT"]; v == "0" || strings.EqualFold(v, "false") {
		i.input = false
	}
	return []cli.Flag{boolFlag("input", "Don't ask for what is missing, but fail.", &i.input)}
}
