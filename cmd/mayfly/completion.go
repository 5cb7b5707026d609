package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/safefile"
)

// The functions that shells call to complete a word.
var (
	//go:embed completion/mayfly.bash
	bashCompletion string
	//go:embed completion/mayfly.zsh
	zshCompletion string
	//go:embed completion/mayfly.fish
	fishCompletion string
)

func (a *app) completionCommand() *cli.Command {
	shell := func(name, script string) *cli.Command {
		return a.command(name, "Write the functions for "+name, "", "Writes the functions with which "+name+" completes commands, options, addresses and workspaces. The option -install-autocomplete has the shell read them.",
			nil, func(_ context.Context, args []string) int {
				if len(args) > 0 {
					return a.argsError("completion "+name, "no arguments")
				}
				_, err := fmt.Fprint(a.env.Stdout, script)
				return a.wrote(err)
			})
	}
	return a.group("completion", "Write functions for a shell that complete commands", "Writes functions with which a shell completes what is typed after \"mayfly\". To set up a shell permanently: mayfly -install-autocomplete",
		shell("bash", bashCompletion), shell("zsh", zshCompletion), shell("fish", fishCompletion))
}

// setUpMark is at the end of what -install-autocomplete writes, by which it is found again.
const setUpMark = "# mayfly -install-autocomplete"

// shellSetUp is a file with which a shell of the user begins, and the line in it that sets up completion. A
// file is ours as a whole if the shell has a file per program.
type shellSetUp struct {
	shell, path, line string
	whole             bool
}

// shells lists the set-ups of the shells that this user has: there is a file of theirs, or it is the login
// shell.
func (a *app) shells(program string) []shellSetUp {
	home := a.home()
	join := func(dirVar, otherwise, name string) string {
		dir := a.vars[dirVar]
		if dir == "" {
			dir = filepath.Join(home, otherwise)
		}
		return filepath.Join(dir, name)
	}
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	login := filepath.Base(a.vars["SHELL"])
	line := func(shell string) string {
		quoted := "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
		return fmt.Sprintf(`[ -x %s ] && eval "$(%s completion %s)" %s`, quoted, quoted, shell, setUpMark)
	}
	var out []shellSetUp
	bash := filepath.Join(home, ".bashrc")
	if profile := filepath.Join(home, ".bash_profile"); !exists(bash) && exists(profile) {
		bash = profile
	}
	if login == "bash" || exists(bash) {
		out = append(out, shellSetUp{shell: "bash", path: bash, line: line("bash")})
	}
	if zsh := join("ZDOTDIR", "", ".zshrc"); login == "zsh" || exists(zsh) {
		out = append(out, shellSetUp{shell: "zsh", path: zsh, line: line("zsh")})
	}
	if fish := join("XDG_CONFIG_HOME", ".config", "fish"); login == "fish" || exists(fish) {
		out = append(out, shellSetUp{shell: "fish", path: filepath.Join(fish, "completions", "mayfly.fish"), line: fishCompletion + setUpMark, whole: true})
	}
	return out
}

// setUpAsked reports whether the command line is -install-autocomplete or its opposite.
func setUpAsked(args []string) (remove, asked bool) {
	if len(args) != 1 || !strings.HasPrefix(args[0], "-") {
		return false, false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-")
	return name == "uninstall-autocomplete", name == "install-autocomplete" || name == "uninstall-autocomplete"
}

// programPath is where this program is: by preference as the search path finds it, since that may be a link
// which outlives this version.
func programPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath("mayfly")
	if err != nil || !filepath.IsAbs(found) {
		return self, nil
	}
	a, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	if b, err := os.Stat(found); err != nil || !os.SameFile(a, b) {
		return self, nil
	}
	return found, nil
}

// setUpShells carries out -install-autocomplete, or -uninstall-autocomplete if remove is set.
func (a *app) setUpShells(remove bool) int {
	a.setUpView()
	program, err := programPath()
	if err != nil || a.home() == "" {
		return a.fail("Cannot set up completion", "The path of this program or the home directory is not known. Add the output of \"mayfly completion SHELL\" to the files of your shell instead.")
	}
	shells := a.shells(program)
	if len(shells) == 0 {
		return a.fail("No shell found", "There is no .bashrc, .zshrc or fish configuration in %s, and SHELL names none of these shells. Create the file and try again, or run \"mayfly completion\" for what to add to it.", a.home())
	}
	for _, s := range shells {
		changed, err := s.apply(remove)
		switch {
		case err != nil:
			a.report(diag.Errorf("Cannot set up completion", "The file %s could not be changed: %s.", s.path, diag.Reason(err)))
			a.code = exitError
		case changed && remove:
			a.say("Removed completion from %s.", s.path)
		case changed:
			a.say("Added completion to %s. It works in each %s that is started from now on.", s.path, s.shell)
		case remove:
			a.say("There is no completion in %s.", s.path)
		default:
			a.say("Completion is in %s already.", s.path)
		}
	}
	return a.code
}

// apply makes the file have the set-up once, or not at all, and reports whether that took a change.
func (s shellSetUp) apply(remove bool) (changed bool, err error) {
	before, err := safefile.Read(s.path, maxRecord)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return false, err
	}
	if s.whole {
		return s.applyWhole(string(before), missing, remove)
	}
	lines := strings.SplitAfter(string(before), "\n")
	kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasSuffix(strings.TrimRight(l, " \r\n"), setUpMark) })
	after := strings.Join(kept, "")
	if !remove {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.TrimRight(l, "\r\n") == s.line }) && len(kept) == len(lines)-1 {
			return false, nil
		}
		if after != "" && !strings.HasSuffix(after, "\n") {
			after += "\n"
		}
		after += s.line + "\n"
	}
	return s.write(string(before), after, missing)
}

// applyWhole is apply for a file of its own. One that somebody else has written stays.
func (s shellSetUp) applyWhole(before string, missing, remove bool) (changed bool, err error) {
	ours := strings.HasSuffix(strings.TrimRight(before, "\n"), setUpMark)
	switch {
	case !missing && !ours && !remove:
		return false, errors.New("it is already there, but -install-autocomplete did not create it")
	case remove && (missing || !ours):
		return false, nil
	case remove:
		return true, os.Remove(s.path)
	}
	return s.write(before, s.line+"\n", missing)
}

func (s shellSetUp) write(before, after string, missing bool) (changed bool, err error) {
	switch {
	case before == after:
		return false, nil
	case !missing:
		return true, rewriteFile(s.path, []byte(after))
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return false, err
	}
	return true, writeFile(s.path, []byte(after))
}
