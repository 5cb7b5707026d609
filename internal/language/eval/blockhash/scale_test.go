package blockhash

import (
	"fmt"
	"hash"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// big returns a configuration of about n blocks, half of them resources. Each block refers to others, and a
// few are referred to by all.
func big(n int) string {
	var sb strings.Builder
	sb.WriteString(head + "variable \"all\" {\n  default = \"a\"\n}\nprovider \"sim\" {\n  region = var.all\n}\n")
	for i := range n / 2 {
		before := "var.all"
		if i > 0 {
			before = fmt.Sprintf("local.l%d", i-1)
		}
		fmt.Fprintf(&sb, "locals {\n  l%d = \"${%s}-%d\"\n}\n", i, before, i)
		fmt.Fprintf(&sb, "resource \"sim_thing\" \"r%d\" {\n  name = local.l%d\n  tags = { all = var.all, n = upper(\"x\") }\n  rule {\n    value = sim_thing.r%d.id\n  }\n}\n", i, i, max(i-1, 0)/2)
	}
	sb.WriteString("resource \"sim_thing\" \"last\" {\n  depends_on = [module.m]\n}\nmodule \"m\" {\n  source = \"./m\"\n  all    = var.all\n}\n")
	fmt.Fprintf(&sb, "-- m/main.tf --\n%svariable \"all\" {}\n", head)
	for i := range n / 20 {
		fmt.Fprintf(&sb, "resource \"sim_thing\" \"r%d\" {\n  name = var.all\n}\n", i)
	}
	return strings.ReplaceAll(sb.String(), "sim_thing.r0.id", "var.all")
}

// counter counts the bytes that are hashed.
type counter struct {
	hash.Hash
	n *int
}

func (c counter) Write(b []byte) (int, error) {
	*c.n += len(b)
	return c.Hash.Write(b)
}

// TestLinear compares the work for configurations of two sizes: the bytes that are hashed, the links and
// the slow hashes.
func TestLinear(t *testing.T) {
	work := func(n int) (bytes, links int) {
		s := newSetting(t, big(n))
		s.begin = func() hash.Hash { return counter{newHash(), &bytes} }
		set := s.hash(t)
		for i := range set.nodes {
			links += len(set.nodes[i].links) + len(set.nodes[i].waits)
		}
		return bytes, links
	}
	bytes, links := work(400)
	moreBytes, moreLinks := work(1600)
	if moreBytes > bytes*9/2 {
		t.Errorf("bytes for four times the blocks: got %d, want about four times %d", moreBytes, bytes)
	}
	if moreLinks > links*9/2 {
		t.Errorf("links for four times the blocks: got %d, want about four times %d", moreLinks, links)
	}
}

// BenchmarkOf hashes 10 000 blocks.
func BenchmarkOf(b *testing.B) {
	s := newSetting(b, big(10_000))
	cfg, in := s.compile(b), s.inputs()
	b.ResetTimer()
	for range b.N {
		set, err := Of(cfg, in)
		if err != nil {
			b.Fatal(err)
		}
		if got := len(set.Components()); got < 10_000 {
			b.Fatalf("components: got %d, want more than 10000", got)
		}
	}
}

// notHashed are the fields of blocks that enter no hash, with the reason.
var notHashed = map[string]string{
	"Resource.Addr":       "is the name of the node",
	"Resource.Module":     "is part of the name of the node",
	"Resource.Provider":   "leads to the node of the provider configuration",
	"Resource.Range":      "is for messages",
	"Resource.TypeRange":  "is for messages",
	"Resource.NoBody":     "follows from the body, which is not written then",
	"Resource.Check":      "is part of the configuration by the check's reference to it",
	"Resource.List":       "belongs to queries, which keep nothing",
	"Resource.Connection": "is merged into the connections of provisioners",
	"Lifecycle.Range":     "is for messages",

	"Variable.Name":         "is the name of the node",
	"Variable.Description":  "is for people",
	"Variable.Type":         "follows from the constraint",
	"Variable.Const":        "matters while the configuration is loaded",
	"Variable.ParseLiteral": "matters for options, before there is a value",
	"Variable.Range":        "is for messages",

	"Local.Name":  "is the name of the node",
	"Local.Range": "is for messages",

	"Output.Name":        "is the name of the node",
	"Output.Description": "is for people",
	"Output.Range":       "is for messages",
	"Output.Overrides":   "belongs to tests, whose states are not kept",

	"Provider.Name":    "is part of the name of the node",
	"Provider.Alias":   "is part of the name of the node",
	"Provider.Version": "has decided on the version that is hashed",
	"Provider.Range":   "is for messages",
	"Provider.Test":    "belongs to tests, whose states are not kept",

	"ModuleCall.Name":         "is the name of the node",
	"ModuleCall.Source":       "has decided on the blocks in the module, which are nodes",
	"ModuleCall.SourceSet":    "belongs to the source",
	"ModuleCall.Version":      "has decided on the blocks in the module, which are nodes",
	"ModuleCall.Providers":    "leads to the nodes of provider configurations; keys in it belong to the resources that use them",
	"ModuleCall.Inputs":       "belongs to the nodes of variables",
	"ModuleCall.Range":        "is for messages",
	"ModuleCall.SrcRange":     "is for messages",
	"ModuleCall.sourceExpr":   "belongs to the source",
	"ModuleCall.versionExpr":  "belongs to the version",
	"ModuleCall.versionRange": "is for messages",

	"Check.Name":  "is the name of the node",
	"Check.Range": "is for messages",
	"Check.Test":  "belongs to tests, whose states are not kept",
	"Check.Late":  "belongs to tests, whose states are not kept",

	"Provisioner.Range":   "is for messages",
	"ActionTrigger.Range": "is for messages",
	"Condition.Range":     "is for messages",
}

// hashed are the fields of blocks that enter a hash, directly or compiled.
var hashed = map[string][]string{
	"Resource":      {"Repeat", "DependsOn", "Body", "Lifecycle", "Provisioners"},
	"Lifecycle":     {"CreateBeforeDestroy", "PreventDestroy", "IgnoreChanges", "IgnoreAll", "EphemeralAttributes", "ReplaceTriggeredBy", "Preconditions", "Postconditions", "ActionTriggers", "Destroy"},
	"Variable":      {"Constraint", "Defaults", "Default", "Sensitive", "Ephemeral", "Nullable", "Deprecated", "Validations"},
	"Local":         {"Expr"},
	"Output":        {"Constraint", "Defaults", "Expr", "Sensitive", "Ephemeral", "Deprecated", "DependsOn", "Preconditions"},
	"Provider":      {"ForEach", "Body"},
	"ModuleCall":    {"Repeat", "DependsOn"},
	"Check":         {"Scoped", "Asserts"},
	"Provisioner":   {"Type", "Body", "Connection", "Destroy", "Continue"},
	"ActionTrigger": {"Events", "Condition", "Actions", "OnFailure"},
	"Condition":     {"Condition", "ErrorMessage"},
}

// TestEverySettingIsHashed lists the fields of blocks: a new one has to be hashed, or to be in the list of
// the others with a reason.
func TestEverySettingIsHashed(t *testing.T) {
	for _, of := range []any{
		config.Resource{},
		config.Lifecycle{},
		config.Variable{},
		config.Local{},
		config.Output{},
		config.Provider{},
		config.ModuleCall{},
		config.Check{},
		config.Provisioner{},
		config.ActionTrigger{},
		config.Condition{},
	} {
		ty := reflect.TypeOf(of)
		for i := range ty.NumField() {
			name := ty.Field(i).Name
			enters, reason := slices.Contains(hashed[ty.Name()], name), notHashed[ty.Name()+"."+name]
			if enters == (reason != "") {
				t.Errorf("%s.%s: got it in %v of the lists, want it in one: hashed, or not with a reason", ty.Name(), name, map[bool]string{true: "both", false: "none"}[enters])
			}
		}
	}
}
