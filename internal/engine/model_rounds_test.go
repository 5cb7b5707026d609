package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// roundsModel is a random configuration in which blocks refer to values that are known once others are
// applied, with the rounds that it must take.
type roundsModel struct {
	r     *rand.Rand
	text  strings.Builder // with the unknown values
	plain strings.Builder // with these written out
	nodes []roundsNode
	names []string // of all objects
}

// roundsNode is a block: the expression of a number that its apply makes known, and is 1 then, and the round
// in which it is planned.
type roundsNode struct {
	expr  string
	round int
}

func newRoundsModel(seed uint64) *roundsModel {
	m := &roundsModel{r: rand.New(rand.NewPCG(seed, 1))}
	for i := range 3 + m.r.IntN(6) {
		m.add(i)
	}
	return m
}

// pick returns a block to refer to, which may be none: then the value is known and no round must come first.
func (m *roundsModel) pick() roundsNode {
	if len(m.nodes) == 0 || m.r.IntN(6) == 0 {
		return roundsNode{expr: "1"}
	}
	return m.nodes[m.r.IntN(len(m.nodes))]
}

// write writes a block twice: with the expression of the key's value, and with the value.
func (m *roundsModel) write(format, key string, args ...any) {
	fmt.Fprintf(&m.text, strings.ReplaceAll(format, "KEY", key), args...)
	fmt.Fprintf(&m.plain, strings.ReplaceAll(format, "KEY", "1"), args...)
}

func (m *roundsModel) add(i int) {
	key, argument := m.pick(), m.pick()
	n := 1 + m.r.IntN(2)
	node := roundsNode{round: max(key.round+1, argument.round)}
	body := fmt.Sprintf("json = jsonencode(%s)", argument.expr)
	names := func(format string) {
		for k := range n {
			m.names = append(m.names, fmt.Sprintf(format, i, k))
		}
	}
	switch m.r.IntN(7) {
	case 0: // an unknown argument defers nothing
		m.text.WriteString(fmt.Sprintf("resource \"sim_thing\" \"n%d\" {\n name = \"n%d-0\"\n size = BASE\n %s\n}\n", i, i, body))
		m.plain.WriteString(fmt.Sprintf("resource \"sim_thing\" \"n%d\" {\n name = \"n%d-0\"\n size = BASE\n %s\n}\n", i, i, body))
		node = roundsNode{fmt.Sprintf("sim_thing.n%d.serial", i), max(argument.round, 1)}
		n = 1
		names("n%d-%d")
	case 1:
		m.write("resource \"sim_thing\" \"n%d\" {\n count = KEY > 0 ? %d : 0\n name = \"n%d-${count.index}\"\n %s\n}\n", key.expr, i, n, i, body)
		node.expr = fmt.Sprintf("sim_thing.n%d[0].serial", i)
		names("n%d-%d")
	case 2:
		m.write("resource \"sim_thing\" \"n%d\" {\n for_each = toset([for x in range(KEY > 0 ? %d : 0) : tostring(x)])\n name = \"n%d-${each.key}\"\n %s\n}\n", key.expr, i, n, i, body)
		node.expr = fmt.Sprintf("sim_thing.n%d[\"0\"].serial", i)
		names("n%d-%d")
	case 3:
		m.write("module \"n%d\" {\n source = \"./m\"\n count = KEY > 0 ? %d : 0\n name = \"n%d-${count.index}\"\n arg = %s\n}\n", key.expr, i, n, i, argument.expr)
		node.expr = fmt.Sprintf("module.n%d[0].serial", i)
		names("n%d-%d")
	case 4:
		m.write("provider \"sim\" {\n alias = \"p%d\"\n region = \"r${KEY}\"\n}\n", key.expr, i)
		m.write("resource \"sim_thing\" \"n%d\" {\n provider = sim.p%d\n name = \"n%d-0\"\n %s\n}\n", "1", i, i, i, body)
		node.expr = fmt.Sprintf("sim_thing.n%d.serial", i)
		n = 1
		names("n%d-%d")
	case 5: // an ephemeral that this apply can open defers nothing
		m.write("ephemeral \"sim_secret\" \"e%d\" {\n name = \"s\"\n hint = \"h${KEY}\"\n}\n", key.expr, i)
		m.write("resource \"sim_thing\" \"n%d\" {\n name = \"n%d-0\"\n secret_wo = ephemeral.sim_secret.e%d.value\n secret_wo_version = 1\n %s\n}\n", "1", i, i, i, body)
		node = roundsNode{fmt.Sprintf("sim_thing.n%d.serial", i), max(key.round, argument.round, 1)}
		n = 1
		names("n%d-%d")
	default: // an ephemeral whose keys are unknown is out of reach
		m.write("ephemeral \"sim_secret\" \"e%d\" {\n count = KEY > 0 ? 1 : 0\n name = \"s\"\n}\n", key.expr, i)
		m.write("resource \"sim_thing\" \"n%d\" {\n name = \"n%d-0\"\n secret_wo = ephemeral.sim_secret.e%d[0].value\n secret_wo_version = 1\n %s\n}\n", "1", i, i, i, body)
		node.expr = fmt.Sprintf("sim_thing.n%d.serial", i)
		n = 1
		names("n%d-%d")
	}
	m.nodes = append(m.nodes, node)
}

