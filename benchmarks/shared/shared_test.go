//go:build unix

package shared

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

var (
	runs       = flag.Int("runs", 2, "applies at the same time")
	resources  = flag.Int("resources", 3, "resources that each apply changes, one after the other")
	delay      = flag.Duration("delay", 20*time.Millisecond, "time that each change takes")
	instances  = flag.Int("instances", 200, "instances in the state")
	backend    = flag.String("backend", "postgres", "the backend: postgres or pg")
	roundTrips = flag.String("roundtrips", "1ms", "times of round trips, separated by commas")
)

var (
	binary, mirror string
	benched        string // a mirror with the provider of TestChange
)

func TestMain(m *testing.M) {
	serveBenched()
	program.Main(m, func(dir string) error {
		built, err := program.Prepare(dir, simcloud.Source, "1.0.0")
		binary, mirror = built.Mayfly, built.Mirror
		if err == nil {
			benched, err = mirrorBenched(dir)
		}
		return err
	})
}

const resource = `
terraform {
  required_providers {
    sim = { source = "` + simcloud.Source + `" }
  }
}
variable "name" {}
variable "value" {}
variable "delay" {}
resource "sim_thing" "t" {
  count = %d
  name  = "${var.name}-${count.index}"
  delay = var.delay
  tags  = { value = var.value }
}
`

// place is a state of many instances, with a module for each run.
type place struct {
	testing.TB
	cloud, url string
	dirs       []string // of the runs
}

// others returns how many instances of a module have the resources of the state that no run changes.
func others() int { return max(0, *instances / *resources - *runs) }

// files returns the configuration.
func files() map[string]string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "variable \"value\" {}\nvariable \"delay\" {}\nterraform {\n  backend %q {}\n}\n", *backend)
	for i := range *runs {
		fmt.Fprintf(&sb, "module \"m%d\" {\n  source = \"./m\"\n  name = \"m%d\"\n  value = var.value\n  delay = var.delay\n}\n", i, i)
	}
	if n := others(); n > 0 {
		fmt.Fprintf(&sb, "module \"others\" {\n  count = %d\n  source = \"./m\"\n  name = \"other-${count.index}\"\n  value = \"0\"\n  delay = \"0s\"\n}\n", n)
	}
	return map[string]string{"main.tf": sb.String(), "m/main.tf": fmt.Sprintf(resource, *resources)}
}

// newPlace makes the state: the modules by an apply, and the other instances by a push. The directories are
// initialized before, since init reads the state. The server has its statistics then, as one has that was not
// filled just now.
func newPlace(t testing.TB, s *postgres.Server) *place {
	t.Helper()
	p := &place{TB: t, cloud: t.TempDir(), url: s.URL(0)}
	dir := p.machine()
	p.dirs = []string{dir}
	for range *runs - 1 {
		other := filepath.Join(t.TempDir(), "d")
		if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		p.dirs = append(p.dirs, other)
	}
	args := []string{"apply", "-auto-approve", "-parallelism=50", "-var=value=0", "-var=delay=0s"}
	for i := range *runs {
		args = append(args, fmt.Sprintf("-target=module.m%d", i))
	}
	p.must(dir, args...)
	var doc map[string]any
	if err := json.Unmarshal([]byte(p.must(dir, "state", "pull")), &doc); err != nil {
		t.Fatal(err)
	}
	all := doc["resources"].([]any)
	first := all[0].(map[string]any)
	one, err := json.Marshal(first["instances"].([]any)[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range others() {
		var many []any
		for k := range *resources {
			var instance map[string]any
			if err := json.Unmarshal(one, &instance); err != nil {
				t.Fatal(err)
			}
			instance["index_key"] = k
			instance["attributes"].(map[string]any)["name"] = fmt.Sprintf("other-%d-%d", i, k)
			many = append(many, instance)
		}
		all = append(all, map[string]any{"module": fmt.Sprintf("module.others[%d]", i), "mode": "managed", "type": "sim_thing", "name": "t", "provider": first["provider"], "instances": many})
	}
	doc["resources"] = all
	doc["serial"] = doc["serial"].(float64) + 1
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, filepath.Join(dir, "large.json"), string(text))
	p.must(dir, "state", "push", "large.json")
	if err := s.Program("psql", "-q", "-d", p.url, "-c", "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	return p
}

// machine returns an initialized directory.
func (p *place) machine() string {
	p.Helper()
	dir := p.TempDir()
	for name, text := range files() {
		filetest.Write(p, filepath.Join(dir, name), text)
	}
	p.must(dir, "init", "-plugin-dir="+mirror)
	return dir
}

func (p *place) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), simcloud.EnvDir+"="+p.cloud, "PG_CONN_STR="+p.url, "NO_COLOR=1")
	return cmd
}

