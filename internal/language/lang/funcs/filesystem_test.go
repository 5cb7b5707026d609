package funcs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func set(ss ...string) cty.Value {
	if len(ss) == 0 {
		return cty.SetValEmpty(cty.String)
	}
	return cty.SetVal(strs(ss...).AsValueSlice())
}

func TestFiles(t *testing.T) {
	home := filetest.Tree(t, map[string]string{"h.txt": "home"})
	t.Setenv("HOME", home)
	dir := filetest.Tree(t, map[string]string{
		"hello.txt": "hello", "bin.dat": "\xff\xfe", "d/e/f.txt": "x", ".hidden": "", "w[1]/a.txt": "", secretText: "shh",
	})
	if err := os.Symlink("hello.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	up := "../" + filepath.Base(dir)
	unknown := cty.UnknownVal(cty.String).RefineNotNull()
	runExprs(t, Options{BaseDir: dir}, []exprTest{
		{expr: `file("hello.txt")`, want: str("hello")},
		{expr: `file("./d/../hello.txt")`, want: str("hello")},
		{expr: `file("~/h.txt")`, want: str("home")},
		{expr: `file("` + filepath.ToSlash(home) + `/h.txt")`, want: str("home")},
		{expr: `file(sensitive("hello.txt"))`, want: sens(str("hello"))},
		{expr: `file(e)`, want: eph(str("shh"))},
		{expr: `file("nope${s}")`, err: "the arguments were rejected; the details are withheld"},
		{expr: `file(u)`, want: unknown},
		{expr: `file(null)`, err: "must not be null"},
		{expr: `file("nope.txt")`, err: `no file exists at "nope.txt"; this function works only with files that are distributed`},
		{expr: `file("bin.dat")`, err: `contents of "bin.dat" are not valid UTF-8; use the filebase64 function`},
		{expr: `file(".")`, err: "failed to read file: read .: is a directory"},
		{expr: `filebase64("bin.dat")`, want: str("//4=")},
		{expr: `filebase64("nope")`, err: "no file exists"},
		{expr: `filesha1("hello.txt")`, want: str("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")},
		{expr: `filemd5("hello.txt") == md5("hello")`, want: cty.True},
		{expr: `filesha256("hello.txt") == sha256("hello")`, want: cty.True},
		{expr: `filesha512("hello.txt") == sha512("hello")`, want: cty.True},
		{expr: `filebase64sha256("hello.txt") == base64sha256("hello")`, want: cty.True},
		{expr: `filebase64sha512("hello.txt") == base64sha512("hello")`, want: cty.True},
		{expr: `filemd5("nope.txt")`, err: "no file exists"},
		{expr: `filemd5("d")`, err: "is a directory"},
		{expr: `fileexists("hello.txt")`, want: cty.True},
		{expr: `fileexists("link.txt")`, want: cty.True},
		{expr: `fileexists("nope")`, want: cty.False},
		{expr: `fileexists("~/nope")`, want: cty.False},
		{expr: `fileexists(e)`, want: eph(cty.True)},
		{expr: `fileexists(".")`, err: `"." is a directory, not a file`},
		{expr: `fileexists("~root/x")`, err: "user-specific home dir"},
		{expr: `fileset(".", "*.txt")`, want: set("hello.txt", "link.txt")},
		{expr: `fileset(".", "**/*.txt")`, want: set("hello.txt", "link.txt", "d/e/f.txt", "w[1]/a.txt")},
		{expr: `fileset(".", "d/**")`, want: set("d/e/f.txt")},
		{expr: `fileset("d", "**")`, want: set("e/f.txt")},
		{expr: `fileset("w[1]", "*")`, want: set("a.txt")},
		{expr: `fileset(".", "{hello,link}.txt")`, want: set("hello.txt", "link.txt")},
		{expr: `fileset(".", "hello.txt")`, want: set("hello.txt")},
		{expr: `fileset(".", ".h*")`, want: set(".hidden")},
		{expr: `fileset(".", "` + up + `/*.txt")`, want: set(up+"/hello.txt", up+"/link.txt")},
		{expr: `fileset("nope", "*")`, want: set()},
		{expr: `fileset(".", "d")`, want: set()},
		{expr: `fileset(".", "[")`, err: `failed to glob pattern "[": syntax error in pattern`},
		{expr: `fileset(".", sensitive("d/**"))`, want: sens(set("d/e/f.txt"))},
		{expr: `pathexpand("~/x")`, want: str(filepath.Join(home, "x"))},
		{expr: `pathexpand("~")`, want: str(home)},
		{expr: `pathexpand("x~")`, want: str("x~")},
		{expr: `pathexpand("~root/x")`, err: "cannot expand user-specific home dir"},
		{expr: `abspath("x")`, want: str(filepath.ToSlash(filepath.Join(dir, "x")))},
		{expr: `abspath("/a/../b")`, want: str("/b")},
		{expr: `basename("a/b/c.txt")`, want: str("c.txt")},
		{expr: `basename("")`, want: str(".")},
		{expr: `dirname("a/b")`, want: str("a")},
	})
}

func TestTemplates(t *testing.T) {
	dir := filetest.Tree(t, map[string]string{
		"t.tmpl":      "Hi ${name}!",
		"value.tmpl":  "${list}",
		"loop.tmpl":   "%{ for x in list }${upper(x)},%{ endfor }",
		"bad.tmpl":    "a\n${",
		"rec.tmpl":    `${templatefile("rec.tmpl", {})}`,
		"outer.tmpl":  `<${templatefile("t.tmpl", { name = core::upper(who) })}>`,
		"broken.tmpl": "${tonumber(x)}",
		"static.tmpl": "static",
	})
	runExprs(t, Options{BaseDir: dir}, []exprTest{
		{expr: `templatefile("t.tmpl", { name = "J" })`, want: str("Hi J!")},
		{expr: `templatefile("t.tmpl", { name = 1, "a-b" = 2 })`, want: str("Hi 1!")},
		{expr: `templatefile("t.tmpl", tomap({ name = "J" }))`, want: str("Hi J!")},
		{expr: `templatefile("t.tmpl", { name = s })`, want: sens(str("Hi " + secretText + "!"))},
		{expr: `templatefile("t.tmpl", { name = se })`, want: sens(eph(str("Hi " + secretText + "!")))},
		{
			expr: `templatefile("t.tmpl", { name = u })`,
			want: cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("Hi ").NewValue(),
		},
		{expr: `templatefile(u, {})`, want: cty.DynamicVal},
		{expr: `templatefile(ue, {})`, want: eph(cty.DynamicVal)},
		{expr: `templatefile("value.tmpl", { list = ["a"] })`, want: tuple(str("a"))},
		{expr: `templatefile("loop.tmpl", { list = ["a", "b"] })`, want: str("A,B,")},
		{expr: `templatefile("outer.tmpl", { who = "j" })`, want: str("<Hi J!>")},
		{expr: `templatefile("t.tmpl", {})`, err: `t.tmpl:1,6-10: Undefined template variable: The call that renders this template passes no variable "name". It passes none at all`},
		{expr: `templatefile("t.tmpl", { "1x" = 1 })`, err: `invalid template variable name "1x"`},
		{expr: `templatefile("t.tmpl", ["x"])`, err: "invalid vars value: must be a map"},
		{expr: `templatefile("nope.tmpl", {})`, err: `no file exists at "nope.tmpl"`},
		{expr: `templatefile("bad.tmpl", {})`, err: "bad.tmpl:2"},
		{expr: `templatefile("broken.tmpl", { x = "y" })`, err: `cannot convert "y" to number`},
		{expr: `templatefile("broken.tmpl", { x = s })`, err: "the template could not be rendered; the details are withheld"},
		{expr: `templatefile("rec.tmpl", {})`, err: "maximum recursion depth 1024 reached in rec.tmpl"},

		{expr: `templatestring(t, { n = "x" })`, want: str("Hi x!")},
		{expr: `templatestring("plain", {})`, want: str("plain")},
		{expr: `templatestring(t, {})`, err: `passes no variable "n"`},
		{expr: `templatestring(sensitive(t), { n = 1 })`, want: sens(str("Hi 1!"))},
		{expr: `templatestring(t, { n = e })`, want: eph(str("Hi " + secretText + "!"))},
		{expr: `templatestring(u, {})`, want: cty.DynamicVal},
		{expr: `templatestring("$${templatestring(\"a\", {})}", {})`, want: str("a")},
		{expr: `templatestring("$${templatefile(\"static.tmpl\", {})}", {})`, want: str("static")},
		{expr: `templatestring("$${nofunc()}", {})`, err: `no function named "nofunc"`},
		{expr: `templatestring(null, {})`, err: "must not be null"},
	})
	if _, err := evalIn(t, Options{BaseDir: dir}, `templatefile("rec.tmpl", {})`); err == nil || len(err.Error()) > 500 {
		t.Errorf("a message of the wrong size: %v", err)
	}
	if _, err := evalIn(t, Options{}, `templatestring("$${`+secretText+`", s)`); err == nil || !strings.Contains(err.Error(), "must be a map") {
		t.Errorf("got %v", err)
	}
}
