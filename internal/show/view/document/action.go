package document

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// jsonInvocation is a planned invocation of an action, with the configuration as far as it is known and not
// ephemeral.
type jsonInvocation struct {
	Address         string          `json:"address"`
	Type            string          `json:"type"`
	Name            string          `json:"name"`
	ConfigValues    json.RawMessage `json:"config_values,omitempty"`
	ConfigSensitive json.RawMessage `json:"config_sensitive,omitempty"`
	ConfigUnknown   json.RawMessage `json:"config_unknown,omitempty"`
	ProviderName    string          `json:"provider_name,omitempty"`
	Undecided       bool            `json:"condition_unknown,omitempty"`
	Lifecycle       *jsonTrigger    `json:"lifecycle_action_trigger,omitempty"`
	Invoke          *struct{}       `json:"invoke_action_trigger,omitempty"`
}

// jsonTrigger is the trigger of an invocation.
type jsonTrigger struct {
	Resource  string `json:"triggering_resource_address"`
	Event     string `json:"action_trigger_event"`
	Block     int    `json:"action_trigger_block_index"`
	Position  int    `json:"actions_list_index"`
	OnFailure string `json:"on_failure,omitempty"` // unless it is halt
}

// jsonConfigAction is an action block.
type jsonConfigAction struct {
	Address           string          `json:"address"` // within the module
	Type              string          `json:"type"`
	Name              string          `json:"name"`
	ProviderConfigKey string          `json:"provider_config_key,omitempty"`
	Expressions       map[string]any  `json:"expressions,omitempty"`
	CountExpression   *jsonExpression `json:"count_expression,omitempty"`
	ForEachExpression *jsonExpression `json:"for_each_expression,omitempty"`
	DependsOn         []string        `json:"depends_on,omitempty"`
}

// jsonActionSchema is the schema of an action, which has no version: nothing of it is stored.
type jsonActionSchema struct {
	Block *jsonBlock `json:"block"`
}

func actionSchemaJSON(s *schema.Schema) *jsonActionSchema {
	return &jsonActionSchema{Block: schemaJSON(s).Block}
}

// TriggerEvent returns the word for an event in documents, such as AfterCreate.
func TriggerEvent(e plan.TriggerEvent) string {
	var sb strings.Builder
	for word := range strings.SplitSeq(string(e), "_") {
		if word != "" {
			sb.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return sb.String()
}

// invocationList encodes the invocations of a plan, nil if there are none.
func invocationList(list []*plan.Invocation, s Schemas) ([]jsonInvocation, error) {
	var out []jsonInvocation
	for _, i := range list {
		config, err := i.Config.Live()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", i.Action, err)
		}
		config = markSchema(config, Block(s, i.Provider.Provider, i.Action.Resource))
		one := jsonInvocation{
			Address: i.Action.String(), Type: i.Action.Resource.Type, Name: i.Action.Resource.Name, ProviderName: providerName(i.Provider.Provider),
			ConfigValues: valueJSON(config), ConfigSensitive: shapeJSON(config, isSensitive), ConfigUnknown: json.RawMessage("{}"), Undecided: i.Undecided,
		}
		if !config.IsWhollyKnown() {
			one.ConfigUnknown = shapeJSON(config, isUnknown)
		}
		if t := i.Trigger; t == nil {
			one.Invoke = &struct{}{}
		} else {
			one.Lifecycle = &jsonTrigger{Resource: t.Resource.String(), Event: TriggerEvent(t.Event), Block: t.Block, Position: t.Position}
			if t.OnFailure != plan.HaltOnFailure {
				one.Lifecycle.OnFailure = string(t.OnFailure)
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// actions encodes the action blocks of a module, sorted by address.
func (w *configWriter) actions(m *config.Module) []jsonConfigAction {
	var out []jsonConfigAction
	for a, r := range m.Resources {
		if a.Mode != addr.Action {
			continue
		}
		c := w.resource(m, r)
		out = append(out, jsonConfigAction{
			Address: c.Address, Type: c.Type, Name: c.Name, ProviderConfigKey: c.ProviderConfigKey, Expressions: c.Expressions,
			CountExpression: c.CountExpression, ForEachExpression: c.ForEachExpression, DependsOn: c.DependsOn,
		})
	}
	slices.SortFunc(out, func(a, b jsonConfigAction) int { return strings.Compare(a.Address, b.Address) })
	return out
}
