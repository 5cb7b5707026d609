package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/value"
)

func TestPlacesHoldNoValues(t *testing.T) {
	stack := func(secret string) []byte {
		if secret == "" {
			t.Fatal("no secret")
		}
		return debug.Stack()
	}("correct-horse")
	got := places(stack)
	if !strings.Contains(got, "TestPlacesHoldNoValues") || !strings.Contains(got, "unit_test.go:") {
		t.Errorf("the places are missing:\n%s", got)
	}
	for _, bad := range []string{"0x", "correct-horse", "goroutine"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q in:\n%s", bad, got)
		}
	}
}

func TestGuarded(t *testing.T) {
	var stderr strings.Builder
	code := guarded(environment{Stderr: &stderr, Stdin: panicking{}, Stdout: &stderr, Notify: func(chan<- os.Signal) func() { return func() {} }}, []string{"state", "push", "-"})
	if code != exitCrash || !strings.Contains(stderr.String(), "this is a bug") {
		t.Errorf("exit status %d\n%s", code, stderr.String())
	}
	if strings.Contains(stderr.String(), "correct-horse") {
		t.Errorf("the panic's value is shown:\n%s", stderr.String())
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("correct-horse") }

func TestParseLogLine(t *testing.T) {
	for name, test := range map[string]struct {
		line  string
		level hclog.Level
		text  string
	}{
		"record":   {`{"@level":"warn","@message":"m","b":2,"a":"x","@timestamp":"t"}`, hclog.Warn, "m: a=x: b=2"},
		"prefix":   {"[ERROR] broken", hclog.Error, "broken"},
		"brackets": {"[main] started", hclog.Debug, "[main] started"},
		"text":     {"hello", hclog.Debug, "hello"},
		"no level": {`{"@message":"m"}`, hclog.NoLevel, "m"},
		"JSON":     {`{"a":1}`, hclog.Debug, `{"a":1}`},
		"empty":    {"", hclog.Debug, ""},
	} {
		t.Run(name, func(t *testing.T) {
			level, text := parseLogLine(test.line)
			if level != test.level || text != test.text {
				t.Errorf("got %s %q, want %s %q", level, text, test.level, test.text)
			}
		})
	}
}

func target(t *testing.T, s string) addr.Target {
	t.Helper()
	x, err := addr.ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestPlanMoves(t *testing.T) {
	sealed, err := value.Seal(cty.EmptyObjectVal, cty.EmptyObject, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(sealed)
	if err != nil {
		t.Fatal(err)
	}
	st := state.New()
	for _, s := range []string{"t.one", "t.many[0]", "t.many[1]", `module.m["a"].t.x`, `module.m["a"].module.n.t.y[0]`, `module.m["b"].t.x`, "module.k.t.z"} {
		i, err := addr.ParseInstance(s)
		if err != nil {
			t.Fatal(err)
		}
		st.SetObject(addr.Object{Instance: i}, o, addr.ProviderConfig{})
	}
	for name, test := range map[string]struct {
		from, to string
		want     map[string]string
		fails    bool
	}{
		"resource":             {from: "t.many", to: "t.lots", want: map[string]string{"t.many[0]": "t.lots[0]", "t.many[1]": "t.lots[1]"}},
		"to an instance":       {from: "t.one", to: "t.one[3]", want: map[string]string{"t.one": "t.one[3]"}},
		"many to an instance":  {from: "t.many", to: "t.x[3]", want: map[string]string{}},
		"from an instance":     {from: "t.many[1]", to: "t.x", want: map[string]string{"t.many[1]": "t.x"}},
		"into a module":        {from: "t.one", to: "module.k.t.one", want: map[string]string{"t.one": "module.k.t.one"}},
		"module call":          {from: "module.m", to: "module.q", want: map[string]string{`module.m["a"].t.x`: `module.q["a"].t.x`, `module.m["a"].module.n.t.y[0]`: `module.q["a"].module.n.t.y[0]`, `module.m["b"].t.x`: `module.q["b"].t.x`}},
		"module instance":      {from: `module.m["a"]`, to: "module.q[0]", want: map[string]string{`module.m["a"].t.x`: "module.q[0].t.x", `module.m["a"].module.n.t.y[0]`: "module.q[0].module.n.t.y[0]"}},
		"single module":        {from: "module.k", to: `module.k["x"]`, want: map[string]string{"module.k.t.z": `module.k["x"].t.z`}},
		"resource to a module": {from: "t.many[0]", to: "module.k", want: map[string]string{"t.many[0]": "module.k.t.many[0]"}},
		"module to a resource": {from: "module.k", to: "t.x", fails: true},
		"another type":         {from: "t.one", to: "u.one", fails: true},
		"another mode":         {from: "t.one", to: "data.t.one", fails: true},
		"nothing":              {from: "t.absent", to: "t.x", want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			moves, err := planMoves(st, target(t, test.from), target(t, test.to))
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if test.fails {
				return
			}
			got := map[string]string{}
			for _, m := range moves {
				got[m.from.String()] = m.to.String()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestObjectID(t *testing.T) {
	for name, test := range map[string]struct {
		obj  *state.Instance
		want string
	}{
		"none":         {nil, ""},
		"legacy":       {&state.Instance{Current: &state.Object{Flatmap: map[string]string{"id": "x"}}}, "x"},
		"only deposed": {&state.Instance{}, ""},
	} {
		if got := objectID(test.obj); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAddressLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("\n# x\n a.b \r\nc.d[0]"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := addressLines(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.b", "c.d[0]"}, got); diff != "" {
		t.Error(diff)
	}
}
