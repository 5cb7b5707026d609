package withheld

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

func TestMain(m *testing.M) { os.Exit(program.Run(m)) }

var (
	str      = cty.StringVal
	none     = cty.NullVal(cty.String)
	unknown  = cty.UnknownVal(cty.String)
	password = cty.GetAttrPath("password")
	all      = schema.Patterns{password, append(cty.GetAttrPath("rule"), schema.EveryElement, cty.GetAttrStep{Name: "note"})}
	hashes   = fingerprint.NewHashes() // of all tests, which use few values
	salt     = newSalt(1)
)

func newSalt(b byte) fingerprint.Salt {
	s, err := fingerprint.NewSalt(bytes.NewReader(bytes.Repeat([]byte{b}, 20)))
	if err != nil {
		panic(err)
	}
	return s
}

func block() *schema.Block {
	text := func() *schema.Attribute { return &schema.Attribute{Type: cty.String, Optional: true} }
	return &schema.Block{
		Attributes: map[string]*schema.Attribute{
			"password": text(), "other": text(), "secret_wo": {Type: cty.String, Optional: true, WriteOnly: true},
		},
		Blocks: map[string]*schema.NestedBlock{"rule": {Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{"note": text()}}}},
	}
}

// thing is an object with a password, another argument and rules, which have notes.
func thing(password, other cty.Value, notes ...cty.Value) cty.Value {
	rules := cty.ListValEmpty(cty.Object(map[string]cty.Type{"note": cty.String}))
	var list []cty.Value
	for _, note := range notes {
		list = append(list, cty.ObjectVal(map[string]cty.Value{"note": note}))
	}
	if len(list) > 0 {
		rules = cty.ListVal(list)
	}
	return cty.ObjectVal(map[string]cty.Value{"password": password, "other": other, "secret_wo": none, "rule": rules})
}

var gone = cty.NullVal(block().Type())

func note(i int64) cty.Path { return cty.GetAttrPath("rule").IndexInt(int(i)).GetAttr("note") }

// fixture is the attributes of an object, with what they have reported.
type fixture struct {
	Attributes
	reported diag.List
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	in, err := addr.ParseInstance(`sim_thing.a["k"]`)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	f.Attributes = Attributes{
		Names: all, Object: addr.Object{Instance: in}, Block: block(), Hasher: hashes.New([]fingerprint.Salt{salt}, nil),
		Report: func(diags diag.List) { f.reported = append(f.reported, diags...) },
	}
	return f
}

// of returns a fingerprint of a value with the salt of the fixture.
func of(t *testing.T, v cty.Value) fingerprint.Fingerprint {
	t.Helper()
	return made(t, v, hashes.New([]fingerprint.Salt{salt}, nil).Of)
}

// quickOf is of for a value that the state has anyway.
func quickOf(t *testing.T, v cty.Value) fingerprint.Fingerprint {
	t.Helper()
	return made(t, v, hashes.New([]fingerprint.Salt{salt}, nil).Quick)
}

// restOf is quickOf for the rest of a configuration.
func restOf(t *testing.T, v cty.Value) fingerprint.Fingerprint {
	t.Helper()
	return quickOf(t, newFixture(t).restSet(v))
}

// madeOf is the value that a password which is made of computed values is recorded by.
func madeOf(t *testing.T, v cty.Value) cty.Value {
	t.Helper()
	f := newFixture(t)
	f.Made = []Made{{Value: thing(v, none)}}
	return f.made(password)
}

func made(t *testing.T, v cty.Value, by func(cty.Value) (fingerprint.Fingerprint, error)) fingerprint.Fingerprint {
	t.Helper()
	f, err := by(v)
	if err != nil || f.IsZero() {
		t.Fatalf("got %v, %v, want a fingerprint", f, err)
	}
	return f
}

// lost is a fingerprint whose salt is gone.
var lost = fingerprint.Fingerprint{Salt: "gone", Own: []byte("own"), Sum: []byte("sum")}

func sent(t *testing.T, path cty.Path, v cty.Value) state.Withheld {
	return state.Withheld{Path: path, Sent: of(t, v)}
}

// stored is an object as the state has it, with records.
func stored(t *testing.T, v cty.Value, records ...state.Withheld) *state.Object {
	t.Helper()
	d, err := value.Seal(v, block().Type(), block())
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	o.Withheld = records
	return o
}

func texts(paths []cty.Path) string {
	var out []string
	for _, p := range paths {
		out = append(out, schema.PathString(p))
	}
	return strings.Join(out, " ")
}

func missing(v cty.Value, o *state.Object) string {
	var paths []cty.Path
	for _, w := range Missing(v, o) {
		paths = append(paths, w.Path)
	}
	return texts(paths)
}
