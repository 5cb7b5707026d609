package diag

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func TestSyntax(t *testing.T) {
	const block = "resource \"t\" \"a\" {\n  input = %s\n}\noutput \"o\" {\n  value = \"x\"\n}\n"
	tests := []struct{ src, want string }{
		{fmt.Sprintf(block, `"x`), `2: ": Unclosed quoted string`},
		{fmt.Sprintf(block, `x"`), `2: ": Unclosed quoted string`},
		{fmt.Sprintf(block, `"${upper("x)}"`), `2: (: Unclosed parenthesis`},
		{fmt.Sprintf(block, "\"a\n b\""), `2: ": Unclosed quoted string`},
		{fmt.Sprintf(block, `"${path.module"`), `2: ${: Unclosed template sequence`},
		{fmt.Sprintf(block, `"${upper("x")"`), `2: ${: Unclosed template sequence`},
		{fmt.Sprintf(block, `"%{ if true }x"`), `2: %{: Unclosed template directive`},
		{fmt.Sprintf(block, `"%{ if true }%{ for x in y }x%{ endfor }"`), `2: %{: Unclosed template directive`},
		{fmt.Sprintf(block, `["x", "y"`), `2: [: Unclosed bracket`},
		{fmt.Sprintf(block, `f("x"`), `2: (: Unclosed parenthesis`},
		{fmt.Sprintf(block, `[f("x"]`), `2: (: Unclosed parenthesis`},
		{fmt.Sprintf(block, `f({ a = 1)`), `2: {: Unclosed brace`},
		{fmt.Sprintf(block, `"${f("x"}"`), `2: (: Unclosed parenthesis`},
		{fmt.Sprintf(block, `f("x"))`), `2: ): Unexpected closing bracket`},
		{fmt.Sprintf(block, "<<EOT\n  hello"), `2: <<EOT: Unclosed heredoc`},
		{fmt.Sprintf(block, "<<-EOT\n  ${x\n  EOT"), `3: ${: Unclosed template sequence`},
		{fmt.Sprintf(block, "f(<<EOT\n  hello\nEOTA\nEOT)"), `2: <<EOT: Unclosed heredoc`},
		{fmt.Sprintf(block, `/* 1`), `2: /*: Unclosed comment`},
		{"a {\n  b = 1\n\nc {\n}\n", `1: {: Unclosed configuration block`},
		{"a {\n  b {\n    c = 1\n\n  d = 2\n}\nc {\n}\n", `2: {: Unclosed configuration block`},
		{"a {\n  b = {\n    c = [1]\n\n  d = 2\n}\nc {\n}\n", `2: {: Unclosed brace`},
		{"a {\n  b = {\n", `2: {: Unclosed brace`},
		{"a {\n}\n}\nb {\n}\n", `3: }: Unexpected closing bracket`},
		{"a = 'x'\nb = [\n", "1: ': Invalid character\n2: [: Unclosed bracket"},
		{"a = “x”\n", "1: “: Invalid character"},
		{"a = 1 & 2\n", "1: &: Unsupported operator"},
		{"a =\nb = 1\n", "1: \n: Invalid expression"},
		{"a = << EOT\nhello\nEOT\n", "1: << EOT: Invalid heredoc"},
		{"a = 1\n", ""},
	}
	for _, test := range tests {
		_, hd := hclsyntax.ParseConfig([]byte(test.src), "a.tf", hcl.InitialPos)
		tokens, _ := hclsyntax.LexConfig([]byte(test.src), "a.tf", hcl.InitialPos)
		var got []string
		for _, d := range Syntax(hd, tokens) {
			got = append(got, snippet(test.src, *d.Subject)+": "+d.Summary)
		}
		if got := strings.Join(got, "\n"); got != test.want {
			t.Errorf("%s\ngot %s\nwant %s\nfrom %v", test.src, got, test.want, hd)
		}
	}
}

func TestSyntaxOfTemplate(t *testing.T) {
	for src, want := range map[string]string{
		"%{ for n in names }\n${n}\n": `1,1-3: Unclosed template directive: There is no "%{ endfor }" for this "%{ for }".`,
		"a\n${n\n":                    `2,1-3: Unclosed template sequence: There is no closing "}" for this "${". In text for another program, such as a shell, write $${.`,
		"a\n${f(n}\n":                 `2,4-5: Unclosed parenthesis: There is no closing ")" for this "(". The "}" on line 2 comes first.`,
	} {
		_, hd := hclsyntax.ParseTemplate([]byte(src), "a.tftpl", hcl.InitialPos)
		tokens, _ := hclsyntax.LexTemplate([]byte(src), "a.tftpl", hcl.InitialPos)
		got := Syntax(hd, tokens)
		if len(got) != 1 || got[0].String() != "a.tftpl:"+want {
			t.Errorf("%s: got %v, want a.tftpl:%s", src, got, want)
		}
	}
}