// rounds returns the number of rounds that the configuration takes when nothing exists.
func (m *roundsModel) rounds() int {
	most := 1
	for _, n := range m.nodes {
		most = max(most, n.round)
	}
	return most
}

// TestModelRounds plans and applies random configurations in rounds until nothing is deferred. The outcome
// must be the one of the same configuration with each unknown value written out, in as few rounds as its
// longest chain has links, without creating an object twice.
func TestModelRounds(t *testing.T) {
	t.Parallel()
	seeds := 40
	if n, err := strconv.Atoi(os.Getenv("MAYFLY_TEST_ROUND_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			m := newRoundsModel(uint64(seed))
			w := newWorld(t, strings.ReplaceAll(m.text.String(), "BASE", "1"))
			w.file("m/main.tf", prelude+`
variable "name" {}
variable "arg" {}
resource "sim_thing" "x" {
  name = var.name
  json = jsonencode(var.arg)
}
output "serial" { value = sim_thing.x.serial }`)
			defer func() {
				if t.Failed() {
					t.Log(m.text.String())
				}
			}()
			rounds, made := 0, []string{}
			for again := true; again && rounds < 20; rounds++ {
				r := w.ok(command{deferral: true})
				again = !r.plan.Complete()
				for _, c := range r.applyLog.Calls(simlog.Filter{RPC: "ApplyResourceChange"}) {
					made = append(made, c.Begin.Action+" "+c.Begin.Name)
				}
			}
			if rounds != m.rounds() {
				t.Errorf("rounds: got %d, want %d", rounds, m.rounds())
			}
			var want []string
			for _, name := range m.names {
				want = append(want, "create "+name)
			}
			slices.Sort(want)
			if slices.Sort(made); !slices.Equal(made, want) {
				t.Errorf("made: got %q, want %q", made, want)
			}
			w.ok(command{}).did() // it is complete without the option too
			w.config(strings.ReplaceAll(m.plain.String(), "BASE", "1"))
			w.ok(command{}).did()
			// Updates make values unknown again. No object is created, replaced or destroyed.
			w.config(strings.ReplaceAll(m.text.String(), "BASE", "2"))
			for again, n := true, 0; again && n < 20; n++ {
				r := w.ok(command{deferral: true})
				again = !r.plan.Complete()
				for _, c := range r.plan.Changes {
					if c.Action != plan.NoOp && c.Action != plan.Update {
						t.Errorf("%s: got %s, want an update at most", c.Addr, c.Action)
					}
				}
				if n == 19 {
					t.Error("it does not end")
				}
			}
			w.ok(command{mode: plan.Destroy, deferral: true})
			w.exists()
		})
	}
}
