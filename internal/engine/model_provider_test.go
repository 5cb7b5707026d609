package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// nursery launches test providers within this process, which takes a hundredth of the time of a plugin
// process, and watches the order of their ends.
type nursery struct {
	t       *testing.T
	options simprovider.Options

	mu     sync.Mutex
	last   int                          // number of the last child, which is its process in the transcript
	tokens map[*child]string            // the lease that each running provider was configured with
	phases map[*child]struct{}          // the running providers whose configuration has tofu.applying
	open   map[*child]map[string]string // private data of the opening → lease, by the provider that opened it
}

func newNursery(t *testing.T, o simprovider.Options) *nursery {
	return &nursery{t: t, options: o, tokens: map[*child]string{}, phases: map[*child]struct{}{}, open: map[*child]map[string]string{}}
}

// Launch implements provider.Launcher.
func (n *nursery) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	n.mu.Lock()
	n.last++
	o := n.options
	o.PID = n.last
	n.mu.Unlock()
	server, err := simprovider.New6(o)
	if err != nil {
		return nil, diag.Errorf("Test provider", "%s", err)
	}
	dial, stop := simprovider.InMemory(server)
	c := &child{Provider: plugin.Connect(simcloud.Source, 6, dial, stop), n: n}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open[c] = map[string]string{}
	return c, nil
}

// child is one provider of a nursery.
type child struct {
	provider.Provider
	n *nursery
}

func (c *child) Configure(ctx context.Context, config cty.Value) diag.List {
	if token := config.GetAttr("token"); token.IsKnown() && !token.IsNull() {
		c.n.mu.Lock()
		c.n.tokens[c] = simlog.Hash(token.AsString())
		c.n.mu.Unlock()
	}
	if region := config.GetAttr("region"); region.IsKnown() && !region.IsNull() && strings.HasPrefix(region.AsString(), fleetingRegion) {
		c.n.mu.Lock()
		c.n.phases[c] = struct{}{}
		c.n.mu.Unlock()
	}
	return c.Provider.Configure(ctx, config)
}

func (c *child) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diag.List) {
	resp, diags := c.Provider.OpenEphemeral(ctx, typeName, config)
	if len(resp.Private) > 0 {
		c.n.mu.Lock()
		c.n.open[c][simlog.LeaseOf(resp.Private)] = typeName
		c.n.mu.Unlock()
	}
	return resp, diags
}

func (c *child) CloseEphemeral(ctx context.Context, typeName string, private []byte) diag.List {
	lease := simlog.LeaseOf(private)
	c.n.mu.Lock()
	for other, token := range c.n.tokens {
		if token == lease && other != c {
			c.n.t.Errorf("E52: closing an ephemeral of type %s: got a provider that is configured with it still running, want it ended", typeName)
		}
	}
	delete(c.n.open[c], lease)
	c.n.mu.Unlock()
	return c.Provider.CloseEphemeral(ctx, typeName, private)
}

func (c *child) Close() error {
	c.n.mu.Lock()
	for lease, typeName := range c.n.open[c] {
		c.n.t.Errorf("E52: a provider ends while its ephemeral %s (lease %s) is open", typeName, lease)
	}
	delete(c.n.open, c)
	delete(c.n.tokens, c)
	delete(c.n.phases, c)
	c.n.mu.Unlock()
	return c.Provider.Close()
}

// fleetingRegion begins the region of a provider whose configuration has tofu.applying.
const fleetingRegion = "fleeting-"

// fleeting returns the number of running providers that are configured with an ephemeral value or with
// tofu.applying.
func (n *nursery) fleeting() (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.open {
		_, token := n.tokens[c]
		if _, phase := n.phases[c]; token || phase {
			count++
		}
	}
	return count
}

// ended checks that no provider is left running.
func (n *nursery) ended() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.open) > 0 {
		n.t.Errorf("%d providers still run at the end", len(n.open))
	}
}
