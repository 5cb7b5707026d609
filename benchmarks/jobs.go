package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/work"
)

// job is one kind of work at one size.
type job struct {
	name  string
	n     int
	kind  string
	files map[string]string
	env   []string
	steps []step
	init  bool // the configuration needs the plugin
}

// step is one command of a job.
type step struct {
	name  string
	args  []string
	env   []string
	bound time.Duration // the least time that it can take, 0 if that is not known
}

// cycle is a life from nothing to nothing. The plan is not saved, so that all engines do the same for it.
var cycle = []step{
	{name: "plan", args: []string{"plan", "-input=false", "-no-color"}},
	{name: "apply", args: []string{"apply", "-auto-approve", "-input=false", "-no-color"}},
	{name: "no-op", args: []string{"plan", "-input=false", "-no-color"}},
	{name: "destroy", args: []string{"destroy", "-auto-approve", "-input=false", "-no-color"}},
}

// scheduled is a life and the beginning of a second one, in which an engine may know how long the first one
// took. The plans are saved, and each command pauses once for each resource, so that a bound applies to all
// that need the order of the references, and another for the one that does not.
func scheduled(bound, unordered time.Duration) []step {
	const file = "saved.tfplan"
	planning, applying := []string{"plan", "-input=false", "-no-color", "-out=" + file}, []string{"apply", "-input=false", "-no-color", file}
	command := func(name string, args []string, operation string) step {
		return step{name: name, args: args, env: []string{provider.EnvPauses + "=" + operation}, bound: bound}
	}
	destroying := command("plan destroy", append(slices.Clone(planning), "-destroy"), "read")
	destroying.bound = unordered
	return []step{
		command("plan", planning, "plan"), command("apply", applying, "create"), command("no-op", planning, "read"),
		destroying, command("destroy", applying, "delete"),
		command("plan again", planning, "plan"), command("apply again", applying, "create"),
	}
}

// sizes are the sizes in the table, by shape and kind of resource.
var sizes = map[string]map[string][]int{
	"for_each":      {work.Builtin.Name: {500, 1000, 10000}, work.Plugin.Name: {1000}},
	"count":         {work.Builtin.Name: {1000, 4000, 40000}, work.Plugin.Name: {1000}},
	"chained":       {work.Builtin.Name: {1000, 4000}, work.Plugin.Name: {1000}},
	"independent":   {work.Builtin.Name: {4000}, work.Plugin.Name: {4000}},
	"wide":          {work.Builtin.Name: {4000}, work.Plugin.Name: {1000}},
	"modules":       {work.Builtin.Name: {5000}, work.Plugin.Name: {1000}},
	"locals":        {work.Builtin.Name: {1000, 4000}, work.Plugin.Name: {1000}},
	"module-keys":   {work.Builtin.Name: {1000}},
	"module-map":    {work.Builtin.Name: {1000}},
	"lookup":        {work.Builtin.Name: {1000, 4000}},
	"splat":         {work.Builtin.Name: {1000, 4000}},
	"module-lookup": {work.Builtin.Name: {1000}},
	"triggers":      {work.Builtin.Name: {1000}},
	"depends_on":    {work.Builtin.Name: {1000}},
	"large":         {work.Builtin.Name: {10000, 100000}},
}

// The work of the jobs that are not shapes.
const (
	schemaTypes = 1500 // of about 40 kB each
	usedTypes   = 5
	secrets     = 1000
	openMillis  = 20
	tasks       = 120
	opens       = 8
	slowMillis  = 300
)

// jobs returns the jobs that the settings select, in the order of the table.
func jobs(s settings) []job {
	list := []job{{name: "start", steps: []step{{name: "version", args: []string{"version"}}}}}
	for _, shape := range work.Shapes {
		for _, k := range s.kinds {
			for _, n := range s.or(sizes[shape.Name][k.Name]...) {
				list = append(list, job{name: shape.Name, n: n, kind: k.Name, files: shape.Files(n, k), steps: cycle, init: k.Name == work.Plugin.Name})
			}
		}
	}
	for _, n := range s.or(schemaTypes) {
		list = append(list, job{
			name: "schema", n: n, files: work.Types(min(n, usedTypes)), init: true, env: []string{fmt.Sprintf("%s=%d", provider.EnvTypes, n)},
			steps: []step{cycle[0], {name: "plan again", args: cycle[0].args}},
		})
	}
	list = append(list, job{name: "password", n: 1, files: work.Password(), steps: cycle[:2], init: true})
	for _, n := range s.or(secrets) {
		list = append(list, job{name: "secrets", n: n, files: work.Secrets(n, openMillis), steps: cycle[:2], init: true})
	}
	list = append(list, schedules(s)...)
	return slices.DeleteFunc(list, func(j job) bool { return !s.shapes.MatchString(j.name) })
}

// schedules returns the jobs whose time depends on the order in which an engine does the work.
func schedules(s settings) (list []job) {
	for _, n := range s.or(tasks) {
		for _, kind := range []struct {
			name string
			work work.Schedule
		}{{"graph", work.Graph(n)}, {"chain", work.Chain(n)}} {
			steps := scheduled(kind.work.Bound(parallelism), kind.work.Independent().Bound(parallelism))
			list = append(list, job{name: "schedule", n: n, kind: kind.name, files: kind.work.Files(), steps: steps, init: true})
		}
	}
	const bound = slowMillis * time.Millisecond
	steps := scheduled(bound, bound)[:2]
	for i := range steps {
		steps[i].env = []string{provider.EnvPauses + "=open"}
	}
	return append(list, job{name: "schedule", n: opens, kind: "opens", files: work.Opens(opens, slowMillis), steps: steps})
}

// or returns the sizes that were asked for, or else the table's.
func (s settings) or(table ...int) []int {
	if len(s.sizes) > 0 {
		return s.sizes
	}
	return table
}

// legend explains the names.
func legend() []string {
	list := []string{"start: the version command"}
	for _, s := range work.Shapes {
		list = append(list, s.Name+": "+s.What)
	}
	return append(list,
		fmt.Sprintf("schema: %d types of a provider that has n more, with 40 kB of schema each; planned twice", usedTypes),
		"password: a password is needed for one second in the middle of seven seconds of work; it is opened for planning and for applying",
		fmt.Sprintf("secrets: n ephemeral instances that take %d ms to open and as long to close, used by one resource instance each; as often", openMillis),
		"schedule, graph: n resources that take 50 to 600 ms each time they are planned, created, read or deleted, in a random graph",
		"schedule, chain: a chain of n/10 resources that take 250 ms, beside n that take 200 ms",
		fmt.Sprintf("schedule, opens: n ephemeral instances that take %d ms to open, needed together by a resource and by the configuration of a provider", slowMillis),
	)
}

func executable(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
