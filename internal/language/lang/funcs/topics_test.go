package funcs

//lint:file-ignore SA1019 rsadecrypt is defined as PKCS #1 v1.5

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/bcrypt"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

func TestStrings(t *testing.T) {
	unknownBool := cty.UnknownVal(cty.Bool).RefineNotNull()
	runExprs(t, Options{}, []exprTest{
		{expr: `startswith(u, "b")`, want: unknownBool},
		{expr: `startswith(e, "b")`, want: eph(cty.False)},
		{expr: `replace("hello", "/(?P<x>l+)/", "<$x>")`, want: str("he<ll>o")},
		{expr: `replace("a/b", "/", "-")`, want: str("a-b")},
		{expr: `replace("a/b", "//", "-")`, want: str("-a-/-b-")},
		{expr: `replace(s, "/(/", "-")`, err: "details are withheld"},
		{expr: `indent(1e18, "a\nb")`, err: "between 0 and"},
	})
}

func TestConversions(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `tostring(u)`, want: cty.UnknownVal(cty.String)},
		{expr: `tolist([e, "b"])`, want: cty.ListVal([]cty.Value{eph(str(secretText)), str("b")})},
		{expr: `tolist(sensitive(["b"]))`, want: sens(strs("b"))},
		{expr: `tomap(o)["b"]`, want: str("x")},
		{expr: `toset([e, "b"])`, want: eph(cty.SetVal([]cty.Value{str(secretText), str("b")}))},
		{expr: `tolist(ul)`, want: cty.UnknownVal(cty.List(cty.String)).Refine().NewValue()},
		{expr: `tonumber(dy)`, want: cty.UnknownVal(cty.Number)},
		{expr: `list(1)`, err: "use tolist([ ... ]) syntax to write a literal list"},
		{expr: `list()`, err: "tolist"},
		{expr: `map("a", null)`, err: "use tomap({ ... }) syntax to write a literal map"},
		{expr: `map(e, u)`, err: "tomap"},
	})
}

func TestType(t *testing.T) {
	tests := []struct {
		expr, want string
		marks      []value.Mark
	}{
		{expr: `type(1)`, want: "number"},
		{expr: `type(null)`, want: "dynamic"},
		{expr: `type(u)`, want: "string"},
		{expr: `type(e)`, want: "string", marks: []value.Mark{value.Ephemeral}},
		{expr: `type(s)`, want: "string", marks: []value.Mark{value.Sensitive}},
		{expr: `type({ b = e, a = "" })`, want: "object({\n    a: string,\n    b: string,\n})", marks: []value.Mark{value.Ephemeral}},
		{expr: `type({ (e) = 1 })`, want: "object (sensitive)", marks: []value.Mark{value.Ephemeral}},
		{expr: `type([{ (s) = 1 }, 2])`, want: "tuple([\n    object (sensitive),\n    number,\n])", marks: []value.Mark{value.Sensitive}},
		{expr: `type(tolist([{ (s) = 1 }]))`, want: "list(object (sensitive))", marks: []value.Mark{value.Sensitive}},
		{expr: `type(tomap({ a = { (s) = 1 } }))`, want: "map(object (sensitive))", marks: []value.Mark{value.Sensitive}},
		{expr: `type(sensitive(toset([{ a = 1 }])))`, want: "set(object (sensitive))", marks: []value.Mark{value.Sensitive}},
		{expr: `type(sensitive([1]))`, want: "tuple (sensitive)", marks: []value.Mark{value.Sensitive}},
		{expr: `type(sensitive({ public = "" }))`, want: "object({\n    public: string,\n})", marks: []value.Mark{value.Sensitive}},
		{expr: `type({})`, want: "object({})"},
		{expr: `type([])`, want: "tuple([])"},
		{expr: `type(tomap({ a = 1 }))`, want: "map(number)"},
		{expr: `type(toset(["a"]))`, want: "set(string)"},
		{expr: `type(tolist([{ a = 1 }]))`, want: "list(\n    object({\n        a: number,\n    }),\n)"},
		{expr: `type(tolist([tolist([{ a = 1 }])]))`, want: "list(list(\n    object({\n        a: number,\n    }),\n))"},
		{expr: `type(tolist([toset([1])]))`, want: "list(set(number))"},
		{expr: `type([1, { a = [1] }])`, want: "tuple([\n    number,\n    object({\n        a: tuple([\n            number,\n        ]),\n    }),\n])"},
	}
	for _, test := range tests {
		v, err := evalIn(t, Options{Console: true, PublicType: cty.Object(map[string]cty.Type{"public": cty.String}).Equals}, test.expr)
		if err != nil {
			t.Fatalf("%s: %s", test.expr, err)
		}
		ty, err := TypeOf(v)
		if err != nil || TypeText(ty) != test.want {
			t.Errorf("%s: got %q, %v; want %q", test.expr, TypeText(ty), err, test.want)
		}
		for _, m := range append(test.marks, value.TypeValue) {
			if !value.Has(v, m) {
				t.Errorf("%s lost the mark %s", test.expr, m)
			}
		}
		if len(v.Marks()) != len(test.marks)+1 {
			t.Errorf("%s: got the marks %#v, want %v and that of a type", test.expr, v.Marks(), test.marks)
		}
	}
	if _, err := TypeOf(str("x")); err != ErrNotType {
		t.Errorf("TypeOf a string: got %v, want %v", err, ErrNotType)
	}
}

