package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-shellwords"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/script"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// mistakesDir has the catalog of typical mistakes: what people write, and everything that the terminal then
// shows. It is made to be read from top to bottom by someone who judges the messages. One file has a topic.
// MAYFLY_UPDATE_GOLDEN=1 rewrites what the terminal shows.
const mistakesDir = "testdata/mistakes"

// fewestMistakes guards against a catalog that is not found or not read to its end.
const fewestMistakes = 690

// TestMistakes runs the catalog within this process, in a fresh directory for each case. The format of a
// file:
//
//	text for the reader
//	-- NAME --         a file that all cases of the topic have
//	=== TITLE          begins a case
//	-- NAME --         a file; later ones replace earlier ones, also between commands
//	$ COMMAND          a command line, and below it what it writes to the terminal, and its exit status unless that is 0
//
// Commands are mayfly, and mkdir, touch and rm for one path. Variables may be set in front of them, "echo
// TEXT |" gives them input, and a command with ">/dev/null" must succeed and is not shown.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(mistakesDir, "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	k := newMistakeKit(t)
	total := 0
	for _, file := range files {
		topic := readMistakes(t, file)
		total += len(topic.cases)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".golden"), func(t *testing.T) {
			for i := range topic.cases {
				t.Run(topic.cases[i].title, func(t *testing.T) { k.run(t, topic, &topic.cases[i]) })
			}
		})
		if update := os.Getenv("MAYFLY_UPDATE_GOLDEN") != ""; update {
			filetest.Write(t, file, topic.text())
		}
	}
	if total < fewestMistakes {
		t.Errorf("the catalog has %d cases", total)
	}
}

// mistakeTopic is one file of the catalog.
type mistakeTopic struct {
	intro  string
	shared []mistakeStep // files that all cases have
	cases  []mistake
}

type mistake struct {
	title string
	steps []mistakeStep
}

// mistakeStep is a file to write, or a command to run with the output that is expected.
type mistakeStep struct {
	file, command string
	text          string
}

var fileMarker = pattern.New(`^-- (\S+) --$`)

func readMistakes(t *testing.T, file string) *mistakeTopic {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	topic := &mistakeTopic{}
	at := &topic.intro // where text goes
	steps := &topic.shared
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimSuffix(line, "\n")
		name := fileMarker().FindStringSubmatch(bare)
		command, isCommand := strings.CutPrefix(bare, "$ ")
		title, isTitle := strings.CutPrefix(bare, "=== ")
		switch {
		case isTitle:
			topic.cases = append(topic.cases, mistake{title: title})
			steps = &topic.cases[len(topic.cases)-1].steps
			at = new(string)
		case name != nil, isCommand:
			*steps = append(*steps, mistakeStep{command: command})
			at = &(*steps)[len(*steps)-1].text
			if name != nil {
				(*steps)[len(*steps)-1].file = name[1]
			}
		default:
			*at += line
		}
	}
	topic.tidy()
	return topic
}

// tidy removes the blank lines that only separate.
func (topic *mistakeTopic) tidy() {
	trim := func(steps []mistakeStep) {
		for i := range steps {
			steps[i].text = oneEnd(steps[i].text)
		}
	}
	topic.intro = oneEnd(topic.intro)
	trim(topic.shared)
	for _, c := range topic.cases {
		trim(c.steps)
	}
}

// oneEnd returns a text with one line break at its end, "" for an empty one.
func oneEnd(text string) string {
	if text = strings.TrimRight(text, "\n"); text != "" {
		text += "\n"
	}
	return text
}

// text is the file of the topic.
func (topic *mistakeTopic) text() string {
	var sb strings.Builder
	sb.WriteString(topic.intro)
	write := func(steps []mistakeStep) {
		for _, s := range steps {
			if s.file != "" {
				fmt.Fprintf(&sb, "-- %s --\n%s", s.file, s.text)
			} else {
				fmt.Fprintf(&sb, "$ %s\n%s", s.command, s.text)
			}
		}
	}
	write(topic.shared)
	for _, c := range topic.cases {
		fmt.Fprintf(&sb, "\n\n=== %s\n", c.title)
		write(c.steps)
	}
	return sb.String()
}

// mistakeKit is what all cases share.
type mistakeKit struct {
	mirror, home, settings string
}

