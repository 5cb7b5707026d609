package provision

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// hiddenCanary is the secret of these tests.
const hiddenCanary = "canary-5be1-0f7c"

// localArguments returns those of local-exec, with some in place of null.
func localArguments(given map[string]cty.Value) cty.Value {
	args := map[string]cty.Value{
		"command": cty.NullVal(cty.String), "interpreter": cty.NullVal(cty.List(cty.String)), "working_dir": cty.NullVal(cty.String),
		"environment": cty.NullVal(cty.Map(cty.String)), "quiet": cty.NullVal(cty.Bool), "output": cty.NullVal(cty.String),
	}
	for name, v := range given {
		args[name] = v
	}
	return cty.ObjectVal(args)
}

// TestSecretsOfLocalCommands runs commands that are given a secret, each in another way, and print it, with
// each ending. Neither the output nor the error may show anything but that it is hidden, and how the command
// ended.
func TestSecretsOfLocalCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	secret := func(s string, m value.Mark) cty.Value { return cty.StringVal(s).Mark(m) }
	env := func(v cty.Value) cty.Value { return cty.MapVal(map[string]cty.Value{"SECRET": v}) }
	show := cty.StringVal("echo $SECRET; echo again $SECRET; exit $STATUS")
	for name, test := range map[string]struct {
		args       map[string]cty.Value
		connection cty.Value
		marks      string
	}{
		"sensitive in the environment": {map[string]cty.Value{"command": show, "environment": env(secret(hiddenCanary, value.Sensitive))}, cty.NilVal, "sensitive"},
		"ephemeral in the environment": {map[string]cty.Value{"command": show, "environment": env(secret(hiddenCanary, value.Ephemeral))}, cty.NilVal, "ephemeral"},
		"whole environment":            {map[string]cty.Value{"command": show, "environment": env(cty.StringVal(hiddenCanary)).Mark(value.Ephemeral)}, cty.NilVal, "ephemeral"},
		"command":                      {map[string]cty.Value{"command": secret("echo "+hiddenCanary+"; echo; exit $STATUS", value.Sensitive)}, cty.NilVal, "sensitive"},
		"both": {
			map[string]cty.Value{"command": secret("echo $SECRET; exit $STATUS", value.Sensitive), "environment": env(secret(hiddenCanary, value.Ephemeral))},
			cty.NilVal, "sensitive, ephemeral",
		},
		"connection": {
			map[string]cty.Value{"command": show, "environment": env(cty.StringVal(hiddenCanary))},
			cty.ObjectVal(map[string]cty.Value{"password": secret(hiddenCanary, value.Sensitive)}), "sensitive",
		},
	} {
		for _, status := range []int{0, 3} {
			t.Run(fmt.Sprint(name, "/", status), func(t *testing.T) {
				var lines []string
				p := &Provisioner{
					Type: "local-exec", WorkDir: t.TempDir(), Output: func(line string) { lines = append(lines, line) }, Behind: func() bool { return false },
					Environ: []string{fmt.Sprint("STATUS=", status)}, Arguments: localArguments(test.args), Connection: test.connection,
				}
				err := p.Run(context.Background(), context.Background())
				hidden := "(output suppressed due to " + test.marks + " value in config)"
				if want := []string{hidden, hidden}; !slices.Equal(lines, want) { // for the command line, and for its output
					t.Errorf("shown: got %q, want %q", lines, want)
				}
				want := "<nil>"
				if status != 0 {
					want = "Error running command " + hidden + ": exit status 3. The command line is hidden for the same reason"
				}
				if fmt.Sprint(err) != want {
					t.Errorf("error: got %v, want %s", err, want)
				}
			})
		}
	}
}

// TestCommandThatCannotStart has the secret in the name of the program, which the system puts into its error.
func TestCommandThatCannotStart(t *testing.T) {
	program := "/" + hiddenCanary
	for _, marked := range []bool{false, true} {
		v := cty.StringVal(program)
		if marked {
			v = v.Mark(value.Sensitive)
		}
		p := &Provisioner{
			Type: "local-exec", WorkDir: t.TempDir(), Output: func(string) {}, Behind: func() bool { return false },
			Arguments: localArguments(map[string]cty.Value{"command": cty.StringVal("x"), "interpreter": cty.ListVal([]cty.Value{v})}),
		}
		err := p.Run(context.Background(), context.Background())
		if err == nil || strings.Contains(err.Error(), hiddenCanary) == marked || marked && !strings.Contains(err.Error(), "it could not be started (") {
			t.Errorf("%t: %v", marked, err)
		}
	}
}