func TestSyntaxHints(t *testing.T) {
	for src, want := range map[string]string{
		`"\d"`:                  `The symbol "d" is not a valid escape sequence selector. For a backslash in the text, write two of them: \\.`,
		`"%{code}"`:             `"code" is not a valid template control keyword. The keywords are if, else, endif, for and endfor. If the text is meant for another program, double the percent sign: %%{.`,
		`"%{ iff x }"`:          `"iff" is not a valid template control keyword. Did you mean "if"?`,
		"x ? 1":                 "The conditional operator (...?...:...) requires a false expression, delimited by a colon. For no value in that case, write CONDITION ? VALUE : null.",
		"var.x.upper()":         "An argument definition must end with a newline. Values have no methods: call a function with the value as its argument, as in upper(VALUE).",
		`"say "hi""`:            `An argument definition must end with a newline. For a quotation mark within the text, write \".`,
		"x and y":               `An argument definition must end with a newline. The operator for "and" is &&.`,
		"x or y":                `An argument definition must end with a newline. The operator for "or" is ||.`,
		"not x":                 `An argument definition must end with a newline. The operator for "not" is !.`,
		"if x then 1":           "An argument definition must end with a newline. A conditional is written as CONDITION ? VALUE : OTHER.",
		"1 if x":                "An argument definition must end with a newline. A conditional is written as CONDITION ? VALUE : OTHER.",
		"1 2":                   "An argument definition must end with a newline.",
		"x ?? y":                "There is no operator ??. For another value in place of null, write coalesce(VALUE, OTHER).",
		"x === y":               "There is no operator ===. To compare, write ==.",
		"x <> y":                "There is no operator <>. To compare, write !=.",
		"1 ++ 2":                "There is no operator ++.",
		"1 + + 2":               "Expected the start of an expression, but found an invalid expression token.",
		"":                      "There is no value after the equals sign. Write one, null for none, or remove the argument.",
		"{ b = }":               "There is no value after the equals sign. Write one, null for none, or remove the argument.",
		"[for n in x upper(n)]": "For expression requires a colon after the collection expression. Write it as in [for x in VALUES : x].",
		"[for n in x if n : n]": "For expression requires a colon after the collection expression. The condition comes last, as in [for x in VALUES : x if CONDITION].",
		"{ for n in x : n }":    "Key expression is required when building an object. Write { for x in VALUES : KEY => x }, or brackets in place of the braces for a list.",
		"[for n in x : n => 1]": "Key expression is not valid when building a tuple. To build an object, write braces in place of the brackets.",
	} {
		src = "a = " + src + "\n"
		_, hd := hclsyntax.ParseConfig([]byte(src), "a.tf", hcl.InitialPos)
		tokens, _ := hclsyntax.LexConfig([]byte(src), "a.tf", hcl.InitialPos)
		if got := Syntax(hd, tokens); len(got) != 1 || got[0].Detail != want {
			t.Errorf("%s: got %v, want %s", src, got, want)
		}
	}
}

func FuzzSyntax(f *testing.F) {
	for _, s := range []string{"a {\n", "a = \"${f(\"x\"}\"\n", "a = <<E\n${\nE\n", "%{ if x }%{ else }", "}])"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<12 {
			return
		}
		for _, native := range []bool{true, false} {
			lex, hd := hclsyntax.LexTemplate, hcl.Diagnostics(nil)
			if native {
				lex = hclsyntax.LexConfig
				_, hd = hclsyntax.ParseConfig([]byte(src), "a", hcl.InitialPos)
			} else {
				_, hd = hclsyntax.ParseTemplate([]byte(src), "a", hcl.InitialPos)
			}
			tokens, _ := lex([]byte(src), "a", hcl.InitialPos)
			if got := Syntax(hd, tokens); hd.HasErrors() != got.HasErrors() {
				t.Errorf("%q: got %v of %v, want errors if there were some", src, got, hd)
			}
			if d, _ := unbalanced(tokens); d != nil && !hd.HasErrors() {
				t.Errorf("%q is valid: %v", src, d)
			}
		}
	})
}
