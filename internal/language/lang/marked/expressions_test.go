package marked_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// expressionGenerator makes random expressions over the variables of the worlds.
type expressionGenerator struct {
	*rand.Rand
	names  []string // of functions
	table  map[string]function.Function
	locals []string // loop variables in scope
	called []string
}

func newExpressions(seed uint64, table map[string]function.Function) *expressionGenerator {
	g := &expressionGenerator{Rand: rand.New(rand.NewPCG(seed, 7)), table: table}
	for name := range table {
		if !strings.Contains(name, "::") {
			g.names = append(g.names, name)
		}
	}
	slices.Sort(g.names)
	return g
}

func pick[T any](g *expressionGenerator, of ...T) T { return of[g.IntN(len(of))] }

func (g *expressionGenerator) text(depth int) string {
	if depth == 0 || g.IntN(6) == 0 {
		return pick(g, `"a"`, `"b"`, `"1"`, `""`, "p", "q", "s", "s", "s", "doc", "x", "mixed.a", "mixed.b", "mixed.c", "pair[0]", "pair[1]", "texts[0]", "texts[1]", "users[0].b", `keyed["b"].a`, "none", "unknown", "unknown", g.local())
	}
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf(`"a${%s}"`, g.any(depth-1))
	case 1:
		return fmt.Sprintf(`"${%s}"`, g.any(depth-1))
	case 2:
		return fmt.Sprintf(`"%%{ if %s }%s%%{ else }${%s}%%{ endif }"`, g.truth(depth-1), pick(g, "x", ""), g.text(depth-1))
	case 3:
		return fmt.Sprintf(`"%%{ for v in %s }${%s}%%{ endfor }"`, g.sequence(depth-1), g.within("v", func() string { return g.text(depth - 1) }))
	case 4:
		return fmt.Sprintf("tostring(%s)", g.any(depth-1))
	default:
		return g.anyForm(depth)
	}
}

func (g *expressionGenerator) local() string {
	if len(g.locals) == 0 {
		return "p"
	}
	return pick(g, g.locals...)
}

// within generates with a loop variable in scope.
func (g *expressionGenerator) within(name string, make func() string) string {
	g.locals = append(g.locals, name)
	defer func() { g.locals = g.locals[:len(g.locals)-1] }()
	return make()
}

func (g *expressionGenerator) number(depth int) string {
	if depth == 0 || g.IntN(6) == 0 {
		return pick(g, "0", "1", "2", "-1", "one", "n", "n", "n", "q", "x", "s", "pair[2]", "length(l)", "many", g.local())
	}
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", g.number(depth-1), pick(g, "+", "-", "*", "/", "%"), g.number(depth-1))
	case 1:
		return fmt.Sprintf("-%s", g.number(0))
	case 2:
		return fmt.Sprintf("length(%s)", g.any(depth-1))
	default:
		return g.anyForm(depth)
	}
}

func (g *expressionGenerator) truth(depth int) string {
	if depth == 0 || g.IntN(6) == 0 {
		return pick(g, "true", "false", "yes", "no", "b", "b", "b", "x", "s", "maybe")
	}
	switch g.IntN(7) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", g.any(depth-1), pick(g, "==", "!="), g.any(depth-1))
	case 1:
		return fmt.Sprintf("(%s %s %s)", g.number(depth-1), pick(g, "<", ">", "<=", ">="), g.number(depth-1))
	case 2:
		return fmt.Sprintf("(%s %s %s)", g.truth(depth-1), pick(g, "&&", "||"), g.truth(depth-1))
	case 3:
		return "!" + g.truth(0)
	case 4:
		g.called = append(g.called, "can")
		return fmt.Sprintf("can(%s)", g.any(depth-1))
	case 5:
		return fmt.Sprintf("issensitive(%s)", g.any(depth-1))
	default:
		return g.anyForm(depth)
	}
}

