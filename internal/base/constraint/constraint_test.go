package constraint

import (
	"testing"

	"github.com/apparentlymart/go-versions/versions/constraints"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "",
		"2.9.0":                                  "2.9.0",
		"=0.14":                                  "0.14.0",
		"~> 3":                                   "~> 3.0",
		"~>3.1":                                  "~> 3.1",
		"~> 3.1.2":                               "~> 3.1.2",
		"> 1,<=4.2.1,>=4":                        "> 1.0.0, >= 4.0.0, <= 4.2.1",
		">= 3, != 3.1, <5, ~> 3.9.0, >= 3.0.0":   ">= 3.0.0, != 3.1.0, ~> 3.9.0, < 5.0.0",
		"1.0.0-beta1":                            "1.0.0-beta1",
		"<= 3.9.0, >= 3.9.0, ~> 3.9.0, 3.9.0":    ">= 3.9.0, 3.9.0, ~> 3.9.0, <= 3.9.0",
		"!= 3, > 3, >= 3, ~>3.0, ~> 3, < 4, <=4": "> 3.0.0, >= 3.0.0, ~> 3.0, != 3.0.0, <= 4.0.0, < 4.0.0",
	} {
		spec, err := constraints.ParseRubyStyleMulti(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := Text(spec); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestNormal(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{nil, ""},
		{[]string{"", ""}, ""},
		{[]string{">=3.0,<4, !=3.2.0"}, ">= 3.0.0, != 3.2.0, < 4.0.0"},
		{[]string{">=3", "", "~>3.1", "<4"}, ">= 3.0.0, ~> 3.1, < 4.0.0"},
		{[]string{"soon", ">=3"}, "soon, >=3"},
	} {
		if got := Normal(c.texts...); got != c.want {
			t.Errorf("%q: got %q, want %q", c.texts, got, c.want)
		}
	}
}
