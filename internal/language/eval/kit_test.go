package eval

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// kitSchemas is a provider named "sim": thing and data are managed and data types, secret is an ephemeral
// one; all have the same arguments, and sim_only a flag.
type kitSchemas struct{ objects map[string]*schema.Schema }

func newKitSchemas() *kitSchemas {
	only := kitBlock()
	only.Attributes["flag"] = &schema.Attribute{Type: cty.Bool, Computed: true}
	return &kitSchemas{objects: map[string]*schema.Schema{
		"managed sim_thing": {Block: kitBlock()}, "data sim_data": {Block: kitBlock()}, "ephemeral sim_secret": {Block: kitBlock()},
		"managed sim_both": {Block: kitBlock()}, "ephemeral sim_both": {Block: kitBlock()}, "managed sim_only": {Block: only},
	}}
}

func kitBlock() *schema.Block {
	return &schema.Block{
		Attributes: map[string]*schema.Attribute{
			"id":          {Type: cty.String, Computed: true},
			"name":        {Type: cty.String, Optional: true},
			"n":           {Type: cty.Number, Optional: true},
			"list":        {Type: cty.List(cty.String), Optional: true},
			"tags":        {Type: cty.Map(cty.String), Optional: true},
			"any":         {Type: cty.DynamicPseudoType, Optional: true},
			"token":       {Type: cty.String, Computed: true, Sensitive: true},
			"password":    {Type: cty.String, Optional: true},
			"password_wo": {Type: cty.String, Optional: true, WriteOnly: true},
		},
		Blocks: map[string]*schema.NestedBlock{
			"rule": {Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{
				"value": {Type: cty.String, Optional: true}, "value_wo": {Type: cty.String, Optional: true, WriteOnly: true},
			}}},
			"zone": {Nesting: schema.Set, Block: schema.Block{Attributes: map[string]*schema.Attribute{"name": {Type: cty.String, Optional: true}}}},
		},
	}
}

func (k *kitSchemas) Provider(addr.Provider) (*schema.Schema, diag.List) {
	return &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{
		"region": {Type: cty.String, Optional: true}, "key": {Type: cty.String, Optional: true},
	}}}, nil
}

func (k *kitSchemas) Resource(_ addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	return k.objects[modeWord(mode)+" "+typeName], nil
}

func (k *kitSchemas) Types(_ addr.Provider, mode addr.Mode) []string {
	var out []string
	for name := range k.objects {
		if m, typeName, _ := strings.Cut(name, " "); m == modeWord(mode) {
			out = append(out, typeName)
		}
	}
	slices.Sort(out)
	return out
}

func (k *kitSchemas) Functions(addr.Provider) (map[string]*schema.Function, diag.List) {
	return map[string]*schema.Function{"twice": {Params: []schema.FunctionParam{{Name: "s", Type: cty.String}}, Return: cty.String}}, nil
}

func modeWord(m addr.Mode) string {
	return map[addr.Mode]string{addr.Managed: "managed", addr.Data: "data", addr.Ephemeral: "ephemeral"}[m]
}

// kitHost makes objects out of configurations, and logs what it is asked.
type kitHost struct {
	unknownIDs bool
	// watchful counts openings as sessions of their task: from the first opening on nothing durable may be
	// asked for.
	watchful bool

	mu         sync.Mutex
	log        []string
	opened     map[string]int
	live       map[string]int
	sessions   map[*future.Task]int
	violations []string // durable results that were asked for inside a session
}

func (h *kitHost) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *kitHost) within(t *future.Task, by int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[t] += by
}

// evalIn evaluates the body of an instance as an engine does: prepare, then a session.
func (h *kitHost) evalIn(t *future.Task, in *Instance) (cty.Value, diag.List) {
	in.Prepare(t)
	s := h.session()
	defer s.End()
	h.within(t, 1)
	defer h.within(t, -1)
	return in.EvalBody(t, s.Opened)
}

func (h *kitHost) Result(t *future.Task, in *Instance) cty.Value {
	h.note("%s", in.Addr())
	h.mu.Lock()
	if h.sessions[t] > 0 {
		h.violations = append(h.violations, in.Addr().String())
	}
	h.mu.Unlock()
	block := in.Resource.Block.Schema.Block
	if in.Run().Phase() == Validating {
		return cty.UnknownVal(block.Type())
	}
	v, diags := h.evalIn(t, in)
	in.Run().Report(diags)
	if diags.HasErrors() {
		return cty.UnknownVal(block.Type())
	}
	return h.object(in, v, "id:"+in.Addr().String())
}

func (h *kitHost) object(in *Instance, v cty.Value, id string) cty.Value {
	v, _ = v.UnmarkDeep()
	attrs := v.AsValueMap()
	attrs["id"], attrs["token"] = cty.StringVal(id), cty.StringVal("token:"+in.Addr().String())
	if h.unknownIDs {
		attrs["id"] = cty.UnknownVal(cty.String)
	}
	attrs["password_wo"] = cty.NullVal(cty.String)
	attrs["token"] = attrs["token"].Mark(value.Sensitive)
	return cty.ObjectVal(attrs)
}

