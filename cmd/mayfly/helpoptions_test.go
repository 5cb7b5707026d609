package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"
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
		printHelp(&out, "", c)
		if found := brokenOption.FindString(out.String()); found != "" {
			t.Errorf("%s: an option is broken at the end of a line: %q", c.FullName(), found)
		}
		for line := range strings.Lines(out.String()) {
			if len(strings.TrimRight(line, "\n")) > helpWidth && !strings.HasPrefix(line, "Usage:") {
				t.Errorf("%s: a line has more than %d columns: %q", c.FullName(), helpWidth, line)
			}
		}
		for _, f := range c.Flags {
			name, text := describeOption(f)
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

func TestDescribeOption(t *testing.T) {
	n, d, s, b := 10, 90*time.Second, "x", true
	for _, test := range []struct {
		flag       cli.Flag
		name, text string
	}{
		{intFlag("n", "Run `N`.", &n), "-n=N", "Run N. The default is 10."},
		{durationFlag("d", "Wait `DURATION`.", &d), "-d=DURATION", "Wait DURATION. The default is 1m30s."},
		{stringFlag("s", "Take `FILE`.", &s), "-s=FILE", `Take FILE. The default is "x".`},
		{boolFlag("b", "Don't.", &b), "-b=false", "Don't."},
		{listFlag("l", "Take `FILE`.", new([]string)), "-l=FILE", "Take FILE. May be given several times."},
	} {
		if name, text := describeOption(test.flag); name != test.name || text != test.text {
			t.Errorf("got %q, %q, want %q, %q", name, text, test.name, test.text)
		}
	}
}
