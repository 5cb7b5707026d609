//go:build unix

package ssh_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	gssh "github.com/gliderlabs/ssh"
	"github.com/pkg/sftp"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
)

func TestRun(t *testing.T) {
	t.Parallel()
	_, client := open(t, nil)
	if out, err := run(t, client, "echo one; echo two >&2; printf 'no end\\r'"); err != nil || !strings.Contains(out, "one") || !strings.Contains(out, "two") || !strings.Contains(out, "no end") {
		t.Errorf("output %q, error %v", out, err)
	}
	var exit *ssh.ExitError
	if _, err := run(t, client, "exit 7"); !errors.As(err, &exit) || exit.Status != 7 || ssh.Public(err) != "exit status 7" {
		t.Errorf("exit 7: got %v, want an ExitError with this status", err)
	}
	o := newOutput()
	if err := client.Run(t.Context(), context.Background(), "head -c 200000 /dev/zero | tr '\\0' x; echo; echo after", o.line); err != nil {
		t.Error(err)
	}
	if n := len(strings.Join(o.lines, "")); n != 200000+len("after") || o.lines[len(o.lines)-1] != "after" || len(o.lines) < 4 {
		t.Errorf("long line: got %d lines with %d bytes, want at least 4 with %d, and then \"after\"", len(o.lines), n, 200000+len("after"))
	}
}

// An interrupted command gets a signal, and a moment to end; one that doesn't is killed.
func TestInterruptedCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, command, want string }{
		{"ends", "echo begun; exec sleep 60", "interrupted"},
		{"cleans up", "trap 'echo bye; exit 9' INT; echo begun; while :; do sleep 0.05; done", "exit status 9"},
		{"is killed", "trap '' INT; echo begun; while :; do sleep 0.05; done", "interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, client := open(t, nil)
			soft, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := newOutput()
			go func() {
				<-o.first
				cancel()
			}()
			begin := time.Now()
			err := client.Run(t.Context(), soft, c.command, o.line)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(ssh.Public(err), "interrupted") || time.Since(begin) > 30*time.Second {
				t.Errorf("error = %v after %s", err, time.Since(begin))
			}
		})
	}
}

func TestKilledCommand(t *testing.T) {
	t.Parallel()
	_, client := open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := newOutput()
	go func() {
		<-o.first
		cancel()
	}()
	begin := time.Now()
	err := client.Run(ctx, context.Background(), "trap '' INT; echo begun; sleep 60", o.line)
	if err == nil || time.Since(begin) > 30*time.Second {
		t.Errorf("error = %v after %s", err, time.Since(begin))
	}
}

func TestLostConnection(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	o := newOutput()
	go func() {
		<-o.first
		_ = s.Close()
	}()
	err := client.Run(t.Context(), context.Background(), "echo begun; sleep 60", o.line)
	if err == nil || !strings.Contains(err.Error(), "ended before the command did") {
		t.Errorf("error = %v", err)
	}
}

// A script can be read by its owner alone while it is there, and is gone afterwards, whatever became of it.
func TestRunScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path, script, want, err string }{
		{"success", "", "#!/bin/sh\nls -l $0; echo \"at $0\"", `(?s)^-rwx------.*at /tmp/terraform_\d+\.sh$`, ""},
		{"failure", "s_%RAND%.sh", "#!/bin/sh\necho at $0; exit 3", `^at \./s_\d+\.sh$`, "exit status 3"},
		{"home", "~/a dir's/s.sh", "#!/bin/sh\necho $0", `^a dir's/s\.sh$`, ""},
		{"other interpreter", "s.sh", "#!/bin/cat\ntext", `text`, ""},
		{"no directory", "none/s.sh", "", `^$`, "the directory for it does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, client := open(t, func(conn *ssh.Connection) { conn.ScriptPath = c.path })
			if err := os.Mkdir(filepath.Join(s.home, "a dir's"), 0o755); err != nil {
				t.Fatal(err)
			}
			o := newOutput()
			err := client.RunScript(t.Context(), context.Background(), c.script, o.line)
			if out := strings.Join(o.lines, "\n"); !regexp.MustCompile(c.want).MatchString(out) {
				t.Errorf("output %q", out)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error = %v, want %q", err, c.err)
			}
			nothingLeft(t, s)
		})
	}
}