func (g *expressionGenerator) sequence(depth int) string {
	if depth == 0 || g.IntN(6) == 0 {
		return pick(g, "[]", `["a", "b"]`, "[1]", "list", "tuple", "set", "l", "l", "t", "la", "lo", "x", "pair", "users", "texts", "deep", "mixed.c", "mixed.d", `["p", s]`, "[x]", "[l, []]", "unknowns", `[unknown, s]`, `["a", unknown]`, g.local())
	}
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("[%s, %s]", g.any(depth-1), g.any(depth-1))
	case 1:
		return fmt.Sprintf("[for v in %s : %s]", g.iterable(depth-1), g.within("v", func() string { return g.any(depth - 1) }))
	case 2:
		coll := g.iterable(depth - 1)
		return g.within("v", func() string {
			return fmt.Sprintf("[for k, v in %s : %s if %s]", coll, g.any(depth-1), g.truth(depth-1))
		})
	case 3:
		return fmt.Sprintf("%s%s", g.operand(depth-1), pick(g, "[*]", ".*.a", "[*].a", "[*][*]", "[*].b", "[*][0]", "[*].b[*]"))
	case 4:
		return fmt.Sprintf("tolist(%s)", g.sequence(depth-1))
	case 5:
		return fmt.Sprintf("toset(%s)", g.sequence(depth-1))
	default:
		return g.anyForm(depth)
	}
}

func (g *expressionGenerator) mapping(depth int) string {
	if depth == 0 || g.IntN(6) == 0 {
		return pick(g, "{}", `{ a = 1 }`, `{ a = "x", b = "y" }`, "map", "object", "m", "m", "o", "x", "mixed", "keyed", `{ a = s, b = "y" }`, `{ a = x }`, "mixed.c", `{ a = unknown, b = s }`, `{ a = "a", b = unknown }`, g.local())
	}
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("{ a = %s, b = %s }", g.any(depth-1), g.any(depth-1))
	case 1:
		return fmt.Sprintf("{ (%s) = %s }", g.text(depth-1), g.any(depth-1))
	case 2:
		coll := g.iterable(depth - 1)
		return g.within("v", func() string {
			return fmt.Sprintf("{ for k, v in %s : %s => %s%s }", coll, pick(g, "k", "v", "\"x${k}\"", g.text(depth-1)), g.any(depth-1), pick(g, "", "..."))
		})
	case 3:
		coll := g.iterable(depth - 1)
		return g.within("v", func() string {
			return fmt.Sprintf("{ for k, v in %s : k => %s if %s }", coll, g.any(depth-1), g.truth(depth-1))
		})
	case 4:
		return fmt.Sprintf("tomap(%s)", g.mapping(depth-1))
	default:
		return g.anyForm(depth)
	}
}

func (g *expressionGenerator) iterable(depth int) string {
	if g.IntN(3) == 0 {
		return g.mapping(depth)
	}
	return g.sequence(depth)
}

func (g *expressionGenerator) operand(depth int) string {
	return "(" + pick(g, g.sequence, g.mapping, g.any)(depth) + ")"
}

// any generates an expression of any kind.
func (g *expressionGenerator) any(depth int) string {
	return pick(g, g.text, g.number, g.truth, g.sequence, g.sequence, g.mapping, g.anyForm)(depth)
}

// anyForm generates an expression that may have a result of any kind.
func (g *expressionGenerator) anyForm(depth int) string {
	if depth == 0 {
		return pick(g, "x", "x", "o", "pair", "mixed", "null", "p", "one", "whatever")
	}
	kind := pick(g, g.text, g.number, g.truth, g.sequence, g.mapping)
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf("(%s ? %s : %s)", g.truth(depth-1), kind(depth-1), kind(depth-1))
	case 1:
		return fmt.Sprintf("(%s ? %s : %s)", g.truth(depth-1), g.any(depth-1), pick(g, g.any(depth-1), "null"))
	case 2:
		g.called = append(g.called, "try")
		return fmt.Sprintf("try(%s, %s)", kind(depth-1), pick(g, kind(depth-1), g.any(depth-1), "null"))
	case 3:
		return fmt.Sprintf("%s[%s]", g.operand(depth-1), pick(g, g.number, g.text)(depth-1))
	case 4:
		return g.operand(depth-1) + pick(g, ".a", ".b", "[0]", `["a"]`, "[1]", ".a.a")
	case 5:
		return fmt.Sprintf("convert(%s, %s)", g.any(depth-1), pick(g, "string", "number", "list(any)", "map(any)", "object({ a = any })", "list(string)", "any", "set(any)", "tuple([any])"))
	case 6:
		return fmt.Sprintf("templatestring(%s, %s)", pick(g, `"$${a}"`, `"$${a}-"`, `"%%{ for x in a }$${x}%%{ endfor }"`, "s"), pick(g, g.mapping(depth-1), "{ a = "+g.any(depth-1)+" }"))
	case 7:
		return fmt.Sprintf("jsondecode(%s)", pick(g, "doc", "doc", g.text(depth-1)))
	default:
		return g.call(depth)
	}
}

