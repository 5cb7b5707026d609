package view

import (
	"slices"
	"strings"
)

// words splits a line at spaces. With KeepCommands, a command to run is one word, so that it can be copied
// from the terminal, which breaks wide lines without a line end.
func (o Options) words(line string) []string {
	words := strings.Split(line, " ")
	if !o.KeepCommands {
		return words
	}
	var out []string
	for i := 0; i < len(words); {
		n := o.commandIn(words, i)
		out = append(out, strings.Join(words[i:i+n], " "))
		i += n
	}
	return out
}

// commandIn returns how many words the command has that begins at words[i], 1 if none does. Messages have
// commands in quotes, as in "mayfly init", or after a colon, as in "Run: mayfly init", where the part of the
// sentence or the line ends with them.
func (o Options) commandIn(words []string, i int) int {
	begins := func(word string) bool { return word == "mayfly" || word == o.command() }
	var last func(word string) bool
	switch name, quoted := strings.CutPrefix(strings.TrimLeft(words[i], "("), "\""); {
	case quoted && begins(name):
		last = func(word string) bool { return strings.HasSuffix(strings.TrimRight(word, ".,;:)"), "\"") }
	case i > 0 && begins(name) && strings.HasSuffix(words[i-1], ":"):
		last = func(word string) bool { return len(word) > 1 && strings.ContainsAny(word[len(word)-1:], ".,;") }
	default:
		return 1
	}
	if end := slices.IndexFunc(words[i:], last); end >= 0 {
		return end + 1
	}
	if begins(words[i]) {
		return len(words) - i
	}
	return 1 // the quotation does not end on this line
}
