package blockhash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// sample is a random configuration, as slots for expressions. In an expression, @r0@ is an attribute of a
// resource, @R0@ of all of its instances, and @m0@ and @M0@ are the same for modules: how they are written
// depends on the forms.
type sample struct {
	values  [4]string    // expressions of local values
	bodies  [4][2]string // of resources
	elems   [4]string    // in the repetitions of resources
	forms   [4]blocks.Form
	inputs  [2][2]string // of calls
	outputs [2]string    // of the modules
	elemsOf [2]string    // in the repetitions of calls
	keyed   [2]bool      // the call has for_each
	more    [6]bool      // resources and calls that have a second key
	given   [2]string    // values of variables
	content string       // of a file
	place   string       // of the workspace
	shown   bool         // a variable is not sensitive
}

func newSample(r *rand.Rand) *sample {
	s := &sample{content: text(r), place: text(r)}
	for i := range 19 {
		s.edit(r, i)
	}
	return s
}

func text(r *rand.Rand) string { return fmt.Sprint("s", r.IntN(6)) }

// kinds is the number of kinds of edits.
const kinds = 19

// edit changes something at random. Expressions refer to earlier blocks only.
func (s *sample) edit(r *rand.Rand, kind int) {
	i, j := r.IntN(4), r.IntN(2)
	switch kind {
	case 0, 1, 2, 3:
		s.values[kind] = expr(r, 2, s.scope(kind, min(kind, 3), kind/2)...)
	case 4, 5, 6, 7:
		n := kind - 4
		s.bodies[n] = [2]string{expr(r, 2, append(s.scope(n+1, n, n/2), "@each@")...), expr(r, 1, s.scope(n+1, n, n/2)...)}
	case 8, 9, 10, 11:
		s.elems[kind-8] = expr(r, 1, s.scope(kind-7, kind-8, (kind-8)/2)...)
	case 12, 13:
		n := kind - 12
		s.inputs[n] = [2]string{expr(r, 2, append(s.scope(2*n+1, 2*n+1, n), "@each@")...), expr(r, 1, s.scope(2*n+1, 2*n+1, n)...)}
		s.elemsOf[n] = expr(r, 1, s.scope(2*n+1, 2*n+1, n)...)
	case 14:
		s.outputs[j] = expr(r, 2, "var.a", "var.b", "var.free", "local.inner", "sim_thing.in.id", "path.module")
	case 15:
		s.forms[i] = blocks.Form(r.IntN(4))
	case 16:
		s.keyed[j], s.more[r.IntN(6)] = r.IntN(2) == 0, r.IntN(2) == 0
	case 17:
		s.given[j], s.shown = text(r), r.IntN(2) == 0
	default:
		s.content, s.place = text(r), text(r)
	}
	if s.outputs[0] == "" || s.outputs[1] == "" {
		s.outputs = [2]string{"var.a", "var.b"}
	}
}

// scope lists what an expression after so many local values, resources and calls may refer to.
func (s *sample) scope(values, resources, calls int) []string {
	out := []string{"var.v0", "nonsensitive(var.v1)", "terraform.workspace", "path.module", `file("f.txt")`, `templatefile("t.tpl", { x = @x@ })`}
	for i := range min(values, 4) {
		out = append(out, fmt.Sprint("local.l", i))
	}
	for i := range resources {
		out = append(out, fmt.Sprintf("@r%d@", i), fmt.Sprintf("@R%d@", i))
	}
	for i := range calls {
		out = append(out, fmt.Sprintf("@m%d@", i), fmt.Sprintf("@M%d@", i))
	}
	return out
}