// TestSecretsOfRemoteWork describes failures and connections that have secrets, and such as have none.
func TestSecretsOfRemoteWork(t *testing.T) {
	var lines []string
	connection := cty.ObjectVal(map[string]cty.Value{
		"host": cty.StringVal("10.0.0.1"), "user": cty.StringVal(hiddenCanary).Mark(value.Ephemeral), "port": cty.StringVal(hiddenCanary).Mark(value.Sensitive),
	})
	r := &remoteWork{work{Provisioner: &Provisioner{Connection: connection, Output: func(line string) { lines = append(lines, line) }}}}
	if host, user, port := r.shown("host"), r.shown("user"), r.shown("port"); host != "10.0.0.1" || user != "(hidden)" || port != "(hidden)" {
		t.Errorf("shown: got %q, %q, %q, want \"10.0.0.1\", \"(hidden)\", \"(hidden)\"", host, user, port)
	}
	cause := errors.New("no such file: " + hiddenCanary)
	if err := r.failure("Error reading", "", nil); err != nil {
		t.Error(err)
	}
	if err := r.failure("Error reading", "name", cause); err == nil || err.Error() != `Error reading "name": `+cause.Error() {
		t.Error(err)
	}
	if err := r.failure("Error reading", "", cause); err == nil || err.Error() != "Error reading: "+cause.Error() {
		t.Error(err)
	}
	exit := &ssh.ExitError{}
	if err := r.failure("Error running", "", exit); err == nil || err.Error() != "Error running: "+exit.Error() {
		t.Error(err)
	}
	if remote := (&Provisioner{Arguments: cty.ObjectVal(map[string]cty.Value{"inline": cty.ListValEmpty(cty.String)})}); remote.wantsMask() {
		t.Error("work on another machine is masked")
	}
	r.secret = "(hidden)"
	if err := r.failure("Error reading", hiddenCanary, cause); err == nil || err.Error() != "(hidden): error reading: the operation failed. More is hidden for the same reason" {
		t.Error(err)
	}
	if err := r.failure("Error running", hiddenCanary, fmt.Errorf("%s: %w", hiddenCanary, exit)); err == nil || err.Error() != "(hidden): "+exit.Error()+". More is hidden for the same reason" {
		t.Error(err)
	}
}

// TestMaskedOrHidden asks for masked output where each kind of secret is, and prints it. It is masked where
// it can be recognized, and otherwise all output is hidden.
func TestMaskedOrHidden(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	masked := cty.StringVal("masked")
	secret := func(m value.Mark) cty.Value { return cty.StringVal(hiddenCanary).Mark(m) }
	show := cty.StringVal("echo \"it is $SECRET\"")
	password := cty.ObjectVal(map[string]cty.Value{"password": secret(value.Sensitive)})
	inEnvironment := func(v cty.Value) map[string]cty.Value {
		return map[string]cty.Value{"command": show, "output": masked, "environment": cty.MapVal(map[string]cty.Value{"SECRET": v})}
	}
	for name, test := range map[string]struct {
		arguments  cty.Value
		connection cty.Value
		environ    []string
		masked     bool
	}{
		"sensitive":              {localArguments(inEnvironment(secret(value.Sensitive))), cty.NilVal, nil, true},
		"ephemeral":              {localArguments(inEnvironment(secret(value.Ephemeral))), cty.NilVal, nil, true},
		"connection":             {localArguments(map[string]cty.Value{"command": show, "output": masked}), password, []string{"SECRET=" + hiddenCanary}, true},
		"all arguments":          {localArguments(inEnvironment(cty.StringVal(hiddenCanary))).Mark(value.Sensitive), cty.NilVal, nil, false},
		"not asked for":          {localArguments(map[string]cty.Value{"command": show}), password, []string{"SECRET=" + hiddenCanary}, false},
		"something else is said": {localArguments(map[string]cty.Value{"command": show, "output": cty.StringVal("shown")}), password, []string{"SECRET=" + hiddenCanary}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			p := &Provisioner{
				Type: "local-exec", WorkDir: t.TempDir(), Output: func(line string) { lines = append(lines, line) }, Behind: func() bool { return false },
				Environ: test.environ, Arguments: test.arguments, Connection: test.connection,
			}
			if err := p.Run(context.Background(), context.Background()); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(lines, "\n"); strings.Contains(text, hiddenCanary) || strings.Contains(text, "it is "+maskedValue) != test.masked {
				t.Errorf("shown: got %q, want the secret nowhere, masked: %t", lines, test.masked)
			}
		})
	}
}

// TestShownSecrets runs commands whose output is asked for although it may contain sensitive values.
func TestShownSecrets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	for _, mark := range []value.Mark{value.Sensitive, value.Ephemeral} {
		var lines []string
		p := &Provisioner{
			Type: "local-exec", WorkDir: t.TempDir(), Output: func(line string) { lines = append(lines, line) }, Behind: func() bool { return false },
			Arguments: localArguments(map[string]cty.Value{
				"command": cty.StringVal("echo $SECRET; exit 3"), "environment": cty.MapVal(map[string]cty.Value{
					"SECRET": cty.StringVal(hiddenCanary).Mark(mark), "OTHER": cty.StringVal("x").Mark(value.Sensitive),
				}),
			}),
			ShowSensitive: true,
		}
		err := p.Run(context.Background(), context.Background())
		shown := strings.Join(lines, "\n") + fmt.Sprint(err)
		if ephemeral := mark == value.Ephemeral; strings.Contains(shown, hiddenCanary) == ephemeral || ephemeral && !strings.Contains(shown, "due to ephemeral value") {
			t.Errorf("%v: %q, %v", mark, lines, err)
		}
	}
}
