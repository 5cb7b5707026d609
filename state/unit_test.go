package state

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestUnits reads the keys of units, some of whose addresses have words that keys begin with.
func TestUnits(t *testing.T) {
	for key, want := range map[string]Unit{
		`module.a["output x"].t.b["check y"]`: {InstanceUnit, `module.a["output x"].t.b["check y"]`},
		`t.b`:                                 {InstanceUnit, "t.b"},
		`output o`:                            {OutputUnit, "o"},
		`check module.a["x y"].check.c`:       {CheckUnit, `module.a["x y"].check.c`},
		`repetition t.b`:                      {RepetitionUnit, "t.b"},
		`values `:                             {ValuesUnit, ""},
	} {
		if got := ParseUnit(key); got != want || got.Key() != key {
			t.Errorf("ParseUnit(%q): got %+v with the key %q, want %+v", key, got, got.Key(), want)
		}
	}
	a, err := addr.ParseInstance(`module.a["x"].t.b[0]`)
	if err != nil {
		t.Fatal(err)
	}
	if got := UnitOf(a); got.Key() != InstanceSubject(a).Key() {
		t.Errorf("got the key %q of an instance, want the one of its subject", got.Key())
	}
}

// TestBlocks reads addresses of blocks.
func TestBlocks(t *testing.T) {
	inner := addr.RootModule.Child("a").Child("b")
	for address, want := range map[string]Block{
		"resource.t.a":                   {addr.RootModule, "resource.t.a"},
		"module.a":                       {addr.RootModule, "module.a"},
		"module.a.module.b":              {addr.RootModule.Child("a"), "module.b"},
		"module.a.module.b.data.t.a":     {inner, "data.t.a"},
		"module.a.module.b.resource.t.a": {inner, "resource.t.a"},
	} {
		if got := ParseBlock(address); got != want || got.String() != address {
			t.Errorf("ParseBlock(%q): got %q, want %q", address, got, want)
		}
	}
	for address, want := range map[string]string{
		"t.a":                       "resource.t.a",
		"module.a.module.b.t.a":     "module.a.module.b.resource.t.a",
		"module.a.module.b.check.c": "module.a.module.b.check.c",
		"data.t.a":                  "data.t.a",
		"var.v":                     "var.v",
		"output.o":                  "output.o",
		"ephemeral.t.a":             "ephemeral.t.a",
	} {
		if got := CheckBlock(address).String(); got != want {
			t.Errorf("CheckBlock(%q): got %q, want %q", address, got, want)
		}
	}
	data := addr.ConfigResource{Module: inner, Resource: addr.Resource{Mode: addr.Data, Type: "t", Name: "a"}}
	managed := addr.ConfigResource{Module: inner, Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: "a"}}
	if got := BlockOf(data).String() + " " + RepetitionOf(managed).String(); got != "module.a.module.b.data.t.a module.a.module.b.repetition.resource.t.a" {
		t.Errorf("got the blocks %q, want those of data and of a repetition", got)
	}
}

// TestHashes compares hashes, none of which is equal to none.
func TestHashes(t *testing.T) {
	one, two := Hash{1}, Hash{2}
	if !one.Is(one) || one.Is(two) || (Hash{}).Is(Hash{}) || one.Is(Hash{}) {
		t.Errorf("got hashes that are equal, want only the same known ones")
	}
	if got := one.String(); got != "01000000" {
		t.Errorf("got %q, want the first digits", got)
	}
	if why := ByInput | ByBlock; !why.Has(ByInput) || why.Has(ByInput|ByRow) {
		t.Errorf("got the reasons %b, want two of them", why)
	}
}