// expr returns a random expression for a string.
func expr(r *rand.Rand, depth int, scope ...string) string {
	sub := func() string { return expr(r, depth-1, scope...) }
	if depth == 0 {
		if r.IntN(3) == 0 {
			return `"` + text(r) + `"`
		}
		return strings.ReplaceAll(scope[r.IntN(len(scope))], "@x@", `"`+text(r)+`"`)
	}
	switch r.IntN(12) {
	case 0, 1:
		return `"${` + sub() + `}-${` + sub() + `}"`
	case 2:
		return "upper(" + sub() + ")"
	case 3:
		return "(" + sub() + " == " + sub() + " ? " + sub() + " : " + sub() + ")"
	case 4:
		return "{ k = " + sub() + ", j = " + sub() + ` }["k"]`
	case 5:
		return "[for s in [" + sub() + ", " + sub() + `] : "${s}!"][0]`
	case 6:
		return "jsonencode([" + sub() + ", length(" + sub() + ") + 1, !true])"
	case 7:
		return "try(" + sub() + ", " + sub() + ")"
	case 8:
		return `join(",", [{ a = ` + sub() + " }, { a = " + sub() + " }][*].a)"
	case 9:
		return `"a ${` + sub() + "}%{ if " + sub() + ` == "s1" }x%{ endif }"`
	default:
		return sub()
	}
}

// render writes the configuration.
func (s *sample) render(expr, each string) string {
	for i, form := range s.forms {
		one := map[blocks.Form]string{blocks.Single: "sim_thing.r%d.id", blocks.Counted: "sim_thing.r%d[0].id", blocks.ForEach: `sim_thing.r%d["x"].id`, blocks.Enabled: "sim_thing.r%d.id"}[form]
		all := map[blocks.Form]string{
			blocks.Single: "sim_thing.r%d.name", blocks.Counted: `join(",", sim_thing.r%d[*].name)`,
			blocks.ForEach: `join(",", [for k, x in sim_thing.r%d : "${k}${x.name}"])`, blocks.Enabled: "jsonencode(sim_thing.r%d)",
		}[form]
		expr = strings.NewReplacer(fmt.Sprintf("@r%d@", i), fmt.Sprintf(one, i), fmt.Sprintf("@R%d@", i), fmt.Sprintf(all, i)).Replace(expr)
	}
	for i, keyed := range s.keyed {
		one, all := "module.m%d.out", "jsonencode(module.m%d)"
		if keyed {
			one, all = `module.m%d["x"].out`, `join(",", [for k, m in module.m%d : "${k}${m.out}"])`
		}
		expr = strings.NewReplacer(fmt.Sprintf("@m%d@", i), fmt.Sprintf(one, i), fmt.Sprintf("@M%d@", i), fmt.Sprintf(all, i)).Replace(expr)
	}
	return strings.ReplaceAll(expr, "@each@", each)
}