func TestEncodings(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `base64decode(u)`, want: cty.UnknownVal(cty.String).RefineNotNull()},
		{expr: `base64encode(e)`, want: eph(str(base64.StdEncoding.EncodeToString([]byte(secretText))))},
		{expr: `base64gzip("hello world")`, want: str("H4sIAAAAAAAA/8pIzcnJVyjPL8pJAQAAAP//AQAA//+FEUoNCwAAAA==")},
		{expr: `base64gunzip(base64gzip("hello"))`, want: str("hello")},
		{expr: `base64gunzip(base64gzip(se))`, want: sens(eph(str(secretText)))},
		{expr: `urldecode("a%20b+c%2B")`, want: str("a b c+")},
		{expr: `urldecode("%ff")`, err: "not valid UTF-8"},
		{expr: `textencodebase64("héé", "UTF-16LE")`, want: str("aADpAOkA")},
		{expr: `textdecodebase64("gA==", "US-ASCII")`, err: "symbols that are not defined for US-ASCII"},
		{expr: `textdecodebase64("/w==", "UTF-8")`, err: "symbols that are not defined for UTF-8"},
		{expr: `textdecodebase64("aGk=", sensitive("UTF-8"))`, want: sens(str("hi"))},
		{expr: `jsonencode(o)`, want: eph(str(`{"a":"` + secretText + `","b":"x","n":1}`))},
		{expr: `jsondecode(e)`, err: "not valid JSON"},
		{expr: `yamldecode(s)`, want: sens(str(secretText))},
	})
}

