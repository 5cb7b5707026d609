package moves

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// TestPutBack puts objects back that have changed places, also if one waits for another, in whatever order
// they come. Objects in a cycle have no room, nor has one whose place is taken.
func TestPutBack(t *testing.T) {
	t.Parallel()
	at := func(i int) string { return fmt.Sprintf("t.x[%d]", i) }
	var chainBefore, chain []string
	for i := range 200 {
		chainBefore, chain = append(chainBefore, at(i)), append(chain, at(i+1), at(i))
	}
	for name, row := range map[string]struct {
		before, others, moves, want []string // moves has the new and the old address of each
	}{
		"one":        {[]string{"t.a"}, nil, []string{"t.b", "t.a"}, []string{"t.a"}},
		"chain":      {chainBefore, nil, chain, chainBefore},
		"taken":      {[]string{"t.a"}, []string{"t.a"}, []string{"t.b", "t.a"}, []string{"t.a", "t.b"}},
		"end taken":  {[]string{"t.a", "t.b"}, []string{"t.a"}, []string{"t.b", "t.a", "t.c", "t.b"}, []string{"t.a", "t.b", "t.c"}},
		"cycle":      {[]string{"t.a", "t.b"}, nil, []string{"t.b", "t.a", "t.a", "t.b"}, []string{"t.a", "t.b"}},
		"not stored": {[]string{"t.a"}, []string{"t.d"}, []string{"t.b", "t.a", "t.z", "t.y"}, []string{"t.a", "t.d"}},
	} {
		before, moved := state.New(), Moved{}
		for _, text := range row.before {
			before.SetObject(addr.Object{Instance: instance(t, text)}, &state.Object{}, addr.ProviderConfig{Alias: text})
		}
		var now []string
		for i := 0; i < len(row.moves); i += 2 {
			moved[instance(t, row.moves[i])] = instance(t, row.moves[i+1])
			if slices.Contains(row.before, row.moves[i+1]) {
				now = append(now, row.moves[i])
			}
		}
		st := holding(t, append(now, row.others...))
		PutBack(st, before, moved)
		var got []string
		for a, in := range st.AllInstances() {
			got = append(got, a.String())
			if in.Provider.Alias != "" && in.Provider.Alias != a.String() {
				t.Errorf("%s: provider of %s: got the one of %s, want its own", name, a, in.Provider.Alias)
			}
			if name == "chain" && in.Provider.Alias == "" {
				t.Errorf("%s: provider of %s: got the one of its new address, want the one of %s", name, a, a)
			}
		}
		slices.Sort(got)
		slices.Sort(row.want)
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: got objects at %q, want %q", name, got, row.want)
		}
	}
}

func instance(t *testing.T, text string) addr.Instance {
	t.Helper()
	a, err := addr.ParseInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