// nothingLeft checks that no script is on the host: neither in the home directory nor where the commands say
// that it was.
func nothingLeft(t *testing.T, s *server) {
	t.Helper()
	for _, pattern := range []string{"*.sh", "*/*.sh"} {
		if left, _ := filepath.Glob(filepath.Join(s.home, pattern)); len(left) > 0 {
			t.Errorf("left on the host: %q", left)
		}
	}
	for _, name := range regexp.MustCompile(`/tmp/terraform_\d+\.sh`).FindAllString(s.ran(), -1) {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("left on the host: %q", name)
		}
	}
}

func TestInterruptedScript(t *testing.T) {
	t.Parallel()
	s, client := open(t, func(c *ssh.Connection) { c.ScriptPath = "s.sh" })
	soft, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := newOutput()
	go func() {
		<-o.first
		cancel()
	}()
	err := client.RunScript(t.Context(), soft, "#!/bin/sh\necho begun; exec sleep 60", o.line)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error = %v", err)
	}
	nothingLeft(t, s)
}

// What is in the place of a script before is replaced, not followed and not trusted.
func TestScriptIsExclusive(t *testing.T) {
	t.Parallel()
	s, client := open(t, func(c *ssh.Connection) { c.ScriptPath = "s.sh" })
	trap := filepath.Join(s.home, "trap")
	if err := os.WriteFile(trap, []byte("untouched"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("trap", filepath.Join(s.home, "s.sh")); err != nil {
		t.Fatal(err)
	}
	o := newOutput()
	if err := client.RunScript(t.Context(), context.Background(), "#!/bin/sh\necho ran", o.line); err != nil || strings.Join(o.lines, "") != "ran" {
		t.Errorf("RunScript: got the output %q, %v, want \"ran\"", o.lines, err)
	}
	if text, _ := os.ReadFile(trap); string(text) != "untouched" {
		t.Errorf("file behind the link: got %q, want \"untouched\"", text)
	}
}

// creations is a file server that refuses to open and to remove anything, and remembers how files were to be
// opened.
type creations struct{ flags []sftp.FileOpenFlags }

func (c *creations) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	c.flags = append(c.flags, r.Pflags())
	return nil, os.ErrPermission
}

func (c *creations) Fileread(*sftp.Request) (io.ReaderAt, error)   { return nil, os.ErrPermission }
func (c *creations) Filecmd(*sftp.Request) error                   { return os.ErrPermission }
func (c *creations) Filelist(*sftp.Request) (sftp.ListerAt, error) { return nil, os.ErrPermission }

// A script is put into a file that it makes itself, also where what was in its place could not be removed.
func TestScriptMakesItsFile(t *testing.T) {
	t.Parallel()
	var c creations
	s := serve(t, password("p"), func(s *gssh.Server) {
		s.SubsystemHandlers["sftp"] = func(sess gssh.Session) {
			srv := sftp.NewRequestServer(sess, sftp.Handlers{FileGet: &c, FilePut: &c, FileCmd: &c, FileList: &c})
			_ = srv.Serve()
		}
	})
	conn := &ssh.Connection{Target: s.host()}
	conn.Target.Password = ssh.NewSecret("p")
	err := dial(t, conn).RunScript(t.Context(), context.Background(), "", func(string) {})
	if err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("error = %v", err)
	}
	for _, f := range c.flags {
		if !f.Excl || !f.Creat {
			t.Errorf("opened with %+v", f)
		}
	}
	if len(c.flags) == 0 {
		t.Error("no file was opened")
	}
}

// A script that stays on the host is reported.
func TestScriptThatStays(t *testing.T) {
	t.Parallel()
	_, client := open(t, func(c *ssh.Connection) { c.ScriptPath = "s.sh" })
	o := newOutput()
	// In the script's place is a directory that is not empty when it is to be removed.
	if err := client.RunScript(t.Context(), context.Background(), "#!/bin/sh\nrm $0; mkdir -p $0/x", o.line); err != nil {
		t.Error(err)
	}
	if len(o.lines) != 1 || !strings.Contains(o.lines[0], "could not be removed") {
		t.Errorf("output: got %q, want one line about a script that could not be removed", o.lines)
	}
}

func TestNoFileTransfer(t *testing.T) {
	t.Parallel()
	s := serve(t, password("p"), func(s *gssh.Server) { s.SubsystemHandlers = map[string]gssh.SubsystemHandler{} })
	c := &ssh.Connection{Target: s.host()}
	c.Target.Password = ssh.NewSecret("p")
	err := dial(t, c).RunScript(t.Context(), context.Background(), "", func(string) {})
	if err == nil || !strings.Contains(err.Error(), "Subsystem sftp") {
		t.Errorf("error = %v", err)
	}
}
