package simprovider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// core is the provider. It implements tfprotov6.ProviderServer. Every method goes through serve, which
// records the call and carries out misbehavior, so that the methods themselves behave well.
type core struct {
	*dataSources
	*ephemerals
	*lists
	*actions
	variant   string
	provider  *tfprotov6.Schema
	resources map[string]*tfprotov6.Schema
	stores    map[string]*tfprotov6.Schema // of states; none in protocol 5

	rules *ruleSet
	cloud *cloud
	rec   *recorder
	exit  func(code int)

	running runningCalls

	mu         sync.Mutex
	configured bool
	prefix     string
	token      string // checked to be live at every use of the cloud; never shown
}

var _ tfprotov6.ProviderServer = (*core)(nil)

// call describes one request to the recorder and to the rules.
type call struct {
	simlog.Entry
	config  object // the objects in the request, decoded; nil where it has none
	prior   object
	planned object
	block   *tfprotov6.SchemaBlock // the schema of the returned object; nil if none is returned
}

// answer has the parts of a response that misbehavior can change, as pointers into the response; nil where
// it has no such part.
type answer struct {
	object   **tfprotov6.DynamicValue
	diags    *[]*tfprotov6.Diagnostic
	deferred **tfprotov6.Deferred
	private  *[]byte
	identity **tfprotov6.ResourceIdentityData
	replace  *[]*tftypes.AttributePath
	legacy   *bool
	renewAt  *time.Time
	imported *[]*tfprotov6.ImportedResource
	failure  **tfprotov6.FunctionError
}

// serve runs one RPC: it records the begin, applies the rules that come before, does the provider's own
// work, applies the rules that change the response, and records the end.
func serve[R any](ctx context.Context, c *core, cl call, work func(context.Context) (*R, error), parts func(*R) answer) (*R, error) {
	cl.Seq = int(calls.Add(1))
	ctx, done := c.running.track(ctx, cl.Seq)
	defer done()
	begin := cl.Entry
	begin.Phase, begin.Stopped = simlog.Begin, c.running.areStopped()
	c.rec.write(begin)
	end := simlog.Entry{
		Seq: cl.Seq, RPC: cl.RPC, Type: cl.Type, Name: cl.Name, Action: cl.Action, Phase: simlog.End,
	}
	finished := false // a crash records the end before it happens
	finish := func(resp *R, err error) {
		if finished {
			return
		}
		finished = true
		end.Stopped = c.running.areStopped()
		if err != nil {
			end.Err = err.Error()
		} else if parts != nil {
			describe(&end, parts(resp), cl.block)
		}
		c.rec.write(end)
	}
	rules, err := c.rules.match(cl.Entry)
	if err != nil {
		finish(nil, err)
		return nil, err
	}
	for _, r := range rules {
		end.Did = append(end.Did, r.Do)
	}
	resp, err := guard(ctx, c, rules, finish, work)
	if err == nil && parts != nil {
		err = violate(rules, cl, parts(resp))
	}
	finish(resp, err)
	if err != nil {
		return nil, err
	}
	c.afterAnswer(rules)
	return resp, nil
}

// describe copies the recorded parts of a response into the end entry.
func describe(end *simlog.Entry, a answer, block *tfprotov6.SchemaBlock) {
	if a.diags != nil {
		for _, d := range *a.diags {
			if d != nil && d.Severity == tfprotov6.DiagnosticSeverityError {
				end.Err = d.Summary + ": " + d.Detail
				break
			}
		}
	}
	if a.failure != nil && *a.failure != nil {
		end.Err = (*a.failure).Text
	}
	if a.private != nil {
		end.Private = *a.private
	}
	if a.renewAt != nil && !a.renewAt.IsZero() {
		at := *a.renewAt
		end.RenewAt = &at
	}
	if a.object != nil && block != nil {
		if o, err := decode(*a.object, block.ValueType()); err == nil && o != nil {
			end.Hash = map[string]string{}
			hashes(end.Hash, "answer", block, o)
		}
	}
}

// newCall starts the description of a call about an object with the schema.
func newCall(rpc, typ string, schema *tfprotov6.Schema) call {
	cl := call{Entry: simlog.Entry{RPC: rpc, Type: typ}}
	if schema != nil {
		cl.block = schema.Block
	}
	return cl
}

// read decodes one object of the request for the rules and the transcript. It ignores a value that does not
// conform, which the work reports.
func (cl *call) read(role string, dv *tfprotov6.DynamicValue) object {
	if cl.block == nil {
		return nil
	}
	o, err := decode(dv, cl.block.ValueType())
	if err != nil || o == nil {
		return nil
	}
	if cl.Hash == nil {
		cl.Hash = map[string]string{}
	}
	hashes(cl.Hash, role, cl.block, o)
	if name := o.text("name"); name != "" {
		cl.Name = name
	} else if cl.Name == "" {
		cl.Name = o.text("id")
	}
	return o
}

func unknownType(kind, name string, known map[string]*tfprotov6.Schema) []*tfprotov6.Diagnostic {
	return problem("Unknown "+kind, fmt.Sprintf("The engine asked for the %s %q; this provider has %q.", kind, name, slices.Sorted(maps.Keys(known))))
}

// problem returns one error diagnostic.
func problem(summary, detail string) []*tfprotov6.Diagnostic {
	return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: summary, Detail: detail}}
}

// failed returns the diagnostics of an error, or none.
func failed(err error) []*tfprotov6.Diagnostic {
	var f *fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return problem("Engine broke the contract", f.text)
	}
	return problem("Simulated provider failed", err.Error())
}

// fault is an error of the engine, as opposed to one requested by a test.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

func faultf(format string, args ...any) error { return &fault{text: fmt.Sprintf(format, args...)} }

// ready refuses work before ConfigureProvider, and with a provider token that is no longer live.
func (c *core) ready() error {
	c.mu.Lock()
	configured, token := c.configured, c.token
	c.mu.Unlock()
	if !configured {
		return faultf("the provider is used before it was configured")
	}
	if err := c.cloud.checkLive(token); err != nil {
		return faultf("provider token: %s", err)
	}
	return nil
}

// wait sleeps for the duration in text ("" for none), unless the call is canceled or the provider stopped.
func (c *core) wait(ctx context.Context, duration string) error {
	if duration == "" {
		return nil
	}
	d, err := time.ParseDuration(duration)
	if err != nil {
		return fmt.Errorf("%q is not a duration: %w", duration, err)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
}

// checkNoWriteOnly refuses an object that contains the value of a write-only attribute.
func checkNoWriteOnly(role string, b *tfprotov6.SchemaBlock, o object) error {
	var err error
	mapBlock(b, o, func(a *tfprotov6.SchemaAttribute, _ object, v tftypes.Value) tftypes.Value {
		if a.WriteOnly && !isUnset(v) {
			err = faultf("the %s holds a value for the write-only attribute %q", role, a.Name)
		}
		return v
	})
	return err
}
