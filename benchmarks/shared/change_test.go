//go:build unix

package shared

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/work"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

var (
	objects = flag.Int("objects", 2000, "objects in the state of which one is changed, in blocks of 100")
	full    = flag.Bool("full", true, "make full plans of it, too")
)

// inBlocks returns a configuration of a number of objects: modules of 50 blocks, or one of fewer.
func inBlocks(n int) work.Rows {
	const instances, blocks = 100, 50
	return work.Rows{Modules: max(1, n/(instances*blocks)), Blocks: min(blocks, max(2, n/instances)), Instances: instances}
}

// changing is a state with one object to be changed.
type changing struct {
	testing.TB
	work.Rows
	dir   string
	env   []string
	url   string // through the proxy, which counts
	proxy *tcpproxy.Proxy
}

// write writes the configuration.
func (c *changing) write(first string) {
	for name, text := range c.Files(first) {
		filetest.Write(c, filepath.Join(c.dir, name), text)
	}
}

// run runs a command that has to succeed, logs its cost, and returns what it has printed. The processor
// time is the sum of the program's and its provider's, and the memory is the larger process's. Round trips
// and bytes are counted for plans with the scope of a change alone: a proxy would keep much of a whole state
// for itself, so that the server takes a slow reader for one that has stopped.
func (c *changing) run(name string, args ...string) string {
	c.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	before, began := c.proxy.Counts(), time.Now()
	if err := cmd.Run(); err != nil {
		c.Fatalf("mayfly %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	wall, after, used := time.Since(began), c.proxy.Counts(), cmd.ProcessState
	if usage, is := used.SysUsage().(*syscall.Rusage); is {
		c.Logf("| %d | %v | %s | %.2f | %.2f | %d | %d | %d | %s |", c.Modules*c.Blocks*c.Instances, c.Joined, name, wall.Seconds(), (used.UserTime() + used.SystemTime()).Seconds(),
			usage.Maxrss/1024, after.RoundTrips-before.RoundTrips, (after.Bytes[tcpproxy.ToClient]-before.Bytes[tcpproxy.ToClient])/1000, extent.FindString(out.String()))
	}
	return out.String()
}

// extent is the line about a plan with the scope of a change.
var extent = regexp.MustCompile(`Scope: ([^.]*)\.`)

// scoped makes a plan with the scope of a change, which must have so many changes, and returns the number of
// rows that it has read.
func (c *changing) scoped(name string, changes int) (rows int) {
	c.Helper()
	direct := c.env
	c.env = append(slices.Clone(direct), "PG_CONN_STR="+c.url)
	out := c.run(name, "plan", "-scope=changed")
	c.env = direct
	if want := fmt.Sprintf("0 to add, %d to change, 0 to destroy", changes); changes > 0 && !strings.Contains(out, want) {
		c.Fatalf("%s: got\n%s\nwant %s", name, out, want)
	}
	read := regexp.MustCompile(`(\d+) rows\s+read`).FindStringSubmatch(out)
	if read == nil {
		c.Fatalf("%s: got\n%s\nwant the number of rows", name, out)
	}
	rows, err := strconv.Atoi(read[1])
	if err != nil {
		c.Fatal(err)
	}
	return rows
}

// TestChange plans no change of a state, and a change of an object with 20 dependents: with that scope, and
// in full. A plan without changes reads no rows of objects, and one with a change a number of rows that the
// size of the state does not change.
func TestChange(t *testing.T) {
	for _, joined := range []bool{false, true} {
		t.Run(fmt.Sprintf("joined=%v", joined), func(t *testing.T) {
			s := postgres.Start(t)
			proxy := tcpproxy.Start(t, s.Port)
			c := &changing{TB: t, Rows: inBlocks(*objects), dir: t.TempDir(), url: s.URL(proxy.Port), proxy: proxy}
			c.Joined = joined
			c.env = append(os.Environ(), "PG_CONN_STR="+s.URL(0), "NO_COLOR=1")
			c.write("0")
			file, err := os.Create(filepath.Join(c.dir, "state.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.State(file); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			t.Log("| objects | joined outputs | command | s | CPU s | MB | round trips | kB back | scope |")
			c.run("init", "init", "-plugin-dir="+benched)
			c.run("push", "state", "push", "state.json")
			c.run("first apply", "apply", "-auto-approve", "-scope=changed")
			if rows := c.scoped("no change", 0); rows > 30 {
				t.Errorf("no change: got %d rows read, want those of the workspace, of modules with outputs, and few others", rows)
			}
			c.write("other")
			if rows := c.scoped("a change", 1+work.RowsDependents); !joined && rows > 500 {
				t.Errorf("a change: got %d rows read, want 500 at most", rows)
			}
			if *full {
				c.run("a change, in full without refreshing", "plan", "-refresh=false")
				c.run("a change, in full", "plan")
			}
			c.run("an apply of the change", "apply", "-auto-approve", "-scope=changed")
			load, _ := os.ReadFile("/proc/loadavg") // without it, the figures stand alone
			t.Logf("load %s", strings.TrimSpace(string(load)))
		})
	}
}

// serveBenched serves the provider of TestChange if this process is one.
func serveBenched() {
	if strings.HasPrefix(filepath.Base(os.Args[0]), provider.Program) {
		if err := provider.Serve(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s\n", provider.Program, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// mirrorBenched makes a mirror with the provider of TestChange, which is this program, in dir.
func mirrorBenched(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return program.Mirror(filepath.Join(dir, "benched"), provider.Address, "1.0.0", self)
}
