package main

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
)

// TestHelpOfEveryCommand holds the help of all commands: values have names, sentences are whole, no option is
// broken at the end of a line, and no line is too long.
func TestHelpOfEveryCommand(t *testing.T) {
	a := newApp(environment{})
	valueName := regexp.MustCompile(`^[A-Z][A-Z_=]*$`)
	brokenOption := regexp.MustCompile(`(?m)(^|\s)-[a-z-]*-$|\s-$`)
	commands := 0
	var visit func(c *cli.Command)
	visit = func(c *cli.Command) {
		commands++
		var out bytes.Buffer
		usage.Print(&out, "", c)
		if found := brokenOption.FindString(out.String()); found != "" {
			t.Errorf("%s: got an option that is broken at the end of a line: %q, want none", c.FullName(), found)
		}
		for line := range strings.Lines(out.String()) {
			if len(strings.TrimRight(line, "\n")) > usage.Width && !strings.HasPrefix(line, "Usage:") {
				t.Errorf("%s: a line has more than %d columns: %q", c.FullName(), usage.Width, line)
			}
		}
		for _, f := range c.Flags {
			name, text := usage.Describe(f)
			if _, isBool := f.(*cli.BoolFlag); !isBool {
				if _, value, _ := strings.Cut(strings.Trim(name, "]"), "="); !valueName.MatchString(value) {
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

// TestListedOptionsAreAccepted gives each command each of the options that its help lists, in an empty
// directory. None may be refused for itself, as incompatible, invalid or unsupported.
func TestListedOptionsAreAccepted(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	values := map[string]string{
		"ADDRESS": "terraform_data.a", "DIR": ".", "DURATION": "1s", "MODE": "readonly", "N": "1", "NAME=VALUE": "a=b",
		"OPERATION": "plan", "OS_ARCH": "linux_amd64", "SCOPE": "module:all", "SETTING": "path=a", "URL": "https://example.com/",
	}
	arguments := map[string][]string{
		"force-unlock": {"id"}, "import": {"terraform_data.a", "id"}, "taint": {"terraform_data.a"}, "untaint": {"terraform_data.a"},
		"state mv": {"terraform_data.a", "terraform_data.b"}, "state rm": {"terraform_data.a"}, "state show": {"terraform_data.a"},
		"state push": {"new"}, "state replace-provider": {"a/b", "a/c"}, "providers mirror": {"."},
		"workspace new": {"w"}, "workspace select": {"w"}, "workspace delete": {"w"},
	}
	refused := regexp.MustCompile(`Error: (Incompatible|Unsupported option|Invalid (.* )?(option|flag|parallelism|combination)|Invalid replace).*|flag provided but not defined`)
	var visit func(c *cli.Command, path []string)
	visit = func(c *cli.Command, path []string) {
		for _, sub := range c.Commands {
			visit(sub, append(slices.Clone(path), sub.Name))
		}
		if len(path) == 0 {
			return
		}
		for _, f := range c.VisibleFlags() {
			name, _ := usage.Describe(f)
			if name == "-help" {
				continue
			}
			name = strings.NewReplacer("[", "", "]", "").Replace(name) // of a value that may be left out
			if option, value, ok := strings.Cut(name, "="); ok && value != "false" {
				name = option + "=" + cmp.Or(values[value], "new")
			}
			if err := os.WriteFile("new", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			args := append(append(slices.Clone(path), name), arguments[strings.Join(path, " ")]...)
			ctx, cancel := context.WithCancel(t.Context())
			if name == "-watch" { // which goes on until it is interrupted
				cancel()
			}
			run(ctx, args, environment{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Notify: func(chan<- os.Signal) func() { return func() {} },
			})
			cancel()
			if why := refused.FindString(out.String()); why != "" {
				t.Errorf("%s: got it refused: %s, want it accepted", args, why)
			}
		}
	}
	visit(newApp(environment{}).root(), nil)
}
