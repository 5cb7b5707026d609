package engine_test

import (
	"fmt"
	"strings"
)

const leakPrelude = `
terraform {
  required_providers {
    leak = { source = "mayfly.dev/test/leak" }
  }
}
`

// text returns the configuration of a round.
func (w *leakWorld) text(round int) string {
	var sb strings.Builder
	sb.WriteString(leakPrelude)
	for _, v := range w.vars {
		fmt.Fprintf(&sb, "variable %q {\n  type = string\n  ephemeral = %t\n  sensitive = %t\n", v.name, v.eph, v.sens)
		if v.inFile {
			fmt.Fprintf(&sb, "  default = %s\n", leakQuote(v.text))
		}
		sb.WriteString("}\n")
	}
	for i, l := range w.locals {
		fmt.Fprintf(&sb, "locals {\n  l%d = %s\n}\n", i, strings.ReplaceAll(l, "leak_old.", "leak_thing."))
	}
	for _, tk := range w.tokens {
		fmt.Fprintf(&sb, "ephemeral \"leak_token\" %q {\n  name = %q\n}\n", tk.name, tk.name)
	}
	for _, a := range w.aliases {
		fmt.Fprintf(&sb, "provider \"leak\" {\n  alias = %q\n", a.name)
		leakArgument(&sb, "token", a.token)
		if a.key != nil {
			fmt.Fprintf(&sb, "  settings = { (%s) = %s }\n", a.key.hcl, a.val.hcl)
		}
		sb.WriteString("}\n")
	}
	for _, n := range w.things {
		if n.declared(round) {
			w.block(&sb, n, round)
		}
	}
	for _, o := range w.outputs {
		if o.alias != nil {
			fmt.Fprintf(&sb, "output %q {\n  value = provider::leak::%s::reply(\"x\")\n}\n", o.name, o.alias.name)
		} else if o.value.has(round) {
			fmt.Fprintf(&sb, "output %q {\n  value = %s\n  sensitive = %t\n}\n", o.name, o.value.in(round), o.value.sens)
		}
	}
	return sb.String()
}

// in returns the expression in a round, where a thing may have its earlier type.
func (e *leakExpr) in(round int) string {
	if e.ref == nil {
		return e.hcl
	}
	return e.ref.address(round) + "." + e.attr
}

func leakArgument(sb *strings.Builder, name string, e *leakExpr) {
	if e != nil {
		fmt.Fprintf(sb, "  %s = %s\n", name, e.hcl)
	}
}

func (w *leakWorld) block(sb *strings.Builder, n *leakThing, round int) {
	argument := func(name string, e *leakExpr) {
		if e.has(round) {
			fmt.Fprintf(sb, "  %s = %s\n", name, e.in(round))
		}
	}
	kind, typ := "resource", n.typeIn(round)
	if n.kind == "leak_lookup" {
		kind = "data"
	}
	fmt.Fprintf(sb, "%s %q %q {\n  provider = leak.%s\n  name = %q\n", kind, typ, n.name, n.alias.name, n.name)
	switch n.each {
	case "[0]":
		sb.WriteString("  count = 1\n")
	case `["k1"]`:
		sb.WriteString("  for_each = toset([\"k1\"])\n")
	}
	if n.after != nil && n.after.declared(round) {
		fmt.Fprintf(sb, "  depends_on = [%s]\n", strings.TrimSuffix(n.after.address(round), n.after.each))
	}
	argument("arg", n.arg)
	if n.cbd {
		sb.WriteString("  lifecycle {\n    create_before_destroy = true\n  }\n")
	}
	if kind == "resource" {
		fmt.Fprintf(sb, "  size = %d\n  replace = %d\n", n.size[round], n.replace[round])
		if n.tagKey != nil {
			fmt.Fprintf(sb, "  tags = { (%s) = %s }\n", n.tagKey.hcl, n.tagVal.hcl)
		}
		argument("secret_wo", n.secret)
		if n.mapKey != nil {
			fmt.Fprintf(sb, "  map_wo = { (%s) = %s }\n", n.mapKey.hcl, n.mapVal.hcl)
		}
		if n.user != nil || n.pass != nil {
			sb.WriteString("  login {\n")
			argument("user", n.user)
			argument("pass_wo", n.pass)
			sb.WriteString("  }\n")
		}
		if n.print != nil {
			fmt.Fprintf(sb, "  provisioner \"local-exec\" {\n    command = \"echo $S\"\n    environment = { S = %s }\n  }\n", n.print.hcl)
		}
	}
	sb.WriteString("}\n")
	if n.moved && round >= 1 {
		fmt.Fprintf(sb, "moved {\n  from = leak_old.%s\n  to = leak_thing.%s\n}\n", n.name, n.name)
	}
	if w.importedBy(n, round) {
		if n.byIdentity {
			fmt.Fprintf(sb, "import {\n  to = %s\n  identity = { key = %s }\n}\n", n.reference(), leakQuote(n.importID))
		} else {
			fmt.Fprintf(sb, "import {\n  to = %s\n  id = %s\n}\n", n.reference(), leakQuote(n.importID))
		}
	}
}
