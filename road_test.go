package mayfly_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state/store"
)

// road is the way from the goroutine of an operation to a call of a provider.
type road struct {
	frames, changes int // how many frames, and how often the package changes from one to the next
	text            string
}

var (
	goroutineHeader  = regexp.MustCompile(`(?m)^goroutine (\d+) `)
	goroutineCreator = regexp.MustCompile(`(?m)^created by (\S+) in goroutine (\d+)$`)
	frameLine        = regexp.MustCompile(`(?m)^(\S+?)\(.*\)$`)
	typeArguments    = regexp.MustCompile(`\[.*\]`)
)

// roadHere returns the road to the provider's method that called its caller. It continues in the goroutine
// that started this one, up to a worker of the run.
func roadHere() road {
	text := make([]byte, 1<<22)
	text = text[:runtime.Stack(text, true)]
	stacks := map[string]string{}
	first := ""
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		if m := goroutineHeader.FindStringSubmatch(stack); m != nil {
			stacks[m[1]], first = stack, cmp.Or(first, m[1])
		}
	}
	var r road
	last := ""
	for id := first; id != ""; {
		stack := stacks[id]
		for _, m := range frameLine.FindAllStringSubmatch(stack, -1) {
			name := typeArguments.ReplaceAllString(m[1], "")
			slash := strings.LastIndex(name, "/") + 1
			pkg := name[:slash+strings.Index(name[slash:], ".")]
			if strings.HasSuffix(pkg, "_test") { // the survey itself
				continue
			}
			if last != "" && pkg != last {
				r.changes++
			}
			last = pkg
			r.frames++
			r.text += "\n\t" + name[slash:]
		}
		id = ""
		if m := goroutineCreator.FindStringSubmatch(stack); m != nil && !strings.Contains(m[1], "/future.") {
			id = m[2]
		}
	}
	return r
}

// surveyor launches providers that note the longest road to some of their methods.
type surveyor struct {
	provider.Launcher
	mu    sync.Mutex
	roads map[string]road
}

func (s *surveyor) Launch(ctx context.Context, p addr.Provider) (provider.Provider, diag.List) {
	got, diags := s.Launcher.Launch(ctx, p)
	if got == nil {
		return nil, diags
	}
	return surveyed{got, s}, diags
}

func (s *surveyor) note(method string) {
	r := roadHere()
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.frames > s.roads[method].frames {
		s.roads[method] = r
	}
}

// surveyed is a provider whose calls are noted.
type surveyed struct {
	provider.Provider
	by *surveyor
}

func (s surveyed) PlanResource(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	s.by.note("PlanResource")
	return s.Provider.PlanResource(ctx, req)
}

func (s surveyed) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diag.List) {
	s.by.note("OpenEphemeral")
	return s.Provider.OpenEphemeral(ctx, typeName, config)
}

const secretConfig = `
terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}
ephemeral "keep_password" "p" {}
%s
`

// planSecrets plans the configuration, and returns how many evaluations that took without those of the
// validation before it.
func planSecrets(t *testing.T, launcher provider.Launcher, config string) int64 {
	t.Helper()
	for _, name := range []string{"KEEP_PATH", "KEEP_KEY_FILE", "KEEP_PASSPHRASE"} {
		t.Setenv(name, "")
	}
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "main.tf"), fmt.Sprintf(secretConfig, config))
	manager, err := inmem.New().Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	p, diags := mayfly.Open(t.Context(), mayfly.Options{Dir: dir, Launcher: launcher, State: mayfly.StateOptions{Store: manager}})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	defer p.Close()
	diags = p.Validate(t.Context())
	validation := p.Stats().Evaluations
	op, more := p.Begin(t.Context(), "plan", mayfly.BeginOptions{})
	if diags = append(diags, more...); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	_, diags = op.Plan(t.Context(), mayfly.PlanOptions{})
	if diags = append(diags, op.End()...); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return p.Stats().Evaluations - validation
}

const secretResource = `
resource "keep_secret" "%s" {
  name             = "%[1]s"
  value_wo         = %s
  value_wo_version = 1
}
`

// TestRoad bounds how many frames, and changes of package, there are between the goroutine of an operation
// and a call of a provider. The numbers may only fall.
func TestRoad(t *testing.T) {
	s := &surveyor{Launcher: &mayfly.Launcher{}, roads: map[string]road{}}
	planSecrets(t, s, fmt.Sprintf(secretResource, "a", "ephemeral.keep_password.p.result"))
	for method, most := range map[string]road{"PlanResource": {frames: 17, changes: 9}, "OpenEphemeral": {frames: 30, changes: 11}} {
		got := s.roads[method]
		t.Logf("%s: %d frames, %d changes of package", method, got.frames, got.changes)
		if got.frames == 0 || got.frames > most.frames || got.changes > most.changes {
			t.Errorf("the road to %s has %d frames and %d changes of package, want at most %d and %d:%s", method, got.frames, got.changes, most.frames, most.changes, got.text)
		}
	}
}

// TestEvaluationsOfSecrets bounds how often an operation on a resource evaluates: what the plan of a
// configuration with one more resource, and what it opens, evaluates in addition. The numbers may only fall.
func TestEvaluationsOfSecrets(t *testing.T) {
	const local = "locals {\n  p = ephemeral.keep_password.p.result\n}\n"
	count := func(config string) int64 { return planSecrets(t, &mayfly.Launcher{}, config) }
	resource := func(name, secret string) string { return fmt.Sprintf(secretResource, name, secret) }
	for name, test := range map[string]struct {
		with, without string
		most          int64
	}{
		"plain":           {resource("a", `"plain"`), "", 1},
		"secret":          {resource("a", "ephemeral.keep_password.p.result"), "", 3},
		"through a local": {local + resource("a", "local.p"), local, 5},
	} {
		got := count(test.with) - count(test.without)
		t.Logf("%s: %d evaluations", name, got)
		if got > test.most {
			t.Errorf("%s: %d evaluations, want at most %d", name, got, test.most)
		}
	}
}