func (s *sample) setting(dir string) *setting {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%svariable \"v0\" {}\nvariable \"v1\" {\n  sensitive = true\n}\nprovider \"sim\" {\n  region = %s\n}\n", head, s.render(s.values[0], ""))
	for i, x := range s.values {
		fmt.Fprintf(&sb, "locals {\n  l%d = %s\n}\noutput \"l%d\" {\n  value = local.l%d\n  sensitive = %v\n}\n", i, s.render(x, ""), i, i, !s.shown)
	}
	for i, b := range s.bodies {
		each, elem, repeat := `"e"`, s.render(s.elems[i], ""), ""
		more := 1
		if s.more[i] {
			more = 2
		}
		switch s.forms[i] {
		case blocks.Counted:
			repeat, each = fmt.Sprintf("  count = %d + 0 * length(%s)\n", more, elem), `"n${count.index}"`
		case blocks.ForEach:
			repeat, each = "  for_each = { x = "+elem+map[int]string{1: "}\n", 2: ", y = \"y\" }\n"}[more], "each.value"
		case blocks.Enabled:
			repeat = "  lifecycle {\n    enabled = length(" + elem + ") >= 0\n  }\n"
		}
		fmt.Fprintf(&sb, "resource \"sim_thing\" \"r%d\" {\n%s  name = %s\n  password_wo = %s\n  rule {\n    value = %s\n  }\n}\n", i, repeat, s.render(b[0], each), s.render(b[1], ""), s.render(b[1], ""))
	}
	for i, in := range s.inputs {
		each, repeat := `"e"`, ""
		if s.keyed[i] {
			each, repeat = "each.value", "  for_each = { x = "+s.render(s.elemsOf[i], "")+map[bool]string{false: "}\n", true: ", y = \"y\" }\n"}[s.more[4+i]]
		}
		fmt.Fprintf(&sb, "module \"m%d\" {\n  source = \"./m%d\"\n%s  a = %s\n  b = %s\n}\noutput \"m%d\" {\n  value = module.m%d\n}\n", i, i, repeat, s.render(in[0], each), s.render(in[1], ""), i, i)
	}
	for i, x := range s.outputs {
		fmt.Fprintf(&sb, "-- m%d/main.tf --\n%svariable \"a\" {}\nvariable \"b\" {\n  type = any\n}\nvariable \"free\" {\n  default = \"%s\"\n}\nlocals {\n  inner = upper(var.b)\n}\nresource \"sim_thing\" \"in\" {\n  name = local.inner\n}\noutput \"out\" {\n  value = %s\n}\n", i, head, s.content, x)
	}
	fmt.Fprintf(&sb, "-- f.txt --\n%s\n-- t.tpl --\n${x}%s\n", s.content, s.place)
	return &setting{
		files: split(sb.String()), dir: dir, version: "1", workspace: s.place, workDir: dir,
		vars: map[string]cty.Value{"v0": cty.StringVal(s.given[0]), "v1": cty.StringVal(s.given[1])},
	}
}

// stored gives every instance the same object in each configuration.
type stored struct{}

func (stored) result(_ *future.Task, in *eval.Instance) cty.Value {
	attrs := map[string]cty.Value{}
	for name, ty := range in.Resource.Block.Schema.Block.Type().AttributeTypes() {
		attrs[name] = cty.NullVal(ty)
	}
	attrs["id"], attrs["name"] = cty.StringVal("id:"+in.Addr().String()), cty.StringVal("name:"+in.Addr().String())
	return cty.ObjectVal(attrs)
}

func (stored) WithOpened(_ *future.Task, _ *eval.Value, f func(*eval.Opened)) { f(eval.NewOpened(nil)) }

func (stored) ConfiguredFunctions(*future.Task, *eval.ProviderObject) (map[string]*schema.Function, bool) {
	return nil, true
}

func (stored) CallFunction(*future.Task, eval.FunctionCall) (cty.Value, error) {
	return cty.DynamicVal, nil
}

// outcome is an evaluated configuration: the values of blocks, by entries and then by instances, and the
// keys of resources and calls.
type outcome struct {
	cfg    *blocks.Config
	hashes map[string]Entry
	values map[string]map[string]cty.Value
	keys   map[string]string
	run    *eval.Run
}

func evaluate(tb testing.TB, s *setting) *outcome {
	tb.Helper()
	set, cfg := s.both(tb)
	in := s.inputs()
	run := eval.NewRun(cfg, eval.Options{
		Phase: eval.Planning, Host: stored{}, Result: stored{}.result, Variables: s.vars, Functions: in.Functions, Workspace: s.workspace, RootDir: ".", WorkDir: s.workDir,
	})
	o := &outcome{cfg: cfg, hashes: entries(set), values: map[string]map[string]cty.Value{}, keys: map[string]string{}, run: run}
	t := &future.Task{}
	o.module(t, run.Root)
	for _, d := range run.Diags.List() {
		if d.Severity == 0 && d.Summary != "Output refers to sensitive values" {
			tb.Fatalf("evaluating %v: got %s: %s, want no error\n%s", d.Subject, d.Summary, d.Detail, s.files["main.tf"])
		}
	}
	return o
}

func (o *outcome) set(entry, instance string, v cty.Value) {
	if o.values[entry] == nil {
		o.values[entry] = map[string]cty.Value{}
	}
	o.values[entry][instance] = v
}

