package format

import (
	"strings"
	"testing"
)

func TestCover(t *testing.T) {
	for src, want := range map[string]string{
		"a=\"x y\"\nb = [1,  true]\n":           "a=\"* *\"\nb = [*,  true]\n",
		"a = <<E\n  some text\nE\nb = 1":        "a = <<E\n  **** ****\nE\nb = *",
		"a = \"x\" # it was y\n":                "a = \"*\" * ** *** *\n",
		"a = secret secret\n":                   "a = ****** ******\n",
		"pass = \"secret\nother = \"secret\"\n": "pass = \"******\n***** * *******\"\n",
		"secret":                                "secret",
	} {
		if got := string(Cover([]byte(src))); got != want {
			t.Errorf("%q: got %q, want %q", src, got, want)
		}
	}
	for _, src := range []string{"a = \"CANARY", "a {\n CANARY\n}", "a = 5CANARY", "a = [CANARY", "a = {\n CANARY = CANARY", "a = \"x\" CANARY", "{\"a\": \"CANARY\"", "a = <<E\nCANARY", "a: CANARY"} {
		if got := string(Cover([]byte(src))); strings.Contains(got, "CANARY") {
			t.Errorf("%q became %q", src, got)
		}
	}
}