func TestNetworks(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `cidrcontains("10.0.0.0/8", "11.1.2.3")`, want: cty.False},
		{expr: `cidrcontains("10.0.0.0/8", "10.1.0.0/7")`, want: cty.False},
		{expr: `cidrcontains("fe80::/16", "fe80::1")`, want: cty.True},
		{expr: `cidrcontains("10.0.0.0/8", "fe80::1")`, err: "address family mismatch: 10.0.0.0/8 vs. fe80::1"},
		{expr: `cidrcontains("10.0.0.0/8", "junk")`, err: "invalid IP address or prefix: junk"},
		{expr: `cidrcontains("junk", "10.0.0.1")`, err: "invalid CIDR address: junk"},
		{expr: `cidrcontains("10.0.0.0/8", e)`, err: "invalid IP address or prefix; the details"},
		{expr: `cidrhost("010.001.0.0/16", 5)`, want: str("10.1.0.5")},
		{expr: `cidrhost("fe80::/64", 18446744073709551615)`, want: str("fe80::ffff:ffff:ffff:ffff")},
		{expr: `cidrhost("junk", 5)`, err: "invalid CIDR expression: invalid CIDR address: junk"},
		{expr: `cidrhost("10.0.0.0/30", 5)`, err: "prefix of 30 does not accommodate a host numbered 5"},
		{expr: `cidrhost("10.0.0.0/8", un)`, want: cty.UnknownVal(cty.String).RefineNotNull()},
		{expr: `cidrnetmask("fe80::/64")`, err: "IPv6 addresses cannot have a netmask: fe80::/64"},
		{expr: `cidrsubnet("fe80::/16", 48, 281474976710655)`, want: str("fe80:ffff:ffff:ffff::/64")},
		{expr: `cidrsubnet("10.1.0.0/16", -8, 0)`, want: str("10.1.0.0/8")},
		{expr: `cidrsubnet("10.1.0.0/16", -17, 0)`, err: "shorter than zero bits"},
		{expr: `cidrsubnet("10.0.0.0/8", 8, 256)`, err: "prefix extension of 8 does not accommodate a subnet numbered 256"},
		{expr: `cidrsubnet("10.0.0.0/8", sensitive(8), 2)`, want: sens(str("10.2.0.0/16"))},
		{expr: `cidrsubnets("010.0.0.0/8", 8, 4)`, want: strs("10.0.0.0/16", "10.16.0.0/12")},
		{expr: `cidrsubnets("fd00::/16", 4, 48, 4, 112)`, want: strs("fd00::/20", "fd00:1000::/64", "fd00:2000::/20", "fd00:3000::/128")},
		{expr: `cidrsubnets("::/0", 128, 127)`, want: strs("::/128", "::2/127")},
		{expr: `cidrsubnets("fd00::/16", 1, 2, 3, 3, 40)`, err: "not enough remaining address space for a subnet with a prefix of 56 bits after fd00:e000::/19"},
		{expr: `cidrsubnets("fd00::/16", 113)`, err: "would extend prefix to more than 128 bits"},
		{expr: `cidrsubnets("fd00::/16", 48, 0)`, err: "must extend prefix by at least one bit"},
		{expr: `cidrsubnets("fd00::/16", 48, 1e40)`, err: "whole number"},
		{expr: `cidrsubnets("fd00::/16", 40, sensitive(48))`, want: sens(strs("fd00::/56", "fd00:0:0:100::/64"))},
		{expr: `cidrsubnets("10.0.0.0/8", 33)`, err: "may not extend prefix by more than 32 bits"},
	})
}

func TestTimes(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `timecmp("2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00")`, want: num(0)},
		{expr: `timecmp("2020-01-01T00:00:00Z", "2020-01-01T00:00:01Z")`, want: num(-1)},
		{expr: `timecmp("2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00Z")`, want: num(1)},
		{expr: `timecmp("2020-01-01T00:00:00Z", "2020-01-01")`, err: `"timestamp_b" parameter: not a valid RFC3339 timestamp: missing`},
		{expr: `timecmp("2020-01-01T00:00:00Z", u)`, want: cty.UnknownVal(cty.Number).RefineNotNull()},
		{expr: `timecmp(e, "2020-01-01T00:00:00Z")`, err: "not a valid RFC3339 timestamp; the details"},
	})
}

func TestHashes(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `base64sha256(u)`, want: cty.UnknownVal(cty.String).RefineNotNull()},
		{expr: `length(base64sha512(e))`, want: eph(num(88))},
		{expr: `uuidv5("bad", "x")`, err: "doesn't support namespace bad"},
		{expr: `bcrypt("x", 4, 5)`, err: "no more than two arguments"},
	})
	got, err := evalIn(t, Options{}, `bcrypt("x", 4)`)
	if err != nil || bcrypt.CompareHashAndPassword([]byte(got.AsString()), []byte("x")) != nil {
		t.Errorf("bcrypt: %#v, %v", got, err)
	}
}

func TestRSADecrypt(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := rsa.EncryptPKCS1v15(rand.Reader, &key.PublicKey, []byte("message"))
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cipher := str(base64.StdEncoding.EncodeToString(raw))
	pem1 := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	pem8 := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
	f := Table(Options{})["rsadecrypt"]
	for _, text := range []string{pem1, pem8} {
		got, err := f.Call([]cty.Value{cipher, sens(str(text))})
		if err != nil || !got.RawEquals(sens(str("message"))) {
			t.Errorf("got %#v, %v, want the sensitive \"message\"", got, err)
		}
	}
	for _, test := range []struct {
		cipher, key cty.Value
		want        string
	}{
		{cipher, str(secretText), "invalid private key"},
		{str(secretText + "!"), str(pem1), "must be base64-encoded"},
		{str("aaaa"), str(pem1), "was not made for this key"},
		{str("aaaa"), sens(str(pem1)), "cannot decrypt the ciphertext"},
	} {
		_, err := f.Call([]cty.Value{test.cipher, test.key})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secretText) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
}
