package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/detach"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/workdir"
)

// Options say which directory to examine, and how.
type Options struct {
	Dir     *workdir.Dir
	Vars    map[string]string // the environment variables
	Program []string          // names and texts about the program, alternating
	Timeout time.Duration     // for each answer that is waited for
}

// examination is the state of Examine. Fields that are set before the first task starts do not change after
// it.
type examination struct {
	Options
	groups  []*group
	network *install.Network
	config  *cliconfig.Config
	damaged bool // the CLI configuration has errors
	env     cliconfig.Environment
	needs   needs

	mu     sync.Mutex
	places map[addr.Provider]*place // where providers were looked for
}

// place sums up the places that a provider may come from.
type place struct {
	asked, failed int
	found         bool
}

// group is a Group in the making: its findings come in the order of its tasks, which run at the same time.
type group struct {
	name, title string
	tasks       []task
}

// task looks at something and may wait for it.
type task struct {
	subject, wayOut string
	run             func(ctx context.Context) []Finding
}

// Examine looks at everything. Requests over the network run at once, and each answer is waited for no longer
// than the timeout. It returns an error only if ctx ends.
func Examine(ctx context.Context, o Options) (*Report, error) {
	x := &examination{Options: o, places: map[addr.Provider]*place{}}
	x.program()
	x.settings()
	x.directory(ctx)
	x.installation()
	x.registries()
	x.cache()
	x.proxies()
	x.credentials()
	x.providers()
	x.backend()
	r := x.carryOut(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.count()
	return r, nil
}

// group begins the next group.
func (x *examination) group(name, title string) *group {
	g := &group{name: name, title: title}
	x.groups = append(x.groups, g)
	return g
}

// add adds findings that are known already.
func (g *group) add(found ...Finding) {
	g.tasks = append(g.tasks, task{run: func(context.Context) []Finding { return found }})
}

// later adds findings that have to be waited for. subject and wayOut are for the finding that there was no
// answer.
func (g *group) later(subject, wayOut string, run func(ctx context.Context) []Finding) {
	g.tasks = append(g.tasks, task{subject, wayOut, run})
}

// carryOut runs the tasks of all groups at the same time.
func (x *examination) carryOut(ctx context.Context) *Report {
	r := &Report{FormatVersion: "1.0", Groups: []Group{}}
	found := make([][][]Finding, len(x.groups))
	var panicked error
	var all sync.WaitGroup
	for i, g := range x.groups {
		found[i] = make([][]Finding, len(g.tasks))
		for j, t := range g.tasks {
			all.Add(1)
			go func() {
				defer all.Done()
				if err := bug.Call(func() { found[i][j] = x.await(ctx, t) }); err != nil {
					x.mu.Lock()
					defer x.mu.Unlock()
					panicked = err
				}
			}()
		}
	}
	all.Wait()
	if panicked != nil {
		panic(panicked)
	}
	for i, g := range x.groups {
		out := Group{Name: g.name, Title: g.title, Findings: slices.Concat(found[i]...)}
		if g.name == "providers" {
			out.Findings = append(out.Findings, x.nowhere()...)
		}
		if len(out.Findings) > 0 {
			r.Groups = append(r.Groups, out)
		}
	}
	return r
}

// await runs one task within the timeout. One that does not end even then is left behind.
func (x *examination) await(ctx context.Context, t task) []Finding {
	ctx, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	found, ended := detach.Run(nil, ctx.Done(), func() []Finding { return t.run(ctx) })
	if !ended {
		return []Finding{problem(t.subject, x.noAnswer(), t.wayOut)}
	}
	return found
}

// noAnswer says that the timeout is over.
func (x *examination) noAnswer() string { return fmt.Sprintf("no answer within %s", x.Timeout) }

// failure returns the text of an error of a request: if the timeout has ended it, the text says so.
func (x *examination) failure(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return x.noAnswer()
	}
	return err.Error()
}

// program says which program this is, and which environment variables affect it.
func (x *examination) program() {
	g := x.group("program", "Program")
	for i := 0; i+1 < len(x.Program); i += 2 {
		g.add(ok(x.Program[i], "%s", x.Program[i+1]))
	}
	if names := x.variables(); len(names) > 0 {
		g.add(ok("environment", "%s", strings.Join(names, ", ")))
	}
}

// variables returns the names of the environment variables that are in effect for the program, without those
// that give values to input variables and tokens to hosts.
func (x *examination) variables() []string {
	var out []string
	for name, value := range x.Vars {
		own := strings.HasPrefix(name, "TF_") || strings.HasPrefix(name, "MAYFLY_") || strings.HasPrefix(name, "OPENTOFU_")
		if own && value != "" && !strings.HasPrefix(name, "TF_VAR_") && !strings.HasPrefix(name, "TF_TOKEN_") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
