package complete

import (
	"slices"
	"testing"
)

func TestShellWords(t *testing.T) {
	for _, tt := range []struct {
		line  string
		words []string
		last  unfinished
	}{
		{"", []string{""}, unfinished{}},
		{"mayfly", []string{"mayfly"}, unfinished{}},
		{"mayfly ", []string{"mayfly", ""}, unfinished{}},
		{"  mayfly\t plan", []string{"mayfly", "plan"}, unfinished{}},
		{`mayfly "" x`, []string{"mayfly", "", "x"}, unfinished{}},
		{`a b\ c`, []string{"a", "b c"}, unfinished{}},
		{`a b\`, []string{"a", `b\`}, unfinished{}},
		{`a 'b c`, []string{"a", "b c"}, unfinished{quote: '\''}},
		{`a 'b\c'd`, []string{"a", `b\cd`}, unfinished{}},
		{`a "b\"c`, []string{"a", `b"c`}, unfinished{quote: '"'}},
		{`a -x=y`, []string{"a", "-x=y"}, unfinished{broken: 3}},
		{`a -x=y:z`, []string{"a", "-x=y:z"}, unfinished{broken: 5}},
		{`a -x\=y`, []string{"a", "-x=y"}, unfinished{}},
		{`a -x='y=z`, []string{"a", "-x=y=z"}, unfinished{quote: '\'', broken: 3}},
		{`a -x='y=z'w`, []string{"a", "-x=y=zw"}, unfinished{broken: 3}},
		{`a -x=y b`, []string{"a", "-x=y", "b"}, unfinished{}},
	} {
		words, last := shellWords(tt.line)
		if !slices.Equal(words, tt.words) || last != tt.last {
			t.Errorf("%q: %q, %+v; want %q, %+v", tt.line, words, last, tt.words, tt.last)
		}
	}
}
