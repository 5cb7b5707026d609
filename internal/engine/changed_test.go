package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

// region is a random configuration that changes step by step: things that refer to things before them,
// directly, through locals, data and outputs of modules.
type region struct {
	rng   *rand.Rand
	parts []*regionPart
	keys  []string // of the module
	level int      // of a local
	arg   int      // of the module
	v     int      // variable
	depth int      // count of the module within it
}

type regionPart struct {
	name    string
	form    int // 0 single, 1 count, 2 for_each
	n       int
	uses    []int // parts before it
	by      int   // 0 directly, 1 through a local, 2 through an output of the module
	whole   bool
	size    int
	from    int // of size: 0 literal, 1 local, 2 variable
	replace int
	trigger bool
	waits   bool
	fail    string
	gone    bool
	inner   bool
	derived bool // its number follows from another part
}

func newRegion(rng *rand.Rand) *region {
	r := &region{rng: rng, keys: []string{"a", "b"}, depth: 1}
	for range 9 {
		r.add()
	}
	return r
}

func (r *region) add() {
	i := len(r.parts)
	p := &regionPart{name: fmt.Sprintf("p%d", i), form: r.rng.IntN(3), n: 1 + r.rng.IntN(3), by: r.rng.IntN(3), whole: r.rng.IntN(3) == 0, from: r.rng.IntN(4), inner: i >= 3 && i < 6, derived: r.rng.IntN(4) == 0, trigger: r.rng.IntN(6) == 0, waits: r.rng.IntN(6) == 0}
	for j := range i {
		if r.rng.IntN(3) == 0 && !(r.parts[j].inner && p.inner && r.rng.IntN(2) == 0) {
			p.uses = append(p.uses, j)
		}
	}
	r.parts = append(r.parts, p)
}

// mutate makes one change.
func (r *region) mutate() string {
	p := r.parts[r.rng.IntN(len(r.parts))]
	switch r.rng.IntN(14) {
	case 0:
		p.gone = !p.gone
		return "gone " + p.name
	case 1:
		p.n = r.rng.IntN(4)
		return "number of " + p.name
	case 2:
		p.form = r.rng.IntN(3)
		return "form of " + p.name
	case 3, 4, 5:
		p.size++
		return "size of " + p.name
	case 6:
		r.level++
		return "local"
	case 7:
		r.v++
		return "variable"
	case 8:
		r.keys = [][]string{{"a"}, {"a", "b"}, {"b", "c"}, {"a", "b", "c"}}[r.rng.IntN(4)]
		return "keys " + strings.Join(r.keys, " ")
	case 9:
		r.arg++
		return "argument"
	case 10:
		p.replace++
		return "replace " + p.name
	case 11:
		r.add()
		return "new"
	case 12:
		r.depth = r.rng.IntN(3)
		return "depth"
	default:
		p.fail = []string{"", "create", "update", "create-partial"}[r.rng.IntN(4)]
		p.size++
		return "fail " + p.fail + " " + p.name
	}
}

func (r *region) ref(from, to *regionPart) string {
	if to.gone {
		return "null"
	}
	if to.inner && !from.inner {
		if from.whole {
			return "[for m in module.m : m." + to.name + "]"
		}
		return `try(module.m["a"].` + to.name + ", null)"
	}
	if !to.inner && from.inner {
		return "var." + to.name
	}
	if from.by == 1 {
		return "local." + to.name
	}
	of := "sim_thing." + to.name
	switch {
	case to.form == 0:
		return of + ".label"
	case from.whole:
		return "values({ for k, v in " + of + " : k => v.label })"
	case to.form == 1:
		return "try(" + of + "[0].label, null)"
	default:
		return "try(" + of + "[\"k0\"].label, null)"
	}
}

func (p *regionPart) all() string {
	if p.gone {
		return "null"
	}
	if p.form == 0 {
		return "sim_thing." + p.name + ".label"
	}
	return "{ for k, v in sim_thing." + p.name + " : k => v.label }"
}

func (r *region) text(p *regionPart) string {
	if p.gone {
		return ""
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "resource \"sim_thing\" %q {\n", p.name)
	n := fmt.Sprint(p.n)
	var refs, triggers, after []string
	for _, j := range p.uses {
		to := r.parts[j]
		refs = append(refs, r.ref(p, to))
		if to.gone || to.inner != p.inner {
			continue
		}
		if p.trigger {
			triggers = append(triggers, "sim_thing."+to.name)
		}
		if p.waits {
			after = append(after, "sim_thing."+to.name)
		}
		if p.derived && to.form == 0 {
			n = "sim_thing." + to.name + ".size % 3"
		}
	}
	key := `""`
	switch p.form {
	case 1:
		fmt.Fprintf(&sb, " count = %s\n", n)
		key = "count.index"
	case 2:
		fmt.Fprintf(&sb, " for_each = { for i in range(%s) : \"k${i}\" => i }\n", n)
		key = "each.key"
	}
	where, size := "", fmt.Sprint(p.size)
	if p.inner {
		where = "${var.m}-"
	}
	switch {
	case p.from == 1:
		size = "local.level"
	case p.from == 2 && p.inner:
		size = "var.arg"
	case p.from == 2:
		size = "var.v"
	case p.form == 2:
		size = fmt.Sprintf("each.value + %d", p.size)
	}
	fmt.Fprintf(&sb, " name = \"%s%s-${%s}\"\n size = %s\n replace_me = \"%d\"\n", where, p.name, key, size, p.replace)
	if p.fail != "" {
		fmt.Fprintf(&sb, " fail_on = %q\n", p.fail)
	}
	fmt.Fprintf(&sb, " json = jsonencode([%s])\n depends_on = [%s]\n lifecycle { replace_triggered_by = [%s] }\n}\n", strings.Join(refs, ", "), strings.Join(after, ", "), strings.Join(triggers, ", "))
	return sb.String()
}