// kitSession opens what an evaluation lacks, and closes it at its end.
type kitSession struct {
	*Opened
	host  *kitHost
	after []func()
}

func (h *kitHost) session() *kitSession {
	s := &kitSession{host: h}
	s.Opened = NewOpened(s)
	return s
}

// Open implements Opener.
func (s *kitSession) Open(t *future.Task, needs []Need) {
	for _, n := range needs {
		if !s.Has(n.Instance) {
			leave := t.Enter(n.Instance, n.Via)
			s.Add(n.Instance, s.open(t, n.Instance))
			leave()
		}
	}
}

func (s *kitSession) open(t *future.Task, in *Instance) cty.Value {
	a, h := in.Addr().String(), s.host
	h.note("open %s", a)
	inner := h.session()
	v, diags := in.EvalBody(t, inner.Opened)
	in.Run().Report(diags)
	h.mu.Lock()
	h.opened[a]++
	h.live[a]++
	n := h.opened[a]
	h.mu.Unlock()
	s.after = append(s.after, func() {
		h.mu.Lock()
		h.live[a]--
		h.mu.Unlock()
		inner.End()
	})
	if h.watchful {
		h.within(t, 1)
		s.after = append(s.after, func() { h.within(t, -1) })
	}
	if diags.HasErrors() {
		return Unopened(in)
	}
	return h.object(in, v, fmt.Sprintf("open:%s#%d", a, n)).Mark(value.Ephemeral)
}

func (s *kitSession) End() {
	s.Drop()
	for _, f := range s.after {
		f()
	}
	s.after = nil
}

func (h *kitHost) WithOpened(_ *future.Task, _ *Value, f func(*Opened)) {
	s := h.session()
	defer s.End()
	f(s.Opened)
}

func (h *kitHost) ConfiguredFunctions(*future.Task, *ProviderObject) (map[string]*schema.Function, bool) {
	return nil, true
}

func (h *kitHost) CallFunction(_ *future.Task, c FunctionCall) (cty.Value, error) {
	arg, _ := c.Args[0].Unmark()
	if s := arg.AsString(); s != "fail" {
		return cty.StringVal(s + s), nil
	}
	return cty.NilVal, fmt.Errorf("%s cannot take that", c.Name)
}

// taken returns the log, sorted, and empties it.
func (h *kitHost) taken() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.log)
	out := strings.Join(h.log, " ")
	h.log = nil
	return out
}

// world is a configuration with a run over it.
type world struct {
	tb   testing.TB
	cfg  *blocks.Config
	run  *Run
	host *kitHost
	task *future.Task
}

var kitFunctions = sync.OnceValue(func() map[string]function.Function { return funcs.Table(funcs.Options{}) })

// files splits a text with "-- name --" lines into files; without any it is main.tf.
func files(text string) fstest.MapFS {
	out := fstest.MapFS{}
	name, body := "main.tf", []string{}
	flush := func() { out[name] = &fstest.MapFile{Data: []byte(strings.Join(body, "\n"))} }
	for line := range strings.SplitSeq(text, "\n") {
		if after, ok := strings.CutPrefix(line, "-- "); ok {
			flush()
			name, body = strings.TrimSuffix(after, " --"), nil
			continue
		}
		body = append(body, line)
	}
	flush()
	return out
}

// compile loads and compiles; diagnostics of both are returned as text.
func compile(tb testing.TB, text string) (*blocks.Config, diag.List) {
	tb.Helper()
	tree, diags := (&config.Loader{FS: files(text)}).Load(".")
	if diags.HasErrors() {
		tb.Fatalf("the configuration does not load:\n%s", lines(diags))
	}
	cfg, more := blocks.Compile(tree, newKitSchemas())
	return cfg, append(diags, more...)
}

func open(tb testing.TB, phase Phase, text string, vars map[string]cty.Value) *world {
	tb.Helper()
	cfg, diags := compile(tb, text)
	if diags.HasErrors() {
		tb.Fatalf("the configuration does not compile:\n%s", lines(diags))
	}
	return cfgWorld(tb, cfg, phase, vars)
}

func cfgWorld(tb testing.TB, cfg *blocks.Config, phase Phase, vars map[string]cty.Value) *world {
	h := &kitHost{opened: map[string]int{}, live: map[string]int{}, sessions: map[*future.Task]int{}}
	run := NewRun(cfg, Options{Phase: phase, Host: h, Result: h.Result, Variables: vars, Functions: kitFunctions(), Workspace: "default", RootDir: ".", WorkDir: "/w"})
	return &world{tb: tb, cfg: cfg, run: run, host: h, task: &future.Task{}}
}

func planned(tb testing.TB, text string) *world { return open(tb, Planning, text, nil) }

// output returns the text of a root output.
func (w *world) output(name string) string {
	return show(w.run.Root.Output(name).Get(w.task, nil, nil))
}

// local returns the text of a local of the root module, evaluated in a session.
func (w *world) local(name string) string {
	return show(w.run.Root.locals[name].Get(w.task, NewOpened(nil), nil))
}

