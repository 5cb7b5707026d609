package simprovider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// The types of actions.
const (
	typeNote = "sim_note"
	typeJob  = "sim_job"
)

// The servers implement actions, which the interface of a provider does not ask for yet.
var (
	_ tfprotov6.ActionServer = server6{}
	_ tfprotov5.ActionServer = server5{}
)

// actions is the part of a provider that invokes actions.
type actions struct {
	of      *core
	invoked map[string]*tfprotov6.Schema // the schemas by type
}

// actionSchemas are the schemas of actions by type.
func actionSchemas() map[string]*tfprotov6.Schema {
	part := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{attr("value", tftypes.String, optional), attr("secret", tftypes.String, optional, sensitive)}}
	return map[string]*tfprotov6.Schema{
		typeNote: {Block: &tfprotov6.SchemaBlock{
			Attributes: []*tfprotov6.SchemaAttribute{
				attr("name", tftypes.String, required),
				attr("text", tftypes.String, optional),
				attr("tags", tftypes.Map{ElementType: tftypes.String}, optional),
				attr("secret", tftypes.String, optional, sensitive),
				attr("secret_wo", tftypes.String, optional, writeOnly),
				attr("fail_on", tftypes.String, optional),
			},
			BlockTypes: []*tfprotov6.SchemaNestedBlock{{TypeName: "part", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, Block: part}},
		}},
		typeJob: {Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
			attr("name", tftypes.String, required),
			attr("steps", tftypes.Number, optional),
			attr("delay", tftypes.String, optional),
			attr("say", tftypes.String, optional),
			attr("fail_on", tftypes.String, optional),
			attr("answer", tftypes.String, optional),
		}}},
	}
}

// actionMessages returns the schemas with the message that the protocol has around each.
func actionMessages(schemas map[string]*tfprotov6.Schema) map[string]*tfprotov6.ActionSchema {
	out := make(map[string]*tfprotov6.ActionSchema, len(schemas))
	for name, s := range schemas {
		out[name] = &tfprotov6.ActionSchema{Schema: s}
	}
	return out
}

// actionTypes returns the types for GetMetadata.
func actionTypes(schemas map[string]*tfprotov6.Schema) (out []tfprotov6.ActionMetadata) {
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		out = append(out, tfprotov6.ActionMetadata{TypeName: name})
	}
	return out
}

// begin describes a call about an action, and returns its configuration, or the error in it.
func (a *actions) begin(rpc, typ string, config *tfprotov6.DynamicValue) (cl call, check func(steps ...string) (object, error)) {
	schema := a.invoked[typ]
	cl = newCall(rpc, typ, schema)
	cl.config = cl.read("config", config)
	return cl, func(steps ...string) (object, error) {
		if schema == nil {
			return nil, faultf("there is no action %q", typ)
		}
		o, err := decode(config, schema.ValueType())
		if err == nil {
			err = checkFailOn(o, []string{"validate", "plan", "invoke"})
		}
		for _, step := range steps {
			err = errors.Join(err, failOn(o, step))
		}
		return o, err
	}
}

// ValidateActionConfig checks fail_on.
func (a *actions) ValidateActionConfig(ctx context.Context, req *tfprotov6.ValidateActionConfigRequest) (*tfprotov6.ValidateActionConfigResponse, error) {
	cl, check := a.begin("ValidateActionConfig", req.ActionType, req.Config)
	work := func(context.Context) (*tfprotov6.ValidateActionConfigResponse, error) {
		_, err := check("validate")
		return &tfprotov6.ValidateActionConfigResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, a.of, cl, work, func(r *tfprotov6.ValidateActionConfigResponse) answer { return answer{diags: &r.Diagnostics} })
}

// PlanAction checks fail_on.
func (a *actions) PlanAction(ctx context.Context, req *tfprotov6.PlanActionRequest) (*tfprotov6.PlanActionResponse, error) {
	cl, check := a.begin("PlanAction", req.ActionType, req.Config)
	work := func(context.Context) (*tfprotov6.PlanActionResponse, error) {
		_, err := check("plan")
		return &tfprotov6.PlanActionResponse{Diagnostics: failed(errors.Join(err, a.of.ready()))}, nil
	}
	return serve(ctx, a.of, cl, work, func(r *tfprotov6.PlanActionResponse) answer {
		return answer{diags: &r.Diagnostics, deferred: &r.Deferred}
	})
}

