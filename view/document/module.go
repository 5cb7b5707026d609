package document

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/config"
)

// Config returns the document of a configuration, on one line: the configuration part of a plan's
// document.
func Config(tree *config.Tree, s ConfigSchemas) ([]byte, error) {
	return json.Marshal(configDocument(tree, s, allModes))
}

// jsonBareModule is the document of a single module. Without schemas, the contents of its blocks are not
// shown.
type jsonBareModule struct {
	Outputs     map[string]jsonConfigOutput   `json:"outputs,omitempty"`
	Resources   []jsonBareResource            `json:"resources,omitempty"`
	ModuleCalls map[string]jsonBareCall       `json:"module_calls,omitempty"`
	Variables   map[string]jsonConfigVariable `json:"variables,omitempty"`
}

type jsonBareResource struct {
	Address           string            `json:"address"`
	Mode              string            `json:"mode"`
	Type              string            `json:"type"`
	Name              string            `json:"name"`
	ProviderConfigKey string            `json:"provider_config_key,omitempty"`
	Provisioners      []jsonProvisioner `json:"provisioners,omitempty"`
	DependsOn         []string          `json:"depends_on,omitempty"`
}

type jsonBareCall struct {
	Source            string   `json:"source,omitempty"`
	VersionConstraint string   `json:"version_constraint,omitempty"`
	DependsOn         []string `json:"depends_on,omitempty"`
}

// Module returns the document of one module on one line: its declarations, without expressions and
// without the modules that it calls.
func Module(m *config.Module) ([]byte, error) {
	w := &configWriter{doc: &jsonConfig{ProviderConfig: map[string]jsonProviderConfig{}}, modes: allModes}
	full := w.module(m)
	out := jsonBareModule{Outputs: full.Outputs, Variables: full.Variables}
	for name, o := range out.Outputs {
		o.Expression = nil
		out.Outputs[name] = o
	}
	for _, r := range full.Resources {
		for i := range r.Provisioners {
			r.Provisioners[i].Expressions = nil
		}
		out.Resources = append(out.Resources, jsonBareResource{r.Address, r.Mode, r.Type, r.Name, r.ProviderConfigKey, r.Provisioners, r.DependsOn})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		if out.ModuleCalls == nil {
			out.ModuleCalls = map[string]jsonBareCall{}
		}
		c := full.ModuleCalls[name]
		out.ModuleCalls[name] = jsonBareCall{c.Source, c.VersionConstraint, c.DependsOn}
	}
	return json.Marshal(struct {
		ProviderConfig map[string]jsonProviderConfig `json:"provider_config,omitempty"`
		RootModule     jsonBareModule                `json:"root_module"`
	}{w.doc.ProviderConfig, out})
}