func (w *world) errors() string { return lines(w.run.Diags.List()) }

func (w *world) clean() {
	w.tb.Helper()
	if e := w.errors(); e != "" {
		w.tb.Errorf("diagnostics: got\n%s\nwant none", e)
	}
	if len(w.host.violations) > 0 {
		w.tb.Errorf("durable results were asked for inside a session: %v", w.host.violations)
	}
}

// oneWarning fails the test unless a single warning was all that was reported.
func (w *world) oneWarning(summary string) {
	w.tb.Helper()
	if got := w.run.Diags.List(); len(got) != 1 || got[0].Severity != diag.Warning || got[0].Summary != summary {
		w.tb.Errorf("diagnostics:\n%s\nwant the one warning %q", w.errors(), summary)
	}
}

func (w *world) instance(a string) *Instance {
	w.tb.Helper()
	i, err := addr.ParseInstance(a)
	if err != nil {
		w.tb.Fatal(err)
	}
	m := w.run.Module(i.Module)
	if m == nil || m.resources[i.Resource] == nil {
		w.tb.Fatalf("no %s", a)
	}
	return m.resources[i.Resource].Instance(i.Key)
}

func (w *world) deps(a string) string {
	w.tb.Helper()
	var out []string
	for _, d := range w.instance(a).Deps(w.task) {
		s := d.Resource.Instance(d.Key).String()
		if d.All {
			s = d.Resource.String() + "[*]"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func useTexts(uses []Use) string {
	var out []string
	for _, u := range uses {
		switch u.Kind {
		case UseInstance:
			out = append(out, u.Instance.String())
		case UseResource:
			out = append(out, u.Instance.String()+"[*]")
		case UseBlock:
			out = append(out, "block "+u.Block.String())
		case UseProvider:
			out = append(out, u.Provider.String())
		case UseConfiguration:
			out = append(out, strings.TrimSpace("config "+u.Provider.Provider.Type+" "+u.Provider.Alias))
		default:
			out = append(out, "source "+u.Provider.Provider.Type)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// everything demands all of a module and of those below it, as a planner or validator does.
func (w *world) everything(t *future.Task, m *Module) {
	m.CheckVariables(t, nil)
	if w.run.Phase() == Validating {
		pool := future.NewPool(1)
		m.ValidateProviders(pool, t, func(addr.ProviderConfig, cty.Value) diag.List { return nil })
		pool.Wait()
		m.ValidateValues(t)
	} else {
		for _, o := range m.Outputs() {
			w.value(t, o)
		}
		m.OutputPreconditions(t, nil)
	}
	for _, c := range m.Calls() {
		for _, child := range c.Children(t, nil) {
			w.everything(t, child)
		}
	}
	for _, r := range m.Resources() {
		instances, _ := r.Instances(t)
		for _, in := range instances {
			w.demand(t, in)
		}
	}
}

func (w *world) value(t *future.Task, v *Value) {
	v.Prepare(t)
	v.Get(t, NewOpened(nil), nil)
}

func (w *world) demand(t *future.Task, in *Instance) {
	in.Provider(t)
	if w.run.Phase() == Validating {
		o := NewOpened(nil)
		_, diags := in.EvalBody(t, o)
		w.run.Report(diags)
		in.Preconditions(t, o)
		in.Postconditions(t, o, cty.UnknownVal(in.Resource.Block.Schema.Block.Type()))
		return
	}
	if in.Config().Addr.Mode != addr.Ephemeral {
		in.Value(t, nil)
	}
}

// lines renders diagnostics one a line, sorted.
func lines(diags diag.List) string {
	var out []string
	for _, d := range diags {
		s := d.Severity.String() + ": "
		if d.Address != "" {
			s += d.Address + ": "
		}
		out = append(out, s+strings.ReplaceAll(d.String(), "\n", "\\n"))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// show renders a value with its marks: e for ephemeral, s for sensitive, d for deprecated.
func show(v cty.Value) string {
	if v == cty.NilVal {
		return "nil"
	}
	if v.IsMarked() {
		raw, marks := v.Unmark()
		var words []string
		for m := range marks {
			switch m := m.(type) {
			case value.Mark:
				if m != value.EphemeralType { // which is about the type
					words = append(words, string(m)[:1])
				}
			case value.Deprecated:
				words = append(words, "d")
			}
		}
		sort.Strings(words)
		return strings.Join(words, "") + "(" + show(raw) + ")"
	}
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return "unknown"
	case v.IsNull():
		return "null"
	case ty == cty.String:
		return fmt.Sprintf("%q", v.AsString())
	case ty == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case ty == cty.Bool:
		return fmt.Sprint(v.True())
	case ty.IsObjectType() || ty.IsMapType():
		var parts []string
		all := v.AsValueMap()
		for _, k := range slices.Sorted(maps.Keys(all)) {
			parts = append(parts, k+":"+show(all[k]))
		}
		return "{" + strings.Join(parts, " ") + "}"
	default:
		var parts []string
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			parts = append(parts, show(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
}

func replaceExpr(text, expr string) string { return strings.Replace(text, "EXPR", expr, 1) }
