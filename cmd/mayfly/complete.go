package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"
)

// completeCommand is what the shells' functions call, with the name of the shell, the command line, and the
// position of the cursor in it, in bytes, unless the line ends there.
const completeCommand = "__complete"

// bashWordBreaks are the characters within a word after which bash begins another one, unless its user has
// changed that.
const bashWordBreaks = "=:"

// proposal is a word that may stand where the cursor is.
type proposal struct{ word, about string }

// completes answers a shell that asks for words, and reports whether one did. Bash asks a program that
// "complete -C" names through the environment.
func (a *app) completes(root *cli.Command, args []string) bool {
	shell, line, point := "bash", a.vars["COMP_LINE"], a.vars["COMP_POINT"]
	if len(args) >= 3 && args[0] == completeCommand {
		shell, line, point = args[1], args[2], strings.Join(args[3:], "")
	} else if line == "" || point == "" {
		return false
	}
	if n, err := strconv.Atoi(point); err == nil && n >= 0 && n < len(line) {
		line = line[:n]
	}
	words, last := shellWords(line)
	if len(words) < 2 {
		return true
	}
	typed := words[len(words)-1]
	var out strings.Builder
	seen := map[string]bool{}
	for _, c := range a.proposals(root, words[1:]) {
		if strings.HasPrefix(c.word, typed) && !strings.ContainsAny(c.word, "\n\t") && !seen[c.word] {
			seen[c.word] = true
			out.WriteString(forShell(shell, c, last) + "\n")
		}
	}
	fmt.Fprint(a.env.Stdout, out.String())
	return true
}

// forShell writes a proposal as the shell wants it. Bash takes it as it is, in place of what is behind the
// last word break; the others quote it themselves and show what it is about.
func forShell(shell string, c proposal, last unfinished) string {
	if shell != "bash" {
		if c.about == "" {
			return c.word
		}
		return c.word + "\t" + strings.Join(strings.Fields(c.about), " ")
	}
	if last.quote != 0 {
		return c.word[last.broken:]
	}
	var escaped strings.Builder
	for _, r := range c.word[last.broken:] {
		if strings.ContainsRune(" \\\"'$&;|<>()[]{}*?!~#`", r) {
			escaped.WriteByte('\\')
		}
		escaped.WriteRune(r)
	}
	return escaped.String()
}

// unfinished is what a shell makes of the word that is being typed.
type unfinished struct {
	quote  byte // the quotation mark in which the cursor is, 0 for none
	broken int  // how much of the word stands before its last word break, or before the quotation mark
}

// shellWords splits a command line that may not be finished. The last word is what is being typed, and may be
// empty.
func shellWords(line string) (words []string, last unfinished) {
	var word strings.Builder
	within := false // a word has begun
	outside := 0    // what was broken before the quotation mark
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && last.quote != '\'' && i+1 < len(line):
			i++
			within = true
			word.WriteByte(line[i])
		case last.quote != 0 && c == last.quote:
			last.quote, last.broken = 0, outside
		case last.quote == 0 && (c == '"' || c == '\''):
			outside = last.broken
			last.quote, last.broken, within = c, word.Len(), true
		case last.quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if within {
				words = append(words, word.String())
				word.Reset()
			}
			within, last.broken = false, 0
		default:
			within = true
			word.WriteByte(c)
			if last.quote == 0 && strings.IndexByte(bashWordBreaks, c) >= 0 {
				last.broken = word.Len()
			}
		}
	}
	return append(words, word.String()), last
}

// globalOptions are those that stand before the command, with what the help says about them.
var globalOptions = []proposal{
	{"-chdir=", "Switch to another directory before anything else is done."},
	{"-help", "Show this text, or the help of a command."},
	{"-version", "Same as the command \"version\"."},
	{"-pedantic", "Take warnings for errors."},
	{"-install-autocomplete", "Set up the shells of this user to complete commands, options and addresses."},
	{"-uninstall-autocomplete", "Undo -install-autocomplete."},
}

