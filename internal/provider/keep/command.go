package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/childenv"
	"github.com/mayfly-iac/mayfly/internal/base/processgroup"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// The bounds and defaults of keep_command.
const (
	defaultCommandTimeout = "1m"
	maxOutput             = 1 << 20 // bytes
)

func commandSchema() *schema.Schema {
	return schemaOf("What a program prints. A second program can renew it while it is open, and a third one end it.", map[string]*schema.Attribute{
		"program":     {Type: cty.List(cty.String), Required: true, Description: "The program and its arguments. No shell is involved."},
		"environment": {Type: cty.Map(cty.String), Optional: true, Description: "Environment variables, in addition to those of this process, for all programs."},
		"working_dir": {Type: cty.String, Optional: true, Description: "The directory in which the programs run. Default: the working directory."},
		"stdin":       {Type: cty.String, Optional: true, Description: "The standard input of the program."},
		"timeout":     {Type: cty.String, Optional: true, Computed: true, Description: "How long each program may take. Default: 1m."},
		"renew":       {Type: cty.List(cty.String), Optional: true, Description: "The program that keeps alive what the first one has printed, which it gets as standard input. Needs renew_every."},
		"renew_every": {Type: cty.String, Optional: true, Description: "The time between two renewals, such as \"5m\"."},
		"close":       {Type: cty.List(cty.String), Optional: true, Description: "The program that ends what the first one has begun. It gets the output as standard input."},
		"output":      {Type: cty.String, Computed: true, Description: "What the program has printed, without a line end at the end."},
	})
}

// heldCommand is an open keep_command with something to do later.
type heldCommand struct {
	command
	renewal, ending []string
	every           time.Duration
}

func (h *heldCommand) renew(ctx context.Context, now time.Time) (time.Time, error) {
	_, err := h.run(ctx, "renew", h.renewal)
	return now.Add(h.every), err
}

func (h *heldCommand) close(ctx context.Context) error {
	if h.ending == nil {
		return nil
	}
	_, err := h.run(ctx, "close", h.ending)
	return err
}

// openCommand opens a keep_command.
func (p *keepProvider) openCommand(ctx context.Context, result map[string]cty.Value, resp *provider.OpenResponse) diag.List {
	if result["timeout"].IsNull() {
		result["timeout"] = cty.StringVal(defaultCommandTimeout)
	}
	if diags := checkCommand(result); diags.HasErrors() {
		return diags
	}
	h := &heldCommand{command: command{dir: text(result["working_dir"]), stdin: text(result["stdin"])}, renewal: elements(result["renew"]), ending: elements(result["close"])}
	h.timeout, _ = time.ParseDuration(text(result["timeout"])) // were checked
	h.every, _ = time.ParseDuration(text(result["renew_every"]))
	h.environ = trace.Environ(ctx, childenv.WithoutVariables(os.Environ()))
	if env := result["environment"]; !env.IsNull() {
		for name, v := range env.AsValueMap() {
			if !v.IsNull() {
				h.environ = append(h.environ, name+"="+v.AsString())
			}
		}
	}
	ctx, done := p.during(ctx)
	defer done()
	output, err := h.run(ctx, "program", elements(result["program"]))
	if err != nil {
		return diag.Errorf("Command failed", "%s.", err)
	}
	result["output"] = cty.StringVal(strings.TrimSuffix(strings.TrimSuffix(output, "\n"), "\r"))
	if h.renewal == nil && h.ending == nil {
		return nil
	}
	h.stdin = output
	renewAt := time.Time{}
	if h.renewal != nil {
		renewAt = p.now().Add(h.every)
	}
	return p.hold(h, resp, renewAt)
}

// checkCommand checks the known arguments of a keep_command.
func checkCommand(a map[string]cty.Value) (diags diag.List) {
	for _, name := range []string{"program", "renew", "close"} {
		if argv := a[name]; !argv.IsNull() && argv.IsWhollyKnown() && (len(elements(argv)) == 0 || elements(argv)[0] == "") {
			diags = append(diags, attributeError(name, "No program", "The first element of "+name+" must be the name of a program."))
		}
	}
	for _, name := range []string{"timeout", "renew_every"} {
		if d, err := time.ParseDuration(text(a[name])); !a[name].IsNull() && a[name].IsKnown() && (err != nil || d < time.Second) {
			diags = append(diags, attributeError(name, "Invalid "+name, "Give a duration of a second or more, such as \"30s\" or \"5m\"."))
		}
	}
	if a["renew"].IsNull() != a["renew_every"].IsNull() {
		diags = append(diags, attributeError("renew", "Incomplete renewal", "renew and renew_every belong together: set both, or none."))
	}
	return diags
}

// elements returns the elements of a list of strings, nil if it is null or not wholly known. Null elements
// are left out.
func elements(v cty.Value) []string {
	if v.IsNull() || !v.IsWhollyKnown() {
		return nil
	}
	out := []string{}
	for _, e := range v.AsValueSlice() {
		if !e.IsNull() {
			out = append(out, e.AsString())
		}
	}
	return out
}

// command has the settings for running the programs of a keep_command.
type command struct {
	dir     string
	environ []string
	stdin   string
	timeout time.Duration
}

// byHand says how to see a program's output, which errors do not show. Programs repeat their arguments and
// input on standard error, and any of it may be secret.
const byHand = ". What it wrote to its standard error isn't shown, since that may have secrets in it: run it by hand to see it, or have it write a log of its own"

// run runs the program of an argument and returns its standard output. Errors quote neither the arguments nor
// the program's output.
func (c command) run(ctx context.Context, argument string, argv []string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	stdout := &head{limit: maxOutput}
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = c.dir, c.environ, strings.NewReader(c.stdin), stdout
	cmd.WaitDelay = 5 * time.Second
	processgroup.Prepare(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("the program of the argument %s was interrupted", argument)
	case limited.Err() != nil:
		return "", fmt.Errorf("the program of the argument %s did not end within the time of the argument timeout%s", argument, byHand)
	case errors.As(err, &exit):
		return "", fmt.Errorf("the program of the argument %s ended with %s%s", argument, exit, byHand)
	case err != nil:
		return "", fmt.Errorf("the program of the argument %s could not be run: %s", argument, notRun(err))
	case stdout.more:
		return "", fmt.Errorf("the program of the argument %s printed more than %d bytes", argument, maxOutput)
	case !utf8.Valid(stdout.first.Bytes()):
		return "", fmt.Errorf("the program of the argument %s printed something that is not text in UTF-8. Make it print base64, and decode that with base64decode or where it is used", argument)
	}
	return stdout.first.String(), nil
}

// notRun says why a program could not be started, without its name or its directory's.
func notRun(err error) string {
	var lookup *exec.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &lookup):
		return safefile.Reason(lookup.Err)
	case errors.As(err, &path) && path.Op == "chdir":
		return "the directory of the argument working_dir: " + safefile.Reason(path)
	default:
		return safefile.Reason(err)
	}
}

// head keeps the first bytes that are written to it.
type head struct {
	first bytes.Buffer // not embedded: it would be read into without a limit
	limit int
	more  bool // there were more
}

// Write implements io.Writer.
func (h *head) Write(b []byte) (int, error) {
	room := min(len(b), h.limit-h.first.Len())
	h.more = h.more || room < len(b)
	_, _ = h.first.Write(b[:room]) // never fails
	return len(b), nil
}
