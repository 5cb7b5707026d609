package main

import (
	"bytes"
	"cmp"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
)

// TestHelpOfEveryCommand holds the help of all commands: values have names, sentences are whole, no option is
// broken at the end of a line, and no line is too long.
func TestHelpOfEveryCommand(t *testing.T) {
	a := &app{vars: map[string]string{}}
	valueName := regexp.MustCompile(`^[A-Z][A-Z_=]*$`)
	brokenOption := regexp.MustCompile(`(?m)(^|\s)-[a-z-]*-$|\s-$`)
	commands := 0
	var visit func(c *cli.Command)
	visit = func(c *cli.Command) {
		commands++
		var out bytes.Buffer
		usage.Print(&out, "", c)
		if found := brokenOption.FindString(out.String()); found != "" {
			t.Errorf("%s: an option is broken at the end of a line: %q", c.FullName(), found)
		}
		for line := range strings.Lines(out.String()) {
			if len(strings.TrimRight(line, "\n")) > usage.Width && !strings.HasPrefix(line, "Usage:") {
				t.Errorf("%s: a line has more than %d columns: %q", c.FullName(), usage.Width, line)
			}
		}
		for _, f := range c.Flags {
			name, text := usage.Describe(f)
			if _, isBool := f.(*cli.BoolFlag); !isBool {
				if _, value, _ := strings.Cut(name, "="); !valueName.MatchString(value) {
					t.Errorf("%s %s: the value has no name in capitals", c.FullName(), name)
				}
			}
			if !strings.HasSuffix(text, ".") || strings.ContainsRune(text, '`') {
				t.Errorf("%s %s: %q is not a sentence", c.FullName(), name, text)
			}
		}
		for _, sub := range c.Commands {
			visit(sub)
		}
	}
	visit(a.root())
	if commands < 40 {
		t.Errorf("only %d commands were visited", commands)
	}
}

// TestListedOptionsAreAccepted gives each command that plans each of the options that its help lists: in an
// empty directory, nothing but the options themselves can be refused as incompatible or invalid.
func TestListedOptionsAreAccepted(t *testing.T) {
	t.Chdir(t.TempDir())
	values := map[string]string{"ADDRESS": "terraform_data.a", "N": "1", "DURATION": "1s", "NAME=VALUE": "a=b", "SCOPE": "module:all"}
	refused := regexp.MustCompile(`Error: (Incompatible|Invalid).*`)
	for _, command := range []string{"plan", "apply", "destroy", "refresh"} {
		c := (&app{vars: map[string]string{}}).root().Command(command)
		for _, f := range c.VisibleFlags() {
			name, _ := usage.Describe(f)
			if option, value, ok := strings.Cut(name, "="); ok {
				name = option + "=" + cmp.Or(values[value], "new")
			}
			if err := os.WriteFile("new", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			run(t.Context(), []string{command, name, "-input=false"}, environment{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Notify: func(chan<- os.Signal) func() { return func() {} },
			})
			if why := refused.FindString(out.String()); why != "" || strings.Contains(out.String(), "flag provided but not defined") {
				t.Errorf("%s %s: %s", command, name, out.String())
			}
		}
	}
}