func (r *region) write(w *world) map[string]cty.Value {
	var root, inner, args, locals, innerLocals strings.Builder
	inner.WriteString(prelude + "variable \"m\" {}\nvariable \"arg\" {}\nvariable \"depth\" {}\n")
	fmt.Fprintf(&locals, "level = %d\n", r.level)
	fmt.Fprintf(&innerLocals, "level = var.arg * 2\n")
	for _, p := range r.parts {
		if p.inner {
			inner.WriteString(r.text(p))
			fmt.Fprintf(&inner, "output %q { value = %s }\n", p.name, p.all())
			fmt.Fprintf(&innerLocals, "%s = %s\n", p.name, p.all())
			continue
		}
		root.WriteString(r.text(p))
		fmt.Fprintf(&locals, "%s = %s\n", p.name, p.all())
		if used := r.usedInside(p); used {
			fmt.Fprintf(&inner, "variable %q {}\n", p.name)
			fmt.Fprintf(&args, " %s = %s\n", p.name, p.all())
		}
		fmt.Fprintf(&root, "output %q { value = %s }\n", p.name, p.all())
	}
	fmt.Fprintf(&root, "variable \"v\" { type = number }\nlocals {\n%s}\nmodule \"m\" {\n source = \"./inner\"\n for_each = toset([%s])\n m = each.key\n arg = %d\n depth = %d\n%s}\n", locals.String(), `"`+strings.Join(r.keys, `", "`)+`"`, r.arg, r.depth, args.String())
	fmt.Fprintf(&root, "output \"m\" { value = module.m }\ndata \"sim_lookup\" \"d\" {\n name = sim_thing.anchor.name\n}\nresource \"sim_thing\" \"anchor\" {\n name = \"anchor\"\n size = local.level\n}\nresource \"sim_thing\" \"last\" {\n name = \"last\"\n size = data.sim_lookup.d.size\n}\n")
	fmt.Fprintf(&inner, "locals {\n%s}\nmodule \"n\" {\n source = \"../innermost\"\n count = var.depth\n m = \"${var.m}-${count.index}\"\n arg = var.arg\n}\noutput \"n\" { value = module.n[*].id }\n", innerLocals.String())
	w.file("inner/main.tf", inner.String())
	w.file("innermost/main.tf", prelude+"variable \"m\" {}\nvariable \"arg\" {}\nresource \"sim_thing\" \"x\" {\n name = \"x-${var.m}\"\n size = var.arg\n}\noutput \"id\" { value = sim_thing.x.label }\n")
	w.config(root.String())
	return map[string]cty.Value{"v": cty.NumberIntVal(int64(r.v))}
}

// usedInside reports whether a part within the module uses one outside.
func (r *region) usedInside(p *regionPart) bool {
	for _, q := range r.parts {
		for _, j := range q.uses {
			if q.inner && r.parts[j] == p {
				return true
			}
		}
	}
	return false
}

// number returns a number of an environment variable.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// TestChangedModel plans what has changed after random changes, and all without refreshing: the changes,
// their order and the outputs are the same.
func TestChangedModel(t *testing.T) {
	t.Parallel()
	seeds, steps := number(t, "MAYFLY_TEST_CHANGES", 3), 10
	plans, full := 0, map[string]int{}
	for seed := uint64(number(t, "MAYFLY_TEST_CHANGE_SEED", 0)); seeds > 0; seed, seeds = seed+1, seeds-1 {
		w := newWorld(t, "")
		w.virtual = true
		r := newRegion(rand.New(rand.NewPCG(seed, 11)))
		l := newLedger(w)
		vars := r.write(w)
		w.run(command{vars: vars})
		l.learn(l.moment(vars))
		var done []string
		for range steps {
			for range 1 + r.rng.IntN(2) {
				done = append(done, r.mutate())
			}
			vars = r.write(w)
			s := l.moment(vars)
			want, wantDiags := s.e.Plan(t.Context(), s.request())
			got, gotDiags, work, read := l.plan(s)
			w.newEntries()
			plans++
			if why := work.Full(); why != "" {
				full[why]++
			}
			if a, b := changesOf(got, gotDiags), changesOf(want, wantDiags); a != b {
				t.Fatalf("seed %d, %s, full %q: want(-) got(+):\n%s%v\n%v", seed, strings.Join(done, ", "), work.Full(), cmp.Diff(strings.Split(b, "\n"), strings.Split(a, "\n")), gotDiags, wantDiags)
			}
			if !wantDiags.HasErrors() {
				all, some := orderOf(t, want, false), orderOf(t, got, false)
				for pair := range some {
					if !all[pair] {
						t.Errorf("seed %d, %v: got %s, want no such order", seed, done, pair)
					}
				}
				for pair := range orderOf(t, want, true) {
					if !some[pair] {
						t.Errorf("seed %d, %v: got no order %s", seed, done, pair)
					}
				}
			}
			if testing.Verbose() {
				t.Logf("seed %d %s: evaluated %d, read %d of %d, full %q", seed, done[len(done)-1], work.Evaluated(), len(read.read), count(read.whole), work.Full())
				if wantDiags.HasErrors() {
					t.Log(wantDiags)
				}
			}
			if r.rng.IntN(3) > 0 {
				w.run(command{vars: vars})
				l.learn(l.moment(vars))
				done = append(done, "apply")
			}
		}
	}
	t.Logf("%d plans, of them full: %v", plans, full)
}