func newMistakeKit(t *testing.T) *mistakeKit {
	if runtime.GOOS == "windows" {
		t.Skip("the provider in the mirror is a shell script, and messages have other paths")
	}
	k := &mistakeKit{mirror: t.TempDir(), home: t.TempDir()}
	if err := script.BuildMirror(k.mirror, simcloud.Source); err != nil {
		t.Fatal(err)
	}
	k.settings = filepath.Join(k.home, "cli.tfrc")
	filetest.Write(t, k.settings, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", k.mirror))
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "TF_") || strings.HasPrefix(name, "SIM_") || strings.HasPrefix(name, "KEEP_") {
			t.Setenv(name, value) // which restores it
			os.Unsetenv(name)
		}
	}
	for name, value := range map[string]string{
		"HOME": k.home, "TF_CLI_CONFIG_FILE": k.settings, "MAYFLY_SCHEMA_CACHE": filepath.Join(k.home, "schemas"), "NO_COLOR": "1", "COLUMNS": "78",
		simcloud.EnvDir: t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	return k
}

func (k *mistakeKit) run(t *testing.T, topic *mistakeTopic, c *mistake) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	update := os.Getenv("MAYFLY_UPDATE_GOLDEN") != ""
	for _, s := range topic.shared {
		filetest.Write(t, s.file, s.text)
	}
	for i := range c.steps {
		s := &c.steps[i]
		if s.file != "" {
			filetest.Write(t, s.file, s.text)
			continue
		}
		got := oneEnd(k.normalize(dir, k.command(t, s.command)))
		if update {
			s.text = got
		} else if diff := cmp.Diff(s.text, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", s.command, diff)
		}
	}
}

// command carries out a command line and returns what the terminal shows.
func (k *mistakeKit) command(t *testing.T, line string) string {
	t.Helper()
	rest, quiet := strings.CutSuffix(line, " >/dev/null")
	input := ""
	if before, after, ok := strings.Cut(rest, " | "); ok {
		text, err := shellwords.Parse(before)
		if err != nil || text[0] != "echo" {
			t.Fatalf("%s: got %q for input, %v, want an echo", line, text, err)
		}
		input, rest = strings.Join(text[1:], " ")+"\n", after
	}
	words, err := shellwords.Parse(rest)
	if err != nil {
		t.Fatalf("%s: %s", line, err)
	}
	environ := os.Environ()
	for len(words) > 0 && strings.Contains(words[0], "=") {
		environ = append(environ, words[0])
		words = words[1:]
	}
	if len(words) == 2 && words[0] != "mayfly" {
		if err := changeFiles(words[0], words[1]); err != nil {
			t.Fatalf("%s: %s", line, err)
		}
		return ""
	}
	if len(words) == 0 || words[0] != "mayfly" {
		t.Fatalf("%s: got %q, want a command of the catalog", line, words)
	}
	var terminal bytes.Buffer
	code := run(context.Background(), words[1:], environment{
		Stdin: strings.NewReader(input), Stdout: &terminal, Stderr: &terminal, Environ: environ,
		Notify: func(chan<- os.Signal) func() { return func() {} },
	})
	if quiet {
		if code != exitOK {
			t.Fatalf("%s: exit status: got %d, want %d\n%s", line, code, exitOK, terminal.String())
		}
		return ""
	}
	if code != exitOK {
		fmt.Fprintf(&terminal, "[exit status %d]\n", code)
	}
	return terminal.String()
}

func changeFiles(command, path string) error {
	switch command {
	case "mkdir":
		return os.MkdirAll(path, 0o755)
	case "touch":
		return os.WriteFile(path, nil, 0o644)
	case "rm":
		return os.RemoveAll(path)
	}
	return fmt.Errorf("unknown command %q", command)
}

// passing are the parts of the output that differ from run to run, with what is shown instead.
var passing = []struct {
	pattern func() *regexp.Regexp
	instead string
}{
	{pattern.New(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "00000000-0000-0000-0000-000000000000"},
	{pattern.New(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.:]*(Z| \+0000 UTC)`), "2000-01-01T00:00:00Z"},
	{pattern.New(` after \d+s`), " after 0s"},
	{pattern.New(`\.\d+\.tmp\b`), ".0.tmp"},
}

func (k *mistakeKit) normalize(dir, text string) string {
	for _, p := range passing {
		text = p.pattern().ReplaceAllString(text, p.instead)
	}
	text = strings.NewReplacer(dir, "/example", k.mirror, "/mirror", k.home, "/me", install.CurrentPlatform().String(), "linux_amd64").Replace(text)
	lines := strings.Split(text, "\n")
	return strings.Join(slices.Collect(func(yield func(string) bool) {
		for _, line := range lines {
			if !yield(strings.TrimRight(line, " ")) {
				return
			}
		}
	}), "\n")
}
