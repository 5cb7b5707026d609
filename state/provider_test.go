package state

import (
	"fmt"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

func TestAtDefaultHost(t *testing.T) {
	at := func(host, name string) addr.ProviderConfig {
		p, err := addr.ParseProvider(host + "/hashicorp/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return addr.ProviderConfig{Provider: p}
	}
	instance := func(name string) addr.Instance {
		i, err := addr.ParseInstance("random_id." + name)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	s := New()
	hosts := map[string]string{"theirs": addr.TerraformHost, "kept": addr.TerraformHost, "ours": string(addr.DefaultHost), "other": "example.com"}
	for i := range 3 {
		s.SetObject(addr.Object{Instance: instance(fmt.Sprintf("more%d", i))}, &Object{}, at(addr.TerraformHost, "kept"))
	}
	for name, host := range hosts {
		s.SetObject(addr.Object{Instance: instance(name)}, &Object{}, at(host, name))
	}
	asked := map[addr.Provider]int{}
	keep := func(p addr.Provider) bool { asked[p]++; return p.Type == "kept" }
	got := s.AtDefaultHost(keep)
	for p, n := range asked {
		if n != 1 {
			t.Errorf("%s was asked about %d times, want 1", p, n)
		}
	}
	for name, want := range map[string]string{"theirs": string(addr.DefaultHost), "kept": addr.TerraformHost, "ours": string(addr.DefaultHost), "other": "example.com"} {
		if host := string(got.Instance(instance(name)).Provider.Provider.Hostname); host != want {
			t.Errorf("%s is at %s, want %s", name, host, want)
		}
		if host := string(s.Instance(instance(name)).Provider.Provider.Hostname); host != hosts[name] {
			t.Errorf("the state that was read has changed: %s is at %s, want %s", name, host, hosts[name])
		}
	}
	if got.AtDefaultHost(keep) != got {
		t.Error("a state in which nothing is to be changed was copied")
	}
}
