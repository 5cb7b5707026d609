package plugin

import (
	"context"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// fieldActionSchema is the field of the message around the schema of an action.
const fieldActionSchema = 1

// addAction adds the schema of an action, which has a message around it.
func addAction(m map[string][]byte, entry []byte) error {
	wrapped := map[string][]byte{}
	if err := addEntry(wrapped, entry); err != nil {
		return err
	}
	for name, message := range wrapped {
		m[name] = []byte{}
		err := eachField(message, func(num protowire.Number, content []byte) error {
			if num == fieldActionSchema {
				m[name] = merge(m[name], content)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recordedSchema returns a schema as it stands in a response.
func recordedSchema(mode addr.Mode, raw []byte) []byte {
	if mode == addr.Action {
		return appendField(nil, fieldActionSchema, raw)
	}
	return raw
}

// PlanAction implements provider.Reader.
func (c *client) PlanAction(ctx context.Context, typeName string, config cty.Value) (provider.Deferred, diag.List) {
	x := c.exchange(ctx, "PlanAction", typeName)
	resp := call[tfplugin6.PlanAction_Response](x, &tfplugin6.PlanAction_Request{
		ActionType: typeName, Config: x.encode(x.resource(addr.Action), config, "configuration"), ClientCapabilities: x.capabilities(),
	})
	return deferredReason(resp.Deferred), x.diags
}

// InvokeAction implements provider.Changer. The action has ended with the message that says so, whatever
// comes after it.
func (c *client) InvokeAction(ctx context.Context, typeName string, config cty.Value, progress func(string)) diag.List {
	x := c.exchange(ctx, "InvokeAction", typeName)
	in := &tfplugin6.InvokeAction_Request{
		ActionType: typeName, Config: x.encode(x.resource(addr.Action), config, "configuration"), ClientCapabilities: x.capabilities(),
	}
	defer x.wipeSent()
	if x.failed() {
		return x.diags
	}
	err := c.calls.Receive(ctx, c.method(x.rpc), in, func(message []byte) bool {
		var ev tfplugin6.InvokeAction_Event
		if err := proto.Unmarshal(message, &ev); err != nil {
			x.badEvent("which is not well-formed")
			return false
		}
		switch {
		case ev.GetCompleted() != nil:
			x.report(ev.GetCompleted().Diagnostics)
			x.answered = true
		case ev.GetProgress() != nil:
			progress(bounded(ev.GetProgress().Message))
		default:
			x.badEvent("which says neither how far the action is nor that it has ended")
			return false
		}
		return !x.answered
	})
	switch {
	case err != nil && !x.answered:
		x.diags = append(x.diags, c.callError(ctx, x.rpc, err)...)
	case !x.answered && !x.failed():
		x.fail("Provider returned an invalid answer", "The answer of %s to the call %s ended without a message that the action has ended. "+
			"The action may have been carried out or not. This is a bug in the provider: report it to its developers.", x.subject(), x.rpc)
		x.diags[len(x.diags)-1].Extra = provider.Unfinished{}
	}
	return x.diags
}

// badEvent reports a message that means nothing.
func (x *exchange) badEvent(why string) {
	x.fail("Provider returned an invalid answer", "The answer of %s to the call %s has a message %s. The action may have been carried out or "+
		"not. This is a bug in the provider: report it to its developers.", x.subject(), x.rpc, why)
}
