package plugin

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// actor is a provider whose action fake_act answers with the events.
func actor(t *testing.T, events ...proto.Message) *client {
	block := blockSchema(t, &tfplugin6.Schema_Attribute{Name: "target", Type: []byte(`"string"`), Optional: true})
	return rawStreams(t, handlers{
		"GetProviderSchema":    answer(bytesMessage(slices.Concat(simpleResponse(t), entry(fieldActions, "fake_act", appendField(nil, fieldActionSchema, block))))),
		"ValidateActionConfig": answer(&tfplugin6.ValidateActionConfig_Response{Diagnostics: []*tfplugin6.Diagnostic{{Severity: tfplugin6.Diagnostic_WARNING, Summary: "looked at"}}}),
		"PlanAction":           answer(&tfplugin6.PlanAction_Response{Deferred: &tfplugin6.Deferred{Reason: tfplugin6.Deferred_ABSENT_PREREQ}}),
	}, map[string][]proto.Message{"InvokeAction": events})
}

var actionConfig = cty.ObjectVal(map[string]cty.Value{"target": cty.StringVal("x")})

func progress(text string) proto.Message {
	return &tfplugin6.InvokeAction_Event{Type: &tfplugin6.InvokeAction_Event_Progress_{Progress: &tfplugin6.InvokeAction_Event_Progress{Message: text}}}
}

func completed(diags ...*tfplugin6.Diagnostic) proto.Message {
	return &tfplugin6.InvokeAction_Event{Type: &tfplugin6.InvokeAction_Event_Completed_{Completed: &tfplugin6.InvokeAction_Event_Completed{Diagnostics: diags}}}
}

// invoke returns the messages of an invocation and its diagnostics.
func invoke(t *testing.T, c *client) (messages []string, diags diag.List) {
	diags = c.InvokeAction(soon(t), "fake_act", actionConfig, func(m string) { messages = append(messages, m) })
	return messages, diags
}

func TestAction(t *testing.T) {
	c := actor(t, progress("one"), progress(strings.Repeat("x", 1<<20)), completed(), progress("too late"))
	wantOne(t, c.ValidateResource(soon(t), addr.Action, "fake_act", actionConfig), diag.Warning, "looked at")
	deferred, diags := c.PlanAction(soon(t), "fake_act", actionConfig)
	wantNone(t, diags)
	if deferred == "" {
		t.Error("the deferral is lost")
	}
	messages, diags := invoke(t, c)
	wantNone(t, diags)
	if len(messages) != 2 || messages[0] != "one" || len(messages[1]) >= 1<<20 {
		t.Errorf("got %d messages, the first %q, want 2, the first \"one\" and the second shorter than 1 MiB", len(messages), messages[0])
	}
	if _, diags := invoke(t, actor(t, progress("one"), completed(&tfplugin6.Diagnostic{Severity: tfplugin6.Diagnostic_ERROR, Summary: "no luck"}))); !diags.HasErrors() || diags[0].Summary != "no luck" {
		t.Errorf("invoking what fails: got %v, want an error with the summary \"no luck\"", diags)
	}
}

// TestActionNonsense has answers that do not say whether the action has ended.
func TestActionNonsense(t *testing.T) {
	for name, events := range map[string][]proto.Message{
		"nothing":         nil,
		"only progress":   {progress("one")},
		"an empty event":  {&tfplugin6.InvokeAction_Event{}, completed()},
		"not well-formed": {bytesMessage([]byte{0xff, 0xff}), completed()},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := invoke(t, actor(t, events...))
			wantOne(t, diags, diag.Error, "Provider returned an invalid answer")
		})
	}
}

// TestActionSchemas keeps the message around the schema of an action.
func TestActionSchemas(t *testing.T) {
	c := actor(t)
	cat, diags := c.Catalog(soon(t))
	wantNone(t, diags)
	r := cat.(provider.Recorder).Record(func(addr.Mode, string) bool { return true })
	idx, err := indexSchema(r.Schemas)
	if err != nil || len(idx.actions) != 1 || len(idx.actions["fake_act"]) == 0 {
		t.Errorf("indexSchema: got the actions %v and error %v, want fake_act alone", idx.actions, err)
	}
	if s, diags := cat.Resource(addr.Action, "fake_act"); s == nil || s.Block.Attributes["target"] == nil || diags.HasErrors() {
		t.Errorf("the schema is %v, %v", s, diags)
	}
}

func TestNoActions(t *testing.T) {
	var none provider.NoActions
	if _, diags := none.PlanAction(soon(t), "x", actionConfig); !diags.HasErrors() {
		t.Error("an action is planned")
	}
	if diags := none.InvokeAction(soon(t), "x", actionConfig, nil); !diags.HasErrors() {
		t.Error("an action is invoked")
	}
}
