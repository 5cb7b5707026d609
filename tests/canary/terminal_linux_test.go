package canary

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/pty"
)

// TestNothingLeaksOfWhatIsTyped types values at the prompts of ephemeral variables, which must not be echoed,
// and in the console, whose history must not be kept.
func TestNothingLeaksOfWhatIsTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t, shipped, "main")
	s.follow(nil)
	typed := strings.ReplaceAll(s.values.typed, "\t", "") // which completes names
	for _, dialog := range []struct{ args, prompt, typed string }{
		{"apply TYPED -auto-approve", "Enter a value:", typed},
		{"console VARS", "> ", "var.by_env == \"" + typed[:26] + "\""},
	} {
		screen := s.typing(dialog.args, dialog.prompt, dialog.typed)
		if dialog.prompt != "> " {
			s.search(dialog.args, map[string][]byte{"the terminal": []byte(screen)})
		} else {
			s.search(dialog.args, nil)
		}
	}
	s.report()
}

// typing runs a command on a terminal, types a line when it asks for one, and ends the input. It returns what
// the terminal showed.
func (s *site) typing(args, prompt, line string) string {
	s.Helper()
	master, slave := pty.Open(s)
	screen := pty.Watch(master)
	words, env := s.commandLine(args)
	cmd := exec.CommandContext(s.Context(), s.binary, words...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.at("work"), slave, slave, slave
	cmd.Env = append(append(s.env[:len(s.env):len(s.env)], env...), "TERM=xterm")
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.until(func() bool { return strings.Contains(screen.String(), prompt) && !pty.Echoes(s, slave) })
	if _, err := master.WriteString(line + "\r\x04"); err != nil {
		s.Fatal(err)
	}
	err := cmd.Wait()
	time.Sleep(50 * time.Millisecond) // until the rest is on the screen
	if err != nil {
		s.Errorf("mayfly %s: %s\n%s", args, err, s.readable(screen.String()))
	}
	s.learn()
	return screen.String()
}
