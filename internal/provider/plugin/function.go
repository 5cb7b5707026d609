package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// CallFunction implements provider.Reader. An error about an argument, from the engine or the provider, is
// a function.ArgError. Arguments and results have no marks. Errors of the provider may quote arguments.
func (c *client) CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error) {
	x := c.exchange(ctx, "CallFunction", "")
	f, err := x.function(name)
	if err != nil {
		return cty.NilVal, err
	}
	req := &tfplugin6.CallFunction_Request{Name: name}
	for i, arg := range args {
		p, err := parameter(f, name, i)
		if err != nil {
			return cty.NilVal, err
		}
		v, err := encodeValue(arg, p.Type, nil)
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(i, "invalid value for the parameter %q: %w", p.Name, err)
		}
		req.Arguments = append(req.Arguments, v)
		x.sent = append(x.sent, v)
	}
	if len(args) < len(f.Params) {
		return cty.NilVal, fmt.Errorf("the function %s of provider %s needs %d arguments, %d given", name, c.name, len(f.Params), len(args))
	}
	var resp tfplugin6.CallFunction_Response
	x.send(req, &resp)
	if err := x.diags.Err(); err != nil {
		return cty.NilVal, err
	}
	if resp.Error != nil {
		return cty.NilVal, functionError(resp.Error, len(args))
	}
	if !hasValue(resp.Result) {
		return cty.NilVal, fmt.Errorf("the function %s of provider %s returned nothing; this is a bug in the provider", name, c.name)
	}
	v, err := decodeValue(resp.Result, f.Return)
	if err != nil {
		return cty.NilVal, fmt.Errorf("the function %s of provider %s returned a value that cannot be used: %w; this is a bug in the provider",
			name, c.name, err)
	}
	return v, nil
}

// function returns the signature of a function, from the schemas or from GetFunctions.
func (x *exchange) function(name string) (*schema.Function, error) {
	cat := x.catalog()
	if cat == nil {
		return nil, x.diags.Err()
	}
	functions, diags := cat.Functions()
	if f := functions[name]; f != nil {
		return f, nil
	}
	if more := x.c.more.now(); more[name] != nil {
		return more[name], nil
	}
	if err := diags.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("provider %s has no function %q", x.c.name, name)
}

// parameter returns the parameter that takes argument i.
func parameter(f *schema.Function, name string, i int) (*schema.FunctionParam, error) {
	switch {
	case i < len(f.Params):
		return &f.Params[i], nil
	case f.Variadic != nil:
		return f.Variadic, nil
	default:
		return nil, function.NewArgErrorf(i, "the function %s takes at most %d arguments", name, len(f.Params))
	}
}

// functionError converts an error of the provider. An index beyond the arguments is ignored.
func functionError(in *tfplugin6.FunctionError, args int) error {
	err := errors.New(bounded(in.Text))
	if i := in.FunctionArgument; i != nil && *i >= 0 && *i < int64(args) {
		return function.NewArgError(int(*i), err)
	}
	return err
}

// ConfiguredFunctions implements provider.Reader. A provider without that call has only the functions of
// its schema.
func (c *client) ConfiguredFunctions(ctx context.Context) (map[string]*schema.Function, diag.List) {
	const rpc = "GetFunctions"
	known, diags, err := c.more.get(ctx, c.life, func(ctx context.Context) (map[string]*schema.Function, diag.List) {
		response, err := c.calls.CallRaw(ctx, c.method(rpc), &tfplugin6.GetFunctions_Request{})
		if isUnimplemented(err) {
			return nil, nil
		}
		if err != nil {
			return nil, c.callError(ctx, rpc, err)
		}
		return c.functions(response)
	})
	if err != nil {
		return nil, c.interrupted(err, rpc)
	}
	return known, slices.Clone(diags)
}

// functions decodes the response to GetFunctions: a map of functions and diagnostics.
func (c *client) functions(response []byte) (map[string]*schema.Function, diag.List) {
	raw := map[string][]byte{}
	x := c.exchange(context.Background(), "GetFunctions", "")
	err := eachField(response, func(num protowire.Number, content []byte) error {
		switch num {
		case 1:
			return addEntry(raw, content)
		case 2:
			var d tfplugin6.Diagnostic
			if err := proto.Unmarshal(content, &d); err != nil {
				return err
			}
			x.report([]*tfplugin6.Diagnostic{&d})
		}
		return nil
	})
	if err != nil {
		return nil, c.badSchemaResponse(err)
	}
	functions, diags := c.decodeFunctions(raw)
	return functions, append(x.diags, diags...)
}

// decodeFunctions decodes encoded signatures by name. Invalid ones are reported and left out.
func (c *client) decodeFunctions(raw map[string][]byte) (map[string]*schema.Function, diag.List) {
	functions := make(map[string]*schema.Function, len(raw))
	var diags diag.List
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		f, problems := decodeFunction(raw[name])
		if len(problems) > 0 {
			diags = append(diags, invalidSchema(c.name, "the function "+name, problems)...)
			continue
		}
		functions[name] = f
	}
	return functions, diags
}
