package complete

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
)

// command is called by the shells' functions, with the name of the shell, the command line, and the position
// of the cursor in it, in bytes, unless the line ends there.
const command = "__complete"

// bashWordBreaks are the characters within a word after which bash begins another one, unless its user has
// changed that.
const bashWordBreaks = "=:"

// Query is a command line, up to the cursor, that a shell wants completed.
type Query struct{ shell, line string }

// Asked returns the query of a shell if the program's arguments, without its name, are one. A program
// registered with bash's "complete -C" is asked through the environment.
func Asked(args []string, vars map[string]string) (q Query, ok bool) {
	shell, line, point := "bash", vars["COMP_LINE"], vars["COMP_POINT"]
	if len(args) >= 3 && args[0] == command {
		shell, line, point = args[1], args[2], strings.Join(args[3:], "")
	} else if line == "" || point == "" {
		return Query{}, false
	}
	if n, err := strconv.Atoi(point); err == nil && n >= 0 && n < len(line) {
		line = line[:n]
	}
	return Query{shell, line}, true
}

// Answer returns the proposals for a query, one per line, in the form that the shell expects.
func (c *Completer) Answer(q Query) string {
	words, last := shellWords(q.line)
	if len(words) < 2 {
		return ""
	}
	typed := words[len(words)-1]
	var out strings.Builder
	seen := map[string]bool{}
	for _, p := range c.proposals(words[1:]) {
		if strings.HasPrefix(p.word, typed) && !strings.ContainsAny(p.word, "\n\t") && !seen[p.word] {
			seen[p.word] = true
			out.WriteString(forShell(q.shell, p, last) + "\n")
		}
	}
	return out.String()
}

// forShell formats a proposal for a shell. Bash inserts it as it is, in place of the text after the last
// word break; the others quote it themselves and show its description.
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

// unfinished describes the word that is being typed, as a shell sees it.
type unfinished struct {
	quote  byte // the quotation mark in which the cursor is, 0 for none
	broken int  // length of the part before its last word break, or before the quotation mark
}

// shellWords splits a command line that may be unfinished. The last word is the one being typed, possibly
// empty.
func shellWords(line string) (words []string, last unfinished) {
	var word strings.Builder
	within := false // inside a word
	outside := 0    // value of broken at the quotation mark
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		// A backslash takes the next character as it is, except within single quotation marks.
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

// proposals returns the words that may replace the last one, whatever it begins with.
func (c *Completer) proposals(words []string) []proposal {
	before, typed := words[:len(words)-1], words[len(words)-1]
	for len(before) > 0 && strings.HasPrefix(before[0], "-") {
		name, dir, given := strings.Cut(strings.TrimLeft(before[0], "-"), "=")
		if name == "chdir" {
			if !given && len(before) > 1 {
				dir, before = before[1], before[1:]
			}
			// The rest is about the other directory. Without it, nothing can be proposed.
			if os.Chdir(expandHome(dir, c.Home)) != nil {
				return nil
			}
		}
		before = before[1:]
	}
	if len(before) == 0 && strings.HasPrefix(typed, "-") {
		return dashed(globalOptions(), typed)
	}
	cmd, path := c.Root, []string{}
	for len(before) > 0 && len(cmd.Commands) > 0 {
		sub := cmd.Command(before[0])
		if sub == nil {
			return nil
		}
		cmd, path, before = sub, append(path, sub.Name), before[1:]
	}
	c.words = before
	switch {
	case strings.HasPrefix(typed, "-"):
		return c.options(cmd, typed)
	case len(cmd.Commands) > 0:
		return subcommands(cmd)
	}
	if len(before) > 0 {
		if name, ok := waitsForValue(cmd, before[len(before)-1]); ok {
			return c.optionValues(name)
		}
	}
	return c.arguments(strings.Join(path, " "))
}

// globalOptions returns the options that stand before the command.
func globalOptions() []proposal {
	var out []proposal
	for _, o := range usage.GlobalOptions {
		out = append(out, proposal{o.Name, o.About})
	}
	return out
}

// subcommands returns the commands below one. Hidden ones work and are not proposed.
func subcommands(cmd *cli.Command) []proposal {
	var out []proposal
	for _, sub := range cmd.Commands {
		if !sub.Hidden {
			out = append(out, proposal{sub.Name, sub.Usage})
		}
	}
	return out
}

// options completes the name of an option, or its value.
func (c *Completer) options(cmd *cli.Command, typed string) []proposal {
	if option, _, given := strings.Cut(strings.TrimLeft(typed, "-"), "="); given {
		values := c.optionValues(option)
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
		} else if usage.OptionalValue(f) {
			word = strings.TrimSuffix(word, "=")
		}
		_, text := usage.Describe(f)
		out = append(out, proposal{word, text})
	}
	name := func(p proposal) string {
		name, _, _ := strings.Cut(p.word, "=")
		return name
	}
	slices.SortFunc(out, func(x, y proposal) int { return strings.Compare(name(x), name(y)) })
	return dashed(out, typed)
}

// dashed adds a second dash to options if they are being typed with two.
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
		if _, isBool := f.(*cli.BoolFlag); !isBool && !usage.OptionalValue(f) && f.Names()[0] == name {
			return name, true
		}
	}
	return "", false
}
