package blocks

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

func TestReferred(t *testing.T) {
	tests := []struct{ name, main, module, want string }{
		{"nothing", `resource "a_thing" "a" {}`, "", ""},
		{"depends_on", "resource \"a_thing\" \"a\" {}\nresource \"a_thing\" \"b\" {\ndepends_on = [a_thing.a]\n}", "", ""},
		{"argument", "resource \"a_thing\" \"a\" {}\nresource \"a_thing\" \"b\" {\nname = a_thing.a.id\n}", "", "a_thing.a"},
		{"local", "resource \"a_thing\" \"a\" {}\nlocals {\nl = a_thing.a\n}", "", "a_thing.a"},
		{"output", "resource \"a_thing\" \"a\" {}\noutput \"o\" {\nvalue = a_thing.a\n}", "", "a_thing.a"},
		{"output of a module", `module "m" { source = "./m" }`, "resource \"a_thing\" \"a\" {}\noutput \"o\" {\nvalue = a_thing.a\n}", "module.m.a_thing.a"},
		{"precondition of an output", "resource \"a_thing\" \"a\" {}\noutput \"o\" {\nvalue = 1\nprecondition {\ncondition = a_thing.a.id != \"\"\nerror_message = \"no\"\n}\n}", "", "a_thing.a"},
		{"argument of a module", "resource \"a_thing\" \"a\" {}\nmodule \"m\" {\nsource = \"./m\"\nv = a_thing.a\n}", `variable "v" {}`, "a_thing.a"},
		{"repetition of a module", "resource \"a_thing\" \"a\" {}\nmodule \"m\" {\nsource = \"./m\"\ncount = length(a_thing.a.id)\n}", "", "a_thing.a"},
		{"provider", "resource \"a_thing\" \"a\" {}\nprovider \"a\" {\nname = a_thing.a.id\n}", "", "a_thing.a"},
		{"provider key of a module", "resource \"a_thing\" \"a\" {}\nprovider \"a\" {\nalias = \"x\"\nfor_each = toset([\"k\"])\n}\nmodule \"m\" {\nsource = \"./m\"\nproviders = { a = a.x[a_thing.a.id] }\n}", `resource "a_thing" "b" {}`, "a_thing.a"},
		{"check", "resource \"a_thing\" \"a\" {}\ncheck \"c\" {\nassert {\ncondition = a_thing.a.id != \"\"\nerror_message = \"no\"\n}\n}", "", "a_thing.a"},
		{"trigger", "resource \"a_thing\" \"a\" {}\nresource \"a_thing\" \"b\" {\nlifecycle {\nreplace_triggered_by = [a_thing.a]\n}\n}", "", "a_thing.a"},
		{"provisioner", "resource \"a_thing\" \"a\" {}\nresource \"a_thing\" \"b\" {\nprovisioner \"local-exec\" {\ncommand = a_thing.a.id\n}\n}", "", "a_thing.a"},
		{"own postcondition", "resource \"a_thing\" \"a\" {\nlifecycle {\npostcondition {\ncondition = self.id != \"\"\nerror_message = \"no\"\n}\n}\n}", "", "a_thing.a"},
		{"own precondition", "variable \"v\" {\ndefault = 1\n}\nresource \"a_thing\" \"a\" {\nlifecycle {\nprecondition {\ncondition = var.v == 1\nerror_message = \"no\"\n}\n}\n}", "", ""},
		{"import", "resource \"a_thing\" \"a\" {}\nimport {\nto = a_thing.a\nid = \"1\"\n}", "", "a_thing.a"},
		{"removed", "resource \"a_thing\" \"a\" {}\nremoved {\nfrom = a_thing.b\nprovisioner \"local-exec\" {\nwhen = destroy\ncommand = self.id\n}\n}", "", "a_thing.a"},
	}
	for _, test := range tests {
		cfg, diags := compileText(t, test.main, test.module)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", test.name, diags)
		}
		var got []string
		cfg.EachResource(func(r *Resource) {
			if r.Config.Addr.Mode == addr.Managed && r.Config.Addr.Name == "a" && cfg.Referred(r) {
				got = append(got, r.Address())
			}
		})
		slices.Sort(got)
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: got %q, want %q", test.name, text, test.want)
		}
	}
}

func TestSoleReads(t *testing.T) {
	const a = "resource \"a_thing\" \"a\" {}\n"
	tests := []struct{ name, text, want string }{
		{"an output", a + "output \"o\" {\nvalue = [a_thing.a.id, a_thing.a]\n}", "output.o: a_thing.a"},
		{"a local value and depends_on", a + "locals {\nl = a_thing.a\n}\nresource \"a_thing\" \"b\" {\ndepends_on = [a_thing.a]\n}", "local.l: a_thing.a"},
		{"two outputs", a + "output \"o\" {\nvalue = a_thing.a\n}\noutput \"p\" {\nvalue = a_thing.a\n}", ""},
		{"an output with a condition", a + "output \"o\" {\nvalue = a_thing.a\nprecondition {\ncondition = a_thing.a.id != \"\"\nerror_message = \"no\"\n}\n}", ""},
		{"an output and a resource", a + "output \"o\" {\nvalue = a_thing.a\n}\nresource \"a_thing\" \"b\" {\nname = a_thing.a.id\n}", ""},
		{"a variable", a + "module \"m\" {\nsource = \"./m\"\nv = a_thing.a\n}", ""},
		{"an output and a condition of its own", "resource \"a_thing\" \"a\" {\nlifecycle {\npostcondition {\ncondition = self.id != \"\"\nerror_message = \"no\"\n}\n}\n}\noutput \"o\" {\nvalue = a_thing.a\n}", ""},
		{"an output and an import", a + "output \"o\" {\nvalue = a_thing.a\n}\nimport {\nto = a_thing.a\nid = \"1\"\n}", ""},
	}
	for _, test := range tests {
		cfg, diags := compileText(t, test.text, `variable "v" {}`)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", test.name, diags)
		}
		var got []string
		for n := range cfg.eachNode {
			if v, ok := n.(*Value); ok {
				for _, r := range cfg.SoleReads(v) {
					got = append(got, v.Address()+": "+r.Address())
				}
			}
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: got %q, want %q", test.name, text, test.want)
		}
	}
}
