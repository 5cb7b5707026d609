package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// ownName is the name of the program for people.
const ownName = "Mayfly"

// nameOn returns the name of the program in sentences on a stream: its own name on a terminal. Elsewhere it
// is the name of the engine that programs take it for: they look for sentences with that name, such as
// "OpenTofu will perform the following actions:", and ignore the rest without it.
func (e environment) nameOn(stream io.Writer) string {
	if term.Of(stream) != nil { // a person reads it
		return ownName
	}
	return e.compatibleName()
}

// ownCommand is the program in the commands that texts tell people to run.
const ownCommand = "mayfly"

// command returns the name by which the program was called, for commands to run.
func (e environment) command() string {
	name := filepath.Base(e.Called)
	if strings.EqualFold(filepath.Ext(name), ".exe") {
		name = name[:len(name)-len(".exe")]
	}
	if e.Called == "" || name == "" {
		return ownCommand
	}
	return diag.Argument(name)
}

// commandLine matches the program in a command line of a text: it begins a line, is quoted, or follows a
// colon, and a command, an option or a placeholder comes after it.
var commandLine = pattern.New(`((?:^|\n) *|"|: )` + ownCommand + ` (-[a-z]|<command>|\[global options\]|(?:` +
	strings.Join(commandNames, "|") + `)\b)`)

// commandNames are the names of the commands.
var commandNames = []string{
	"apply", "completion", "console", "destroy", "doctor", "explain", "fmt", "force-unlock", "get", "graph", "import", "init",
	"login", "logout", "metadata", "output", "plan", "providers", "query", "refresh", "show", "state", "taint", "test", "untaint",
	"validate", "version", "workspace",
}

// commands returns a text with the name by which the program was called in all commands that the text tells
// people to run. Texts are written with the program's own name: most come from packages that know no other.
func (e environment) commands(text string) string {
	name := e.command()
	if name == ownCommand || !strings.Contains(text, ownCommand+" ") {
		return text
	}
	return commandLine().ReplaceAllStringFunc(text, func(found string) string {
		return strings.Replace(found, ownCommand, name, 1)
	})
}

// commandsIn is commands for diagnostics.
func (e environment) commandsIn(list diag.List) diag.List {
	if e.command() == ownCommand {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Summary, list[i].Detail = e.commands(list[i].Summary), e.commands(list[i].Detail)
	}
	return list
}

// usage prints the help of a command.
func (e environment) usage(w io.Writer, template string, data any) {
	var text strings.Builder
	usage.Print(&text, template, data)
	_, _ = io.WriteString(w, e.commands(text.String()))
}

// compatibleName returns the name of the engine that programs take this one for: the user's choice, or else
// the one by whose name it was started, if that was a link or a copy.
func (e environment) compatibleName() string {
	if e.compatible.Name != "" {
		return e.compatible.Name
	}
	base := strings.ToLower(filepath.Base(e.Called))
	if strings.TrimSuffix(base, ".exe") == "terraform" {
		return "Terraform"
	}
	return "OpenTofu"
}
