// Package exposed yields the texts that are in the open anyway, so that the leak guard need not take them for
// secrets: configuration files, variables that are neither ephemeral nor sensitive, and stored objects.
//
// It may import config, leak and state. It must not know runs, or how texts are compared.
package exposed

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/state"
)

// Configuration yields the files of a configuration and the texts in its public variables. given has the
// values that were set.
func Configuration(tree *config.Tree, given map[string]cty.Value, yield func([]byte) bool) {
	for _, src := range tree.Sources {
		if !yield(src) {
			return
		}
	}
	for name, d := range tree.Root.Variables {
		if d.Ephemeral || d.Sensitive {
			continue
		}
		v, ok := given[name]
		if !ok {
			v = d.Default // which the file may have in another spelling
		}
		if !leak.Texts(v, func(text string) bool { return yield([]byte(text)) }) {
			return
		}
	}
}

// State yields the objects of a state as they are stored; nil has none.
func State(st *state.State, yield func([]byte) bool) {
	if st == nil {
		return
	}
	for _, in := range st.AllInstances() {
		if in.Current != nil && !yield(in.Current.JSON()) {
			return
		}
	}
}
