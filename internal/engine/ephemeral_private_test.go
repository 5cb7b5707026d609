package engine_test

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// privateSpy launches the providers of another launcher and keeps the private data of ephemeral instances, as
// the engine receives it.
type privateSpy struct {
	provider.Launcher

	mu       sync.Mutex
	received [][]byte // the memory that the engine has
	copies   [][]byte // what was in it
}

func (s *privateSpy) Launch(ctx context.Context, p addr.Provider) (provider.Provider, diag.List) {
	launched, diags := s.Launcher.Launch(ctx, p)
	if launched == nil {
		return nil, diags
	}
	return spiedProvider{launched, s}, diags
}

func (s *privateSpy) keep(private []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received, s.copies = append(s.received, private), append(s.copies, slices.Clone(private))
}

type spiedProvider struct {
	provider.Provider
	spy *privateSpy
}

func (p spiedProvider) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diag.List) {
	resp, diags := p.Provider.OpenEphemeral(ctx, typeName, config)
	p.spy.keep(resp.Private)
	return resp, diags
}

func (p spiedProvider) RenewEphemeral(ctx context.Context, typeName string, private []byte) (provider.RenewResponse, diag.List) {
	resp, diags := p.Provider.RenewEphemeral(ctx, typeName, private)
	p.spy.keep(resp.Private)
	return resp, diags
}

// TestE55PrivateDataIsOverwritten looks at the memory in which the engine had private data, after it was
// replaced by a renewal and after the instance was closed.
func TestE55PrivateDataIsOverwritten(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "100ms"
}
resource "sim_thing" "x" {
  name      = "x"
  delay     = "2500ms"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		spy := &privateSpy{Launcher: w.within()}
		w.launcher = spy
		w.ok(command{})
		if len(spy.received) < 4 { // opened to plan and to apply, and renewed twice
			t.Fatalf("the provider gave private data %d times", len(spy.received))
		}
		for i, private := range spy.received {
			if len(private) == 0 || bytes.Equal(spy.copies[i], make([]byte, len(private))) {
				t.Errorf("answer %d has no private data", i)
			}
			if !bytes.Equal(private, make([]byte, len(private))) {
				t.Errorf("answer %d: got private data of %d bytes still there, want zeros", i, len(private))
			}
		}
	})
}
