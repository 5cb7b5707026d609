package complete

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// The functions that shells call to complete a word.
var (
	//go:embed functions/mayfly.bash
	bashCompletion string
	//go:embed functions/mayfly.zsh
	zshCompletion string
	//go:embed functions/mayfly.fish
	fishCompletion string
)

// ownName is the command that is always completed.
const ownName = "mayfly"

// Functions returns the shell functions that complete command lines. shell is bash, zsh or fish. They
// complete the commands with the program's own name and with the one it was called by, a path or a name,
// through a link or a copy.
func Functions(shell, called string) string {
	text := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[shell]
	name := typedAs(called)
	if name == ownName {
		return text
	}
	return text + fmt.Sprintf(map[string]string{
		"bash": "complete -o bashdefault -o default -F _mayfly_complete %s\n",
		"zsh":  "compdef _mayfly %s\n",
		"fish": "complete -c %s -f -a '(__mayfly_complete)'\n",
	}[shell], name)
}

// typedAs returns the command that is typed for a program, the program's own if it would need quotes.
func typedAs(called string) string {
	name := strings.TrimSuffix(filepath.Base(called), ".exe")
	if !commandName.MatchString(name) {
		return ownName
	}
	return name
}

var commandName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// setUpMark is at the end of the lines that -install-autocomplete writes, so that they are found again.
const setUpMark = "# mayfly -install-autocomplete"

// maxFile bounds the files with which shells begin, in bytes.
const maxFile = 16 << 20

// SetUp is a file with which a shell of the user begins, and the line in it that sets up completion.
type SetUp struct {
	Shell, Path string

	line  string
	whole bool // the file is for nothing else, because the shell has one per program
}

// SetUps lists the set-ups of the shells that a user has: there is a file of theirs, or it is the login
// shell. vars is the user's environment, and program the path of this program.
func SetUps(vars map[string]string, home, program string) []SetUp {
	join := func(dirVar, otherwise, name string) string {
		dir := cmp.Or(vars[dirVar], filepath.Join(home, otherwise))
		return filepath.Join(dir, name)
	}
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	login := filepath.Base(vars["SHELL"])
	line := func(shell string) string {
		quoted := "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
		return fmt.Sprintf(`[ -x %s ] && eval "$(%s completion %s)" %s`, quoted, quoted, shell, setUpMark)
	}
	var out []SetUp
	bash := filepath.Join(home, ".bashrc")
	if profile := filepath.Join(home, ".bash_profile"); !exists(bash) && exists(profile) {
		bash = profile
	}
	if login == "bash" || exists(bash) {
		out = append(out, SetUp{Shell: "bash", Path: bash, line: line("bash")})
	}
	if zsh := join("ZDOTDIR", "", ".zshrc"); login == "zsh" || exists(zsh) {
		out = append(out, SetUp{Shell: "zsh", Path: zsh, line: line("zsh")})
	}
	if fish := join("XDG_CONFIG_HOME", ".config", "fish"); login == "fish" || exists(fish) {
		out = append(out, SetUp{Shell: "fish", Path: filepath.Join(fish, "completions", typedAs(program)+".fish"), line: Functions("fish", program) + setUpMark, whole: true})
	}
	return out
}

// Program returns the path of this program, which was called by a path or name. It is preferably the one that
// the search path has for the name: that may be a link which outlives this version.
func Program(called string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(typedAs(called))
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

// Apply adds the set-up to the file unless it is there, or removes it if remove is set, and reports whether
// the file changed.
func (s SetUp) Apply(remove bool) (changed bool, err error) {
	before, err := safefile.Read(s.Path, maxFile)
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

// applyWhole is Apply for a file that contains only the set-up. A file by another author is kept.
func (s SetUp) applyWhole(before string, missing, remove bool) (changed bool, err error) {
	ours := strings.HasSuffix(strings.TrimRight(before, "\n"), setUpMark)
	switch {
	case !missing && !ours && !remove:
		return false, errors.New("it is already there, but -install-autocomplete did not create it")
	case remove && (missing || !ours):
		return false, nil
	case remove:
		return true, os.Remove(s.Path)
	}
	return s.write(before, s.line+"\n", missing)
}

func (s SetUp) write(before, after string, missing bool) (changed bool, err error) {
	switch {
	case before == after:
		return false, nil
	case !missing:
		return true, safefile.Rewrite(s.Path, []byte(after))
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o755); err != nil {
		return false, err
	}
	return true, safefile.Replace(s.Path, []byte(after))
}
