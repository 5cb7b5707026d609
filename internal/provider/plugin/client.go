package plugin

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin/unary"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// client is a started provider. All fields are set before it is shared.
type client struct {
	name     string
	protocol int
	calls    *unary.Client
	proc     *process // nil if the process isn't ours
	cache    SchemaCache
	// The version of engine is passed to the provider as the version of Terraform. SDKs compare it with
	// minimum versions of language features, so it names the release whose language and protocol features
	// this program has, not the program's own version.
	engine  compat.Engine
	closeFn func() error

	// life ends at Close. Calls whose result is shared by all callers run under it, so that interrupting
	// one caller doesn't fail the others.
	life context.Context
	end  context.CancelFunc

	// recorded has the schemas of a provider that is not running; nil for one that is.
	recorded *provider.Recording
	// sentIdentities are the identity schemas as sent, for recording them; written before identities is done.
	sentIdentities map[string]*tfplugin6.ResourceIdentitySchema

	catalog    shared[*catalog]
	identities shared[map[string]*schema.Identity]
	more       shared[map[string]*schema.Function] // the result of GetFunctions
	ended      atomic.Bool                         // the connection broke, and the first error says so
	// catalogTold is set once a caller got the diagnostics of the catalog.
	catalogTold atomic.Bool
}

var _ provider.Provider = (*client)(nil)

// newClient returns a client that makes its calls with calls and ends with closeFn.
func newClient(name string, protocol int, calls *unary.Client, closeFn func() error) *client {
	life, end := context.WithCancel(context.Background())
	return &client{name: name, protocol: protocol, calls: calls, engine: compat.Default(), closeFn: closeFn, life: life, end: end}
}

// methods5 has the names of RPCs that are called differently in protocol 5.
var methods5 = map[string]string{
	"GetProviderSchema":          "GetSchema",
	"ValidateProviderConfig":     "PrepareProviderConfig",
	"ValidateResourceConfig":     "ValidateResourceTypeConfig",
	"ValidateDataResourceConfig": "ValidateDataSourceConfig",
	"ConfigureProvider":          "Configure",
	"StopProvider":               "Stop",
}

// method returns the path of an RPC, named as in protocol 6.
func (c *client) method(rpc string) string {
	if name, ok := methods5[rpc]; ok && c.protocol == 5 {
		rpc = name
	}
	return fmt.Sprintf("/tfplugin%d.Provider/%s", c.protocol, rpc)
}

// invoke makes an RPC, named as in protocol 6. The messages of the two protocols have the same field
// numbers, except in schemas.
func (c *client) invoke(ctx context.Context, rpc string, req, resp proto.Message) error {
	return c.calls.Call(ctx, c.method(rpc), req, resp)
}

// Stop implements provider.Reader. A provider without that operation has nothing to stop. The provider goes
// on serving; calls under way may be cut off.
func (c *client) Stop(ctx context.Context) error {
	var resp tfplugin6.StopProvider_Response
	err := c.invoke(ctx, "StopProvider", &tfplugin6.StopProvider_Request{}, &resp)
	switch {
	case isUnimplemented(err):
		return nil
	case err != nil:
		return c.callError(ctx, "StopProvider", err).Err()
	case resp.Error != "":
		return fmt.Errorf("provider %s could not be stopped: %s", c.name, resp.Error)
	}
	return nil
}

// Close implements provider.Reader. It takes at most a few seconds, even if the process doesn't answer.
// Calls under way fail with "Provider closed".
func (c *client) Close() error {
	c.end()
	return c.closeFn()
}

// shared is the result of a call that the first caller makes and that all callers wait for.
type shared[T any] struct {
	once  sync.Once
	begun atomic.Bool
	done  chan struct{}
	value T
	diags diag.List
}

// get waits for the result of f, which runs under life. The end of ctx only ends the wait; a result that is
// there is returned even after it.
func (s *shared[T]) get(ctx, life context.Context, f func(context.Context) (T, diag.List)) (T, diag.List, error) {
	s.once.Do(func() {
		s.done = make(chan struct{})
		s.begun.Store(true)
		go func() {
			defer close(s.done)
			if err := bug.Call(func() { s.value, s.diags = f(life) }); err != nil {
				s.diags = diag.Bug("what a provider offers", err)
			}
		}()
	})
	select {
	case <-s.done:
		return s.value, s.diags, nil
	case <-ctx.Done():
	}
	select {
	case <-s.done:
		return s.value, s.diags, nil
	default:
		var zero T
		return zero, nil, ctx.Err()
	}
}

// now returns the result if it is available, and the zero value otherwise.
func (s *shared[T]) now() (value T) {
	if !s.begun.Load() {
		return value
	}
	select {
	case <-s.done:
		return s.value
	default:
		return value
	}
}
