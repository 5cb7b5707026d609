package format_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/language/config/format"
)

// sources are inputs with the results of other engines.
var sources = map[string][2]string{
	"empty":            {"", ""},
	"no end of line":   {"a=1", "a = 1"},
	"blank lines stay": {"a=1\n\n\n\nb {\n\n\n}\n\n", "a = 1\n\n\n\nb {\n\n\n}\n\n"},
	"indentation":      {"a {\n\t\tb {\nc=[\n1,\n\t2]\n}\n}\n", "a {\n  b {\n    c = [\n      1,\n    2]\n  }\n}\n"},
	"alignment":        {"a=1\nbbb=2 # x\ncc=3 # yy\n\nd=4\n", "a   = 1\nbbb = 2 # x\ncc  = 3 # yy\n\nd = 4\n"},
	"trailing blanks":  {"a = 1 \t\nb {  \n}\n", "a = 1\nb {\n}\n"},
	"carriage returns": {"a=\"${x}\"\r\nb = \"${x +\r\ny}\"\r\n", "a = x\r\nb = (x +\r\ny)\r\n"},
	"byte order mark":  {"\xef\xbb\xbfa=\"${x}\"\nb c {}\n", "a = x\nb \"c\" {}\n"},
	"heredoc":          {"a=<<E\n  x  \nE\n", "a = <<E\n  x  \nE\n"},

	"interpolation":         {"a = \"${ x.y }\"\n", "a = x.y\n"},
	"with strip markers":    {"a = \"${~ x ~}\"\n", "a = x\n"},
	"with a comment behind": {"a = \"${x}\" // c\n", "a = x // c\n"},
	"in a block of a line":  {"b { a = \"${x}\" }\n", "b { a = x }\n"},
	"once only":             {"a = \"${\"${x}\"}\"\n", "a = \"${x}\"\n"},
	"two interpolations":    {"a = \"${x}${y}\"\n", "a = \"${x}${y}\"\n"},
	"in an expression":      {"a = [\"${x}\", \"${y}\" == \"${z}\"]\n", "a = [\"${x}\", \"${y}\" == \"${z}\"]\n"},
	"in a heredoc":          {"a = <<E\n${x}\nE\n", "a = <<E\n${x}\nE\n"},
	"a directive":           {"a = \"%{ if x }y%{ endif }\"\n", "a = \"%{if x}y%{endif}\"\n"},
	"on lines of its own":   {"a = \"${\n\n  x\n}\"\n", "a = x\n"},
	"over several lines":    {"b {\n  a = \"${x\n  + y\n+ z}\"\n}\n", "b {\n  a = (x\n    + y\n  + z)\n}\n"},
	"a call over lines":     {"a = \"${f(\nx,\n)}\"\n", "a = (f(\n  x,\n))\n"},
	"in parentheses":        {"a = \"${(\nx\n)}\"\n", "a = (\n  x\n)\n"},
	"a lone heredoc":        {"a = \"${<<E\nx\nE\n}\"\n", "a = <<E\nx\nE\n"},
	"a comment at its end":  {"a = \"${x # c\n}\"\nb = 1\n", "a = x # c\n\nb = 1\n"},
	"comment in brackets":   {"a = \"${x +\ny # c\n}\"\n", "a = (x +\n  y # c\n)\n"},

	"labels":             {"a b \"c\" d{}\n", "a \"b\" \"c\" \"d\" {}\n"},
	"escapes in a label": {"a \"\\u00e9\\t\\\"\" {}\n", "a \"é\\t\\\"\" {}\n"},

	"types": {
		"variable a {\n type=\"string\" # c\n}\nvariable b {\n type = \"list\"\n}\nvariable c { type=\"map\" }\nvariable d { type=list }\nvariable e { type = map }\nvariable f { type = set }\n",
		"variable \"a\" {\n  type = string # c\n}\nvariable \"b\" {\n  type = list(string)\n}\nvariable \"c\" { type = map(string) }\n" +
			"variable \"d\" { type = list(any) }\nvariable \"e\" { type = map(any) }\nvariable \"f\" { type = set(any) }\n",
	},
	"other types": {
		"variable \"a\" { type = \"number\" }\nvariable \"b\" { type = list(map) }\nvariable \"c\" { type = \"${list}\" }\noutput \"d\" { type = list }\nx {\n  variable \"e\" { type = list }\n}\n",
		"variable \"a\" { type = \"number\" }\nvariable \"b\" { type = list(map) }\nvariable \"c\" { type = \"${list}\" }\noutput \"d\" { type = list }\nx {\n  variable \"e\" { type = list }\n}\n",
	},
}

// kept are inputs that other engines shorten or turn into something unparseable.
var kept = map[string][2]string{
	"comment between labels":          {"a b /* c */ d {}\n", "a \"b\" /* c */ \"d\" {}\n"},
	"template characters in a label":  {"a \"100%\" \"$x\" \"$${y}\" {}\n", "a \"100%\" \"$x\" \"$${y}\" {}\n"},
	"two pairs of parentheses":        {"a = \"${(x) +\n(y)}\"\n", "a = ((x) +\n(y))\n"},
	"a comment first":                 {"a = \"${# c\nx}\"\n", "a = ( # c\nx)\n"},
	"a comment within":                {"a = \"${x # c\n+ y}\"\n", "a = (x # c\n+ y)\n"},
	"a comment in a block of a line":  {"b { a = \"${x # c\n}\" }\n", "b { a = (x # c\n) }\n"},
	"a heredoc and a comment":         {"a = \"${<<E\nx\nE\n}\" # c\n", "a = (<<E\nx\nE\n) # c\n"},
	"a heredoc at the end of a sum":   {"a = \"${x +\n<<E\nx\nE\n}\"\n", "a = (x +\n  <<E\nx\nE\n)\n"},
	"a heredoc at the end of a file":  {"a = \"${<<E\nx\nE\n}\"", "a = (<<E\nx\nE\n)"},
	"escapes and template characters": {"a \"\\u00e9$\" {}\n", "a \"\\u00e9$\" {}\n"},
}

func TestSource(t *testing.T) {
	for _, table := range []map[string][2]string{sources, kept} {
		for name, tt := range table {
			t.Run(name, func(t *testing.T) {
				got, diags := format.Source([]byte(tt[0]), "main.tf")
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				if diff := cmp.Diff(tt[1], string(got)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				sameMeaning(t, tt[0], string(got))
			})
		}
	}
}

func TestSourceRefuses(t *testing.T) {
	deep := make([]byte, 100_000)
	for i := range deep {
		deep[i] = '['
	}
	for name, src := range map[string]string{
		"no expression":     "a =\n",
		"an open block":     "a {\n",
		"two on a line":     "a = 1 b = 2\n",
		"twice":             "a = 1\na = 2\n",
		"not UTF-8":         "a = \"\xff\"\n",
		"nested too deeply": "a = " + string(deep),
	} {
		t.Run(name, func(t *testing.T) {
			got, diags := format.Source([]byte(src), "main.tf")
			if !diags.HasErrors() || got != nil {
				t.Errorf("the result is %q with %v", got, diags)
			}
		})
	}
}

func BenchmarkSource(b *testing.B) {
	src := []byte(strings.Repeat("resource \"terraform_data\" \"a\" {\n  input = \"v\"\n}\n\n", 1000))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, diags := format.Source(src, "main.tf"); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}