// InvokeAction carries out an action: it notes that in the cloud, after the messages that the configuration
// asks for.
func (a *actions) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	cl, check := a.begin("InvokeAction", req.ActionType, req.Config)
	ctx, done := a.of.running.track(ctx, -int(calls.Add(1))) // the stream outlasts the call that serve tracks
	work := func(context.Context) (*tfprotov6.InvokeActionServerStream, error) {
		config, err := check()
		if err == nil {
			err = a.of.ready()
		}
		if err == nil && !config.value(a.invoked[req.ActionType].ValueType()).IsFullyKnown() {
			err = faultf("the configuration of an action has unknown values when it is invoked")
		}
		return &tfprotov6.InvokeActionServerStream{Events: func(yield func(tfprotov6.InvokeActionEvent) bool) {
			defer done()
			if err == nil {
				err = a.run(ctx, req.ActionType, config, func(message string) bool {
					return yield(tfprotov6.InvokeActionEvent{Type: tfprotov6.ProgressInvokeActionEventType{Message: message}})
				})
			}
			if config.text("answer") != "none" {
				yield(tfprotov6.InvokeActionEvent{Type: tfprotov6.CompletedInvokeActionEventType{Diagnostics: failed(err)}})
			}
		}}, nil
	}
	stream, err := serve(ctx, a.of, cl, work, nil)
	if err != nil {
		done()
	}
	return stream, err
}

// run does the work of an action.
func (a *actions) run(ctx context.Context, typ string, config object, say func(string) bool) error {
	for _, name := range []string{"secret", "secret_wo"} {
		if err := a.of.cloud.checkLive(config.text(name)); err != nil {
			return faultf("argument %s: %s", name, err)
		}
	}
	if err := failOn(config, "invoke"); err != nil {
		return err
	}
	switch config.text("answer") {
	case "exit":
		fmt.Fprintln(realStderr, "the simulated provider ends while an action runs")
		os.Exit(3)
	case "hang":
		<-ctx.Done()
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	case "late":
		<-ctx.Done()
		time.Sleep(lateByDefault)
	}
	if isKnownNonNull(config["steps"]) {
		for i := range config.number("steps") {
			if !say(fmt.Sprintf("step %d%s", i+1, config.text("say"))) {
				return errors.New("the engine does not listen any more")
			}
		}
	}
	if err := a.of.wait(ctx, config.text("delay")); err != nil {
		return err
	}
	return noteAction(a.of.cloud, typ, config)
}

// noteAction appends a line about an action to the list in the cloud: its type, name and text, and hashes of
// its secrets.
func noteAction(c *cloud, typ string, config object) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(c.dir, simcloud.ActionsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	line := typ + " " + config.text("name")
	if text := config.text("text"); text != "" {
		line += " " + text
	}
	for _, name := range []string{"secret", "secret_wo"} {
		if secret := config.text(name); secret != "" && !strings.HasPrefix(secret, leasePrefix) {
			line += " " + name + "=" + simlog.Hash(secret)
		}
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// ValidateActionConfig passes on to the adapter.
func (s server5) ValidateActionConfig(ctx context.Context, req *tfprotov5.ValidateActionConfigRequest) (*tfprotov5.ValidateActionConfigResponse, error) {
	return s.invoker().ValidateActionConfig(ctx, req)
}

// PlanAction passes on to the adapter.
func (s server5) PlanAction(ctx context.Context, req *tfprotov5.PlanActionRequest) (*tfprotov5.PlanActionResponse, error) {
	return s.invoker().PlanAction(ctx, req)
}

// InvokeAction passes on to the adapter.
func (s server5) InvokeAction(ctx context.Context, req *tfprotov5.InvokeActionRequest) (*tfprotov5.InvokeActionServerStream, error) {
	return s.invoker().InvokeAction(ctx, req)
}

func (s server5) invoker() tfprotov5.ActionServer { return s.ProviderServer.(tfprotov5.ActionServer) }
