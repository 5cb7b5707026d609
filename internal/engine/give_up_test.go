package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
)

// answering launches providers that give up the run while they change an object, and answer once closing has
// begun.
type answering struct {
	provider.Launcher
	giveUp   func()
	changing atomic.Bool
	closing  chan struct{} // receives when closing begins
	answered chan struct{} // closed when the change is answered
}

func (l *answering) Launch(ctx context.Context, a addr.Provider) (provider.Provider, diag.List) {
	p, diags := l.Launcher.Launch(ctx, a)
	if p == nil {
		return nil, diags
	}
	return &answeringProvider{Provider: p, of: l}, diags
}

type answeringProvider struct {
	provider.Provider
	of *answering
}

func (p *answeringProvider) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	p.of.changing.Store(true)
	defer close(p.of.answered)
	resp, diags := p.Provider.ApplyResource(ctx, req)
	p.of.giveUp()
	select {
	case <-p.of.closing:
		return resp, diags
	case <-ctx.Done():
		return provider.ApplyResponse{}, diag.Errorf("Answer dropped", "The call ended before closing began.")
	}
}

func (p *answeringProvider) CloseEphemeral(ctx context.Context, typeName string, private []byte) diag.List {
	if p.of.changing.Load() {
		select {
		case p.of.closing <- struct{}{}:
		case <-p.of.answered:
		}
		<-p.of.answered
	}
	return p.Provider.CloseEphemeral(ctx, typeName, private)
}

// TestAnswerWhileClosing gives up an apply. What the provider answers while ephemeral resources are closed is
// recorded.
func TestAnswerWhileClosing(t *testing.T) {
	t.Parallel()
	for _, destroy := range []bool{false, true} {
		t.Run(fmt.Sprintf("destroy %v", destroy), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `
ephemeral "sim_secret" "tunnel" { name = "tunnel" }
resource "sim_thing" "x" {
  name       = "x"
  depends_on = [ephemeral.sim_secret.tunnel]
}`)
			c, left := command{}, []string{"sim_thing.x"}
			if destroy {
				w.ok(command{})
				c.mode, left = plan.Destroy, nil
			}
			hard, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.launcher = &answering{Launcher: w.processes(), giveUp: cancel, closing: make(chan struct{}), answered: make(chan struct{})}
			c.ctx = hard
			w.fails(c, "Apply aborted")
			w.has(left...)
		})
	}
}
