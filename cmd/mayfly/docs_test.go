package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/script"
	"github.com/mayfly-iac/mayfly/internal/testing/tfeserver"
)

// TestDocumentedExamples runs the examples of the guides and looks for each line that a guide shows below a
// command in the output of this command.
func TestDocumentedExamples(t *testing.T) {
	var all []*walkthrough
	for _, guide := range []struct {
		name     string
		whole    bool // one session from the beginning to the end, instead of one for each example
		postgres bool
	}{
		{name: "ephemerality"},
		{name: "encryption"},
		{name: "testing"},
		{name: "rounds", whole: true},
		{name: "secrets-out-of-the-state", whole: true},
		{name: "tutorial", whole: true, postgres: true},
		{name: "migrate-from-opentofu", whole: true},
		{name: "migrate-from-terraform", whole: true, postgres: true},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", guide.name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		found := walkthroughs(t, guide.name, string(text), guide.whole)
		if len(found) == 0 {
			t.Errorf("%s.md has no examples", guide.name)
		}
		for _, s := range found {
			s.postgres = guide.postgres
			if guide.name == "migrate-from-terraform" {
				s.begin += service(t, filepath.Join(left(t, guide.name), "terraform.tfstate"))
			}
		}
		all = append(all, found...)
	}
	runWalkthroughs(t, all)
}

// walkthrough is a part of a document that a reader works through in one directory, with one shell.
type walkthrough struct {
	name     string
	begin    string          // what the script does before the shell starts in the directory "work"
	shell    strings.Builder // what the shell is given
	checks   strings.Builder // what the script looks for in the outputs
	end      string          // what the script does at last
	commands int
	repeated bool // each command runs twice, and then all of them once more
	postgres bool // it needs a PostgreSQL server
}

var (
	fence    = pattern.New("(?ms)^```([a-z]+)\n(.*?)^```$|^##+ ([^\n]*)$")
	fileLine = pattern.New(`^# (\S+\.(?:tf|hcl|tfvars))\n`)
	nonWord  = pattern.New(`\W+`)
	spaces   = pattern.New(` +`)
	duration = pattern.New(`after \d+s`)
	uuid     = pattern.New(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// walkthroughs reads the fenced blocks of a document: hcl is a file that is written, console are commands and
// what they print, sh commands alone. A text block is not run. Unless the whole document is one session, each
// has files, the commands after them, and ends at the next file or heading.
func walkthroughs(t *testing.T, name, text string, whole bool) []*walkthrough {
	t.Helper()
	var out []*walkthrough
	heading, open := "", false
	for _, m := range fence().FindAllStringSubmatch(text, -1) {
		kind, body := m[1], m[2]
		if m[3] != "" {
			heading, open = m[3], open && whole
			continue
		}
		if kind == "text" {
			continue
		}
		if !open {
			s := &walkthrough{name: fmt.Sprintf("%s_%02d", name, len(out)), begin: "mkdir work\n"}
			if whole {
				s.begin += "env COLUMNS=\n" // it shows lines as they are broken
			} else {
				s.name += "_" + nonWord().ReplaceAllString(heading, "_")
			}
			out, open = append(out, s), true
		}
		s := out[len(out)-1]
		switch kind {
		case "hcl":
			file := fileLine().FindStringSubmatch(body)
			if file == nil {
				t.Fatalf("%s: a snippet below %q doesn't begin with the name of its file", name, heading)
			}
			fmt.Fprintf(&s.shell, "mkdir -p \"$(dirname '%[1]s')\"\ncat >'%[1]s' <<'END OF THE FILE'\n%[2]sEND OF THE FILE\n", file[1], cheap(body))
		case "console":
			s.console(t, body)
			open = whole
		case "sh":
			s.command("set -eu\n"+body, "")
		default:
			t.Fatalf("%s: a snippet below %q is neither hcl nor console, sh or text", name, heading)
		}
	}
	return out
}

var derived = pattern.New(`(?m)^ *key_provider "pbkdf2" "\w+" {$`)

// cheap returns a configuration in which keys are derived from passphrases with less work than by default.
// Most of the time of the walkthroughs went into that, and nothing of it can be seen in them.
func cheap(text string) string {
	return derived().ReplaceAllString(text, "$0\niterations = 200000\nhash_function = \"sha256\"")
}

// console adds commands and what they print.
func (s *walkthrough) console(t *testing.T, body string) {
	t.Helper()
	for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
		command, expected, _ := strings.Cut(strings.TrimRight(part, "\n"), "\n")
		if m := otherEngine().FindStringSubmatch(command); m != nil && !s.hasEngine(m[1]) {
			s.instead(t)
			continue
		}
		s.command(command, expected)
	}
}

// otherEngine finds commands of the programs that Mayfly replaces. MAYFLY_TEST_TOFU and
// MAYFLY_TEST_TERRAFORM are their paths.
var otherEngine = pattern.New(`^(tofu|terraform) `)

// hasEngine reports whether an engine can be run, and puts it on the PATH.
func (s *walkthrough) hasEngine(name string) bool {
	file := os.Getenv("MAYFLY_TEST_" + strings.ToUpper(name))
	if file == "" {
		return false
	}
	settings := "env PATH=" + filepath.Dir(file) + ":$PATH\nenv TF_CLI_ARGS_apply=-no-color\nenv TF_CLI_ARGS_plan=-no-color\n"
	if !strings.Contains(s.begin, settings) {
		s.begin += settings
	}
	return true
}

// instead replaces commands of an engine that cannot be run here by the files that they have left elsewhere.
// Later ones, which only read, are left out.
func (s *walkthrough) instead(t *testing.T) {
	t.Helper()
	const comment = "# what the other engine has left\n"
	if !strings.Contains(s.shell.String(), comment) {
		fmt.Fprintf(&s.shell, "%scp -R '%s/.' .\n", comment, left(t, strings.TrimSuffix(s.name, "_00")))
	}
}

// left returns the directory of what another engine has left when it was run as a guide says.
func left(t *testing.T, guide string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "guides", guide))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// service starts a service with the API of HCP Terraform, whose workspace "app" has a state, and returns the
// lines of a script that let app.terraform.io be that service.
func service(t *testing.T, stateFile string) string {
	t.Helper()
	content, err := os.ReadFile(stateFile)
	if err != nil {
		t.Fatal(err)
	}
	server := tfeserver.Start(t)
	server.Workspaces["app"] = &tfeserver.Workspace{
		Name: "app", ID: "ws-app", Mode: "local", Project: tfeserver.Project,
		States: []*tfeserver.State{{ID: "sv-app", Serial: 3, Content: content}},
	}
	settings := filepath.Join(t.TempDir(), "settings.tfrc")
	filetest.Write(t, settings, fmt.Sprintf("host \"app.terraform.io\" {\n  services = { \"tfe.v2\" = %q }\n}\n", server.API()))
	return "env TF_CLI_CONFIG_FILE=" + settings + "\nenv TF_TOKEN_app_terraform_io=" + tfeserver.Token + "\n"
}

