package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Engine is a program that judges configurations.
type Engine struct {
	Path string
	Env  []string // in addition to the environment of this process
}

// Judge runs the commands of a case in dir, which must be empty, and returns their outcomes. An error is
// about starting the program only.
func (e Engine) Judge(c *Case, dir string) ([]Outcome, error) {
	if err := txtar.Write(&txtar.Archive{Files: c.files}, dir); err != nil {
		return nil, err
	}
	var out []Outcome
	for _, r := range c.Runs {
		o, err := e.run(dir, strings.Fields(r.Command))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.Name, r.Command, err)
		}
		out = append(out, o)
	}
	return out, nil
}

func (e Engine) run(dir string, args []string) (Outcome, error) {
	stream := args[0] == "init" || args[0] == "plan"
	if stream {
		args = append(args, "-json", "-input=false")
	}
	cmd := exec.Command(e.Path, append(args, "-no-color")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), e.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return Outcome{}, err
	}
	o := Outcome{OK: cmd.ProcessState.Success()}
	var err error
	switch {
	case stream:
		o.Lines, err = streamed(stdout.Bytes())
	case slices.Contains(args, "-json"):
		o.Lines, err = documented(stdout.Bytes())
	default:
		o.Lines = append(written(stderr.String()), printed(args[0], stdout.String())...)
	}
	if err != nil {
		return o, fmt.Errorf("%w in:\n%s%s", err, stdout.String(), stderr.String())
	}
	slices.Sort(o.Lines)
	return o, nil
}

// diagnostic is the part of a diagnostic in JSON that is compared.
type diagnostic struct {
	Severity, Summary string
	Range             *struct {
		Filename string
		Start    struct{ Line int }
	}
}

func (d diagnostic) line() string {
	at := "-"
	if d.Range != nil {
		at = fmt.Sprintf("%s:%d", d.Range.Filename, d.Range.Start.Line)
	}
	return fmt.Sprintf("%s: %s: %s", at, d.Severity, d.Summary)
}

// streamed returns the findings in a stream of messages.
func streamed(out []byte) ([]string, error) {
	var lines []string
	for line := range bytes.Lines(out) {
		var m struct{ Diagnostic *diagnostic }
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		if m.Diagnostic != nil {
			lines = append(lines, m.Diagnostic.line())
		}
	}
	return lines, nil
}

// documented returns the findings in the document of validate.
func documented(out []byte) ([]string, error) {
	var doc struct{ Diagnostics []diagnostic }
	if err := json.Unmarshal(out, &doc); err != nil {
		return nil, err
	}
	var lines []string
	for _, d := range doc.Diagnostics {
		lines = append(lines, d.line())
	}
	return lines, nil
}

var (
	heading  = regexp.MustCompile(`^(Error|Warning): (.*)$`)
	location = regexp.MustCompile(`^  (?:on|at) (\S+) line (\d+)`)
)

// written returns the findings in text for people.
func written(out string) []string {
	var lines []string
	severity, summary, at := "", "", "-"
	add := func() {
		if severity != "" {
			lines = append(lines, fmt.Sprintf("%s: %s: %s", at, severity, summary))
		}
	}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if m := heading.FindStringSubmatch(line); m != nil {
			add()
			severity, summary, at = strings.ToLower(m[1]), m[2], "-"
		} else if m := location.FindStringSubmatch(line); m != nil && at == "-" {
			at = m[1] + ":" + m[2]
		}
	}
	add()
	return lines
}

// provided is a line of the tree that providers prints.
var provided = regexp.MustCompile(`(?:provider\[|module\.).*`)

// verdict is a line with the verdict of a file or run, of the command test.
var verdict = regexp.MustCompile(`^(?:run ".*"|\S+)\.\.\. (?:pass|fail|skip|error)$`)

// printed returns the findings of a command on its standard output: of fmt the names of files, of providers
// the modules and providers, of test the verdicts.
func printed(command, out string) []string {
	var lines []string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch {
		case command == "fmt":
			lines = append(lines, line)
		case command == "providers" && provided.MatchString(line):
			lines = append(lines, provided.FindString(line))
		case command == "test" && verdict.MatchString(line):
			lines = append(lines, line)
		}
	}
	return lines
}