func (o *outcome) module(t *future.Task, m *eval.Module) {
	static := m.Addr.Module()
	for _, v := range m.Outputs() {
		o.set(static.Join("output."+v.Output().Name), v.Addr(), v.Get(t, nil, nil))
	}
	for _, r := range m.Resources() {
		name := static.Join("resource." + r.Block.Config.Addr.String())
		instances, _ := r.Instances(t)
		for _, in := range instances {
			in.Prepare(t)
			v, diags := in.EvalBody(t, eval.NewOpened(nil))
			o.run.Report(diags)
			o.set(name, in.Addr().String(), r.Block.Schema.Block.NullWriteOnly(v))
			o.keys[name] += " " + in.Addr().String()
		}
	}
	for _, c := range m.Calls() {
		for _, child := range c.Children(t, nil) {
			o.keys[static.Join("module."+c.Addr().String())] += " " + child.Addr.String()
			o.module(t, child)
		}
	}
}

// otherKeys reports whether a block is evaluated from a resource or call that has other keys than in
// another outcome.
func (o *outcome) otherKeys(other *outcome, n blocks.Node, start bool, seen map[blocks.Node]bool) bool {
	if seen[n] {
		return false
	}
	seen[n] = true
	m, name := place(n)
	if !start {
		if _, isResource := n.(*blocks.Resource); isResource {
			full := m.Config.Path.Join(name)
			return o.keys[full] != other.keys[full]
		}
	}
	if call, ok := n.(*blocks.Call); ok && o.callKeys(call) != other.callKeys(call) {
		return true
	}
	for e := range blocks.Edges(n) {
		if o.otherKeys(other, e.To, false, seen) {
			return true
		}
	}
	return false
}

func (o *outcome) callKeys(c *blocks.Call) string {
	var keys []string
	for name, all := range o.keys {
		if strings.HasPrefix(name, "module.") && strings.Contains(all, " module."+c.Config.Name) {
			keys = append(keys, all)
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, ";")
}

// TestEqualHashesGiveEqualValues edits random configurations and evaluates them: where a block has the same
// hash and is evaluated from resources with the same keys, it has the same values. The objects are the same
// in all configurations.
func TestEqualHashesGiveEqualValues(t *testing.T) {
	samples, edits := 220, 10
	if testing.Short() {
		samples = 20
	}
	compared, kept, moved := 0, 0, 0
	dir := t.TempDir()
	for seed := range uint64(samples) {
		r := rand.New(rand.NewPCG(seed, 41))
		s := newSample(r)
		before := evaluate(t, s.setting(dir))
		for range edits {
			kind := r.IntN(kinds)
			s.edit(r, kind)
			st := s.setting(dir)
			after := evaluate(t, st)
			for n := range after.cfg.EachBlock {
				m, name := place(n)
				name = m.Config.Path.Join(name)
				is, was := after.values[name], before.values[name]
				if is == nil || was == nil {
					continue
				}
				compared++
				if after.hashes[name] != before.hashes[name] {
					moved++
					continue
				}
				kept++
				if after.otherKeys(before, n, true, map[blocks.Node]bool{}) {
					continue
				}
				for instance, v := range is {
					if old, ok := was[instance]; ok && !old.RawEquals(v) {
						t.Fatalf("seed %d, edit %d: %s has the same hash: got %#v, want %#v as before\n%s", seed, kind, instance, v, old, st.files["main.tf"])
					}
				}
				repetition := "repetition." + name
				if e, ok := after.hashes[repetition]; ok && e == before.hashes[repetition] && len(is) != len(was) {
					t.Fatalf("seed %d, edit %d: the repetition of %s has the same hash: got %d instances, want %d as before", seed, kind, name, len(is), len(was))
				}
			}
			before = after
		}
	}
	t.Logf("%d edits: of %d blocks, %d have kept their hashes and %d have not", samples*edits, compared, kept, moved)
	if kept < samples*edits || moved < samples*edits {
		t.Errorf("blocks with equal and other hashes: got %d and %d, want many of both", kept, moved)
	}
}
