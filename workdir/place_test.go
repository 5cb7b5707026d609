package workdir

import (
	"context"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// whole reads a state as a whole.
type whole struct{ store.Manager }

func (whole) Read(context.Context) (*state.File, error) {
	return &state.File{Meta: state.Meta{Version: "whole"}}, nil
}

// parts reads parts of a state, too.
type parts struct{ whole }

func (parts) ReadPart(_ context.Context, p state.Part) (*state.File, error) {
	return &state.File{Meta: state.Meta{Version: p.Subjects[0].Addr}}, nil
}

func (parts) ReadMore(context.Context, state.Part, func(addr.Instance) bool) (*state.State, error) {
	return nil, nil
}

// TestReadPart reads a part from managers that can, and the whole state from others.
func TestReadPart(t *testing.T) {
	for want, m := range map[string]store.Manager{"whole": whole{}, "t.a": parts{}} {
		f, err := readPart(t.Context(), m, state.Part{Subjects: []state.Subject{{Kind: state.OneInstance, Addr: "t.a"}}})
		if err != nil || f.Version != want {
			t.Errorf("got %v (%v), want %q", f, err, want)
		}
	}
}