// call generates a call of any function with arguments that mostly suit it.
func (g *expressionGenerator) call(depth int) string {
	return g.callOf(pick(g, g.names...), depth)
}

// callOf generates a call of one function.
func (g *expressionGenerator) callOf(name string, depth int) string {
	g.called = append(g.called, name)
	f := g.table[name]
	var args []string
	for _, p := range f.Params() {
		args = append(args, g.argument(name, p, depth-1))
	}
	if rest := f.VarParam(); rest != nil {
		for range g.IntN(3) + 1 {
			args = append(args, g.argument(name, *rest, depth-1))
		}
		if g.IntN(5) == 0 {
			args = append(args, g.sequence(depth-1)+"...")
		}
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// argument generates an argument for a parameter.
func (g *expressionGenerator) argument(name string, p function.Parameter, depth int) string {
	if g.IntN(12) == 0 {
		return g.any(depth)
	}
	switch ty := p.Type; {
	case ty == cty.String && p.Name == "encoding":
		return `"UTF-16LE"`
	case ty == cty.String:
		if known := wellKnown[name]; known != nil && g.IntN(2) == 0 {
			return pick(g, known...)
		}
		return g.text(depth)
	case ty == cty.Number:
		if g.IntN(2) == 0 {
			return pick(g, "0", "1", "2")
		}
		return g.number(depth)
	case ty == cty.Bool:
		return g.truth(depth)
	case ty.IsSetType() && g.IntN(2) == 0:
		return pick(g, "t", "set", `["a"]`)
	case ty.IsListType() || ty.IsSetType():
		return g.sequence(depth)
	case ty.IsMapType():
		return g.mapping(depth)
	case strings.HasPrefix(name, "assume") && p.Name == "type", name == "convert" && p.Name == "type":
		return "any"
	}
	switch name {
	case "merge", "keys", "values", "lookup":
		if p.Name != "default" {
			return g.mapping(depth)
		}
	case "concat", "flatten", "element", "slice", "one", "reverse", "setproduct", "coalescelist", "contains", "index", "sum", "zipmap", "toset", "tolist", "chunklist", "distinct":
		if p.Name != "value" {
			return g.sequence(depth)
		}
	}
	return g.any(depth)
}

// wellKnown are texts that functions accept which refuse most others.
var wellKnown = map[string][]string{
	"base64decode": {`"YQ=="`, "base64encode(s)"}, "base64gunzip": {"base64gzip(s)", `base64gzip("x")`}, "textdecodebase64": {`textencodebase64(s, "UTF-16LE")`},
	"cidrhost": {`"10.0.0.0/8"`}, "cidrnetmask": {`"10.0.0.0/8"`}, "cidrsubnet": {`"10.0.0.0/8"`}, "cidrsubnets": {`"10.0.0.0/8"`}, "cidrcontains": {`"10.0.0.0/8"`, `"10.1.0.0"`},
	"csvdecode": {"doc", `"a,b\n1,2\n"`}, "jsondecode": {"doc", `"[1]"`}, "yamldecode": {"doc", `"a: 1"`}, "formatdate": {`"YYYY"`, `"2020-01-01T00:00:00Z"`}, "timeadd": {`"2020-01-01T00:00:00Z"`, `"1h"`},
	"timecmp": {`"2020-01-01T00:00:00Z"`}, "regex": {`"[a-z]+"`, `"(.)(?P<q>.)"`, `"(a)?"`, `"ab"`}, "regexall": {`"[a-z]"`, `"(.)"`}, "uuidv5": {`"dns"`}, "parseint": {`"12"`, "s"}, "format": {`"%v"`, `"%s"`}, "formatlist": {`"%v"`, `"%s"`},
}