// command adds a command. Each line of the expected output but "..." must be somewhere in its output, which
// is in a file of its own, with the exit status behind it.
func (s *walkthrough) command(command, expected string) {
	s.commands++
	fmt.Fprintf(&s.shell, "{ %s\n} >\"$OUT/%[2]d\" 2>&1\necho \"exit status $?\" >>\"$OUT/%[2]d\"\n", command, s.commands)
	for line := range strings.Lines(expected) {
		if line = strings.TrimSpace(line); line == "" || line == "..." {
			continue
		}
		pattern := duration().ReplaceAllString(regexp.QuoteMeta(line), `after \d+s`)
		pattern = spaces().ReplaceAllString(pattern, " +")
		pattern = strings.ReplaceAll(pattern, ownName+" +", "(?:"+ownName+"|OpenTofu) +") // it shows what a terminal gets
		pattern = uuid().ReplaceAllString(pattern, `[0-9a-f-]{36}`)
		s.check(pattern)
	}
	if strings.HasPrefix(expected, "Error:") {
		s.check("^exit status [1-9]")
	} else {
		s.check("^exit status 0$")
	}
}

// check looks for a pattern in the output of the last command.
func (s *walkthrough) check(pattern string) {
	fmt.Fprintf(&s.checks, "grep '%s' out/%d\n", strings.ReplaceAll(pattern, "'", "''"), s.commands)
}

// text returns the script. All commands are repeated but those with a saved plan, which can be applied once.
// Its shell prints what its commands have printed, which the log of a failure shows.
func (s *walkthrough) text() string {
	const begin = "OUT=$PWD/out\nmkdir \"$OUT\"\ntrap 'for f in \"$OUT\"/*; do echo \"== $f\"; cat \"$f\"; done' EXIT\n"
	const twice = `if [ "$1" = twice ]; then
	export OUT MAYFLY="$(command -v mayfly)"
	mkdir twice
	printf '#!/bin/sh\n"$MAYFLY" "$@" || exit\ncase "$*" in *" saved.plan") ;; *) "$MAYFLY" "$@" >>"$OUT/again" 2>&1 ;; esac\n' >twice/mayfly
	chmod +x twice/mayfly
	PATH=$PWD/twice:$PATH
fi
`
	run := "exec sh session\n" + s.checks.String()
	if s.repeated {
		run = "exec sh session twice\n" + s.checks.String() + "exec rm -r out\n" + run
	}
	return s.begin + run + s.end + "-- session --\n" + begin + twice + "cd -P work\n" + s.shell.String()
}

// runWalkthroughs runs each walkthrough as a subtest. One that needs PostgreSQL finds a server of its
// own in PG_CONN_STR, and is skipped, with the reason, where none can be started.
func runWalkthroughs(t *testing.T, all []*walkthrough) {
	t.Helper()
	run := func(t *testing.T, some []*walkthrough, environment string) {
		dir := t.TempDir()
		for _, s := range some {
			filetest.Write(t, filepath.Join(dir, s.name+".txtar"), environment+s.text())
		}
		script.Run(t, dir)
	}
	for _, s := range all {
		if s.postgres {
			t.Run("PostgreSQL", func(t *testing.T) {
				server := postgres.Start(t)
				run(t, []*walkthrough{s}, fmt.Sprintf("env PG_CONN_STR=%s PGHOST=127.0.0.1 PGPORT=%d PGUSER=test PGSSLMODE=disable\n", server.URL(0), server.Port))
			})
		}
	}
	if plain := slices.DeleteFunc(all, func(s *walkthrough) bool { return s.postgres }); len(plain) > 0 {
		run(t, plain, "")
	}
}