// must runs a command that has to succeed, and returns its standard output.
func (p *place) must(dir string, args ...string) string {
	p.Helper()
	var errors strings.Builder
	cmd := p.command(dir, args...)
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("mayfly %s: %v\n%s%s", strings.Join(args, " "), err, out, errors.String())
	}
	return string(out)
}

// apply changes the module of a run. It returns the time and the processor time.
func (p *place) apply(dir string, i, value int) (time.Duration, time.Duration, error) {
	began := time.Now()
	cmd := p.command(dir, "apply", "-auto-approve", "-parallelism=1", "-lock-timeout=1h", fmt.Sprintf("-target=module.m%d", i), fmt.Sprint("-var=value=", value), fmt.Sprint("-var=delay=", *delay))
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// TestThroughput has one apply change its module alone, and then all change theirs at the same time.
func TestThroughput(t *testing.T) {
	s := postgres.Start(t)
	p := newPlace(t, s)
	server := func() time.Duration {
		used, err := s.ProcessorTime()
		if err != nil {
			t.Log(err)
		}
		return used
	}
	alone, used, err := p.apply(p.dirs[0], 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	before := server()
	times, processor := make([]time.Duration, *runs), make([]time.Duration, *runs)
	var all sync.WaitGroup
	began := time.Now()
	for i, dir := range p.dirs {
		all.Go(func() {
			var err error
			if times[i], processor[i], err = p.apply(dir, i, 2); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wall := time.Since(began)
	serving := server() - before
	var longest, sum, cpu time.Duration
	for i := range times {
		longest, sum, cpu = max(longest, times[i]), sum+times[i], cpu+processor[i]
	}
	load, _ := os.ReadFile("/proc/loadavg") // without it, the figures stand alone
	t.Logf("%s, %d instances, %d applies of %d resources, %v each: one alone takes %v (processor %v); all take %v, %.2f times as long; the longest of them %v; processor %v in all, and %v of the server; load %s",
		*backend, *instances, *runs, *resources, *delay, alone.Round(time.Millisecond), used, wall.Round(time.Millisecond), float64(wall)/float64(alone), longest.Round(time.Millisecond), cpu, serving, strings.TrimSpace(string(load)))
}

// TestLatency applies one module through a network whose round trips take time.
func TestLatency(t *testing.T) {
	s := postgres.Start(t)
	p := newPlace(t, s)
	dir := p.dirs[0]
	for n, text := range strings.Split("0,"+*roundTrips, ",") {
		took, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		proxy := tcpproxy.Start(t, s.Port)
		proxy.Delay(took)
		p.url = s.URL(proxy.Port)
		measured := func(name string, f func()) {
			before, began := proxy.Counts(), time.Now()
			f()
			after := proxy.Counts()
			t.Logf("round trips of %v, %s: %v, %d round trips, %d kB to the server, %d kB back", took, name, time.Since(began).Round(time.Millisecond),
				after.RoundTrips-before.RoundTrips, (after.Bytes[0]-before.Bytes[0])/1000, (after.Bytes[1]-before.Bytes[1])/1000)
		}
		value := fmt.Sprint("-var=value=", 10+n)
		measured("plan", func() { p.must(dir, "plan", "-target=module.m0", value, "-var=delay=0s") })
		measured(fmt.Sprintf("apply of %d", *resources), func() { p.must(dir, "apply", "-auto-approve", "-target=module.m0", value, "-var=delay=0s") })
	}
}
