package view

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/plan"
)

func TestDot(t *testing.T) {
	g := &plan.Graph{}
	g.Add(`provider["x"]`, plan.ProviderNode)
	g.Add(`t.a (expand)`, plan.ResourceNode)
	g.Depend("t.a (expand)", `provider["x"]`)
	g.Depend("t.a (expand)", "local.b (expand)")
	g.Depend("local.b (expand)", "t.a (expand)")
	g.Depend(`out["\"\N"]`, "local.b (expand)")
	var out strings.Builder
	if err := Dot(&out, g, true); err != nil {
		t.Fatal(err)
	}
	const want = `digraph {
	compound = "true"
	newrank = "true"
	subgraph "root" {
		"[root] provider[\"x\"]" [label = "provider[\"x\"]", shape = "diamond"]
		"[root] t.a (expand)" [label = "t.a", shape = "box"]
		"[root] local.b (expand)" -> "[root] t.a (expand)" [color = "red", penwidth = "2.0"]
		"[root] out[\"\\\"\\N\"]" -> "[root] local.b (expand)"
		"[root] t.a (expand)" -> "[root] local.b (expand)" [color = "red", penwidth = "2.0"]
		"[root] t.a (expand)" -> "[root] provider[\"x\"]"
	}
}

`
	if out.String() != want {
		t.Errorf("got\n%s, want %s", out.String(), want)
	}
	if got := CycleText(g.Cycles()[0]); got != "local.b, t.a" {
		t.Errorf("cycle: got %s, want %s", got, "local.b, t.a")
	}
}