// proposals lists what may stand in the place of the last word, whether or not it begins like that word.
func (a *app) proposals(root *cli.Command, words []string) []proposal {
	before, typed := words[:len(words)-1], words[len(words)-1]
	for len(before) > 0 && strings.HasPrefix(before[0], "-") {
		name, dir, given := strings.Cut(strings.TrimLeft(before[0], "-"), "=")
		if name == "chdir" {
			if !given && len(before) > 1 {
				dir, before = before[1], before[1:]
			}
			if os.Chdir(expandHome(dir, a.home())) != nil {
				return nil
			}
		}
		before = before[1:]
	}
	if len(before) == 0 && strings.HasPrefix(typed, "-") {
		return dashed(globalOptions, typed)
	}
	cmd, path := root, []string{}
	for len(before) > 0 && len(cmd.Commands) > 0 {
		sub := cmd.Command(before[0])
		if sub == nil {
			return nil
		}
		cmd, path, before = sub, append(path, sub.Name), before[1:]
	}
	switch {
	case strings.HasPrefix(typed, "-"):
		return a.options(cmd, before, typed)
	case len(cmd.Commands) > 0:
		return subcommands(cmd)
	}
	if len(before) > 0 {
		if name, ok := waitsForValue(cmd, before[len(before)-1]); ok {
			return a.optionValues(name, before)
		}
	}
	return a.arguments(strings.Join(path, " "), before)
}

func subcommands(cmd *cli.Command) []proposal {
	var out []proposal
	for _, sub := range cmd.Commands {
		if !sub.Hidden {
			out = append(out, proposal{sub.Name, sub.Usage})
		}
	}
	return out
}

// options completes the name of an option, or its value if that is being typed.
func (a *app) options(cmd *cli.Command, before []string, typed string) []proposal {
	if option, _, given := strings.Cut(strings.TrimLeft(typed, "-"), "="); given {
		values := a.optionValues(option, before)
		for _, f := range cmd.Flags {
			if _, ok := f.(*cli.BoolFlag); ok && f.Names()[0] == option {
				values = []proposal{{"true", ""}, {"false", ""}}
			}
		}
		for i := range values {
			values[i].word = "-" + option + "=" + values[i].word
		}
		return dashed(values, typed)
	}
	out := []proposal{{"-help", "Show the help of this command."}}
	for _, f := range cmd.Flags {
		name := f.Names()[0]
		if v, ok := f.(cli.VisibleFlag); name == "help" || ok && !v.IsVisible() {
			continue
		}
		word := "-" + name + "="
		if b, ok := f.(*cli.BoolFlag); ok {
			word = strings.TrimSuffix(word, "=")
			if b.Value {
				word += "=false"
			}
		}
		_, text := describeOption(f)
		out = append(out, proposal{word, text})
	}
	name := func(p proposal) string {
		name, _, _ := strings.Cut(p.word, "=")
		return name
	}
	slices.SortFunc(out, func(x, y proposal) int { return strings.Compare(name(x), name(y)) })
	return dashed(out, typed)
}

// dashed gives options the second dash with which they are being typed.
func dashed(options []proposal, typed string) []proposal {
	out := slices.Clone(options)
	if strings.HasPrefix(typed, "--") {
		for i := range out {
			out[i].word = "-" + out[i].word
		}
	}
	return out
}

// waitsForValue reports whether a word is an option whose value is the next word.
func waitsForValue(cmd *cli.Command, word string) (name string, ok bool) {
	if !strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return "", false
	}
	name = strings.TrimLeft(word, "-")
	for _, f := range cmd.Flags {
		if _, isBool := f.(*cli.BoolFlag); !isBool && f.Names()[0] == name {
			return name, true
		}
	}
	return "", false
}

// optionValues lists values of an option. None leaves it to the shell, which knows files.
func (a *app) optionValues(name string, before []string) []proposal {
	c := a.completion(before)
	switch name {
	case "target", "exclude":
		return slices.Concat(c.declared(), c.modules(), c.instances())
	case "replace":
		return c.instances()
	case "var":
		return c.variables()
	}
	return nil
}

// arguments lists what may be an argument of a command after those that stand before it.
func (a *app) arguments(command string, before []string) []proposal {
	c := a.completion(before)
	switch command {
	case "workspace select", "workspace delete":
		return c.workspaces(context.Background())
	case "state show", "taint", "untaint":
		return c.instances()
	case "state list", "state rm", "state mv":
		return slices.Concat(c.modules(), c.instances())
	case "import":
		return c.declared()
	case "output":
		return c.outputs()
	}
	return nil
}
