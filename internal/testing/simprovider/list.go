package simprovider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// The servers implement lists, which the interface of a provider does not ask for yet.
var (
	_ tfprotov6.ListResourceServer = (*core)(nil)
	_ tfprotov5.ListResourceServer = server5{}
)

// lists is the part of a provider that lists objects.
type lists struct {
	core    *core
	schemas map[string]*tfprotov6.Schema
}

// listSchemas are the lists: of things, and of shapes.
func listSchemas() map[string]*tfprotov6.Schema {
	block := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
		attr("prefix", tftypes.String, optional),
		attr("hint", tftypes.String, optional, sensitive),
		attr("made_up", tftypes.Number, optional),
		attr("objectless", tftypes.Bool, optional),
		attr("fail_at", tftypes.Number, optional),
		attr("fail_from", tftypes.Number, optional),
		attr("warn_at", tftypes.Number, optional),
		attr("nameless_at", tftypes.Number, optional),
		attr("hang_at", tftypes.Number, optional),
		attr("exit_at", tftypes.Number, optional),
		attr("fail_on", tftypes.String, optional),
	}}
	return map[string]*tfprotov6.Schema{typeThing: {Block: block}, typeShape: {Block: block}}
}

// ValidateListResourceConfig checks fail_on.
func (l *lists) ValidateListResourceConfig(ctx context.Context, req *tfprotov6.ValidateListResourceConfigRequest) (*tfprotov6.ValidateListResourceConfigResponse, error) {
	schema := l.schemas[req.TypeName]
	cl := newCall("ValidateListResourceConfig", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	work := func(context.Context) (*tfprotov6.ValidateListResourceConfigResponse, error) {
		if schema == nil {
			return &tfprotov6.ValidateListResourceConfigResponse{Diagnostics: unknownType("list", req.TypeName, l.schemas)}, nil
		}
		config, err := decode(req.Config, schema.ValueType())
		if err == nil {
			err = checkFailOn(config, []string{"validate", "list"})
		}
		return &tfprotov6.ValidateListResourceConfigResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, l.core, cl, work, func(r *tfprotov6.ValidateListResourceConfigResponse) answer { return answer{diags: &r.Diagnostics} })
}

// ListResource lists the objects in the cloud whose names have the prefix, or so many made up ones.
func (l *lists) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	if given, ok := ctx.Value(leftOut{}).(*tfprotov5.ListResourceRequest); ok {
		req.Limit, req.IncludeResource = given.Limit, given.IncludeResource
	}
	schema := l.schemas[req.TypeName]
	cl := newCall("ListResource", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	cl.Name = cl.config.text("prefix")
	work := func(context.Context) (*tfprotov6.ListResourceServerStream, error) {
		results, err := newListing(ctx, l, req)
		if err != nil {
			return &tfprotov6.ListResourceServerStream{Results: func(yield func(tfprotov6.ListResourceResult) bool) {
				yield(tfprotov6.ListResourceResult{Diagnostics: failed(err)})
			}}, nil
		}
		return results, nil
	}
	return serve(ctx, l.core, cl, work, nil)
}

// newListing returns the results of a call, or why there are none.
func newListing(ctx context.Context, l *lists, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	if l.schemas[req.TypeName] == nil {
		return nil, faultf("there is no list %q", req.TypeName)
	}
	config, err := decode(req.Config, l.schemas[req.TypeName].ValueType())
	if err == nil {
		err = errors.Join(l.core.ready(), failOn(config, "list"))
	}
	if err == nil && !config.value(l.schemas[req.TypeName].ValueType()).IsFullyKnown() {
		err = faultf("the configuration of a list has unknown values")
	}
	if err != nil {
		return nil, err
	}
	one := &listing{core: l.core, ctx: ctx, req: req, config: config}
	if isKnownNonNull(config["made_up"]) {
		n := one.number("made_up")
		return &tfprotov6.ListResourceServerStream{Results: func(yield func(tfprotov6.ListResourceResult) bool) {
			for i := range n {
				name := fmt.Sprintf("%s%d", config.text("prefix"), i)
				if int64(i) >= req.Limit || !one.yield(yield, i, &simcloud.Object{ID: name, Type: req.TypeName, Name: name}) {
					return
				}
			}
		}}, nil
	}
	objects, err := simcloud.Objects(l.core.cloud.dir)
	return &tfprotov6.ListResourceServerStream{Results: func(yield func(tfprotov6.ListResourceResult) bool) {
		i := 0
		for _, o := range objects {
			if o.Type != req.TypeName || !strings.HasPrefix(o.Name, config.text("prefix")) {
				continue
			}
			if int64(i) >= req.Limit || !one.yield(yield, i, o) {
				return
			}
			i++
		}
	}}, err
}

// listing makes the results of one call.
type listing struct {
	core   *core
	ctx    context.Context
	req    *tfprotov6.ListResourceRequest
	config object
}

// number returns the value of a number, one that no index has if it is not set.
func (l *listing) number(name string) int {
	if !isKnownNonNull(l.config[name]) {
		return math.MinInt
	}
	return int(l.config.number(name))
}

// yield yields the result with the index, or has the misbehavior that the configuration asks for there.
func (l *listing) yield(yield func(tfprotov6.ListResourceResult) bool, i int, o *simcloud.Object) bool {
	switch i {
	case l.number("exit_at"):
		fmt.Fprintln(realStderr, "the simulated provider ends while it lists")
		os.Exit(3)
	case l.number("hang_at"):
		<-l.ctx.Done()
		return false
	}
	if i == l.number("fail_at") || isKnownNonNull(l.config["fail_from"]) && i >= l.number("fail_from") {
		return yield(tfprotov6.ListResourceResult{Diagnostics: problem("Object cannot be read", fmt.Sprintf("%s was asked to fail.", o.Name))})
	}
	result, err := l.result(o)
	result.Diagnostics = failed(err)
	switch i {
	case l.number("warn_at"):
		result.Diagnostics = []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityWarning, Summary: "Object is old", Detail: o.Name + " was asked to warn."}}
	case l.number("nameless_at"):
		result.Identity = nil
	}
	return yield(result)
}

// result returns the result for an object.
func (l *listing) result(o *simcloud.Object) (out tfprotov6.ListResourceResult, err error) {
	out.DisplayName = "The " + strings.TrimPrefix(o.Type, "sim_") + " " + o.Name
	if out.Identity, err = identityFor(o.Type, o.Name); err != nil || !l.req.IncludeResource || isKnownNonNull(l.config["objectless"]) {
		return out, err
	}
	schema := l.core.resources[o.Type]
	object := emptyObject(schema)
	object["id"], object["name"] = str(o.ID), str(o.Name)
	if object, err = overlay(schema, object, o); err == nil {
		out.Resource, err = encode(object, schema.ValueType())
	}
	return out, err
}

// ValidateListResourceConfig passes on to the adapter.
func (s server5) ValidateListResourceConfig(ctx context.Context, req *tfprotov5.ValidateListResourceConfigRequest) (*tfprotov5.ValidateListResourceConfigResponse, error) {
	return s.lister().ValidateListResourceConfig(ctx, req)
}

// leftOut is the context's key for the arguments that the adapter leaves out.
type leftOut struct{}

// ListResource passes on to the adapter.
func (s server5) ListResource(ctx context.Context, req *tfprotov5.ListResourceRequest) (*tfprotov5.ListResourceServerStream, error) {
	return s.lister().ListResource(context.WithValue(ctx, leftOut{}, req), req)
}

func (s server5) lister() tfprotov5.ListResourceServer {
	return s.ProviderServer.(tfprotov5.ListResourceServer)
}
