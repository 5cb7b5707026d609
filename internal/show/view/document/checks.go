package document

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// jsonCheck is the results of one block with conditions: a resource, an output, a variable or a check block.
// Programs that watch a deployment read them to learn which promises it breaks.
type jsonCheck struct {
	Address   jsonCheckAddress `json:"address"`
	Status    string           `json:"status"`
	Instances []jsonCheckObj   `json:"instances,omitempty"`
}

// jsonCheckAddress is the address of a block, in parts. Kind is "resource", "output_value", "var" or "check".
type jsonCheckAddress struct {
	Kind      string `json:"kind"`
	Mode      string `json:"mode,omitempty"`
	Module    string `json:"module,omitempty"`
	Name      string `json:"name,omitempty"`
	ToDisplay string `json:"to_display"`
	Type      string `json:"type,omitempty"`
}

// jsonCheckObj is the results of one instance. Status is "pass", "fail", "error" or "unknown"; the block has
// the worst of its instances.
type jsonCheckObj struct {
	Address  jsonInstanceAddress `json:"address"`
	Status   string              `json:"status"`
	Problems []jsonProblem       `json:"problems,omitempty"`
}

// jsonInstanceAddress distinguishes an instance from the others of its block.
type jsonInstanceAddress struct {
	InstanceKey addr.Key `json:"instance_key,omitzero"`
	Module      string   `json:"module,omitempty"`
	ToDisplay   string   `json:"to_display"`
}

// jsonProblem is a condition that fails, by the message that its author wrote.
type jsonProblem struct {
	Message string `json:"message"`
}

// checksJSON encodes the results of conditions, sorted by address; nil if there are none. Conditions of
// ephemeral resources are left out, like everything else about them (E81).
func checksJSON(results []state.CheckResult) []jsonCheck {
	var out []jsonCheck
	for _, r := range results {
		c, ok := checkJSON(r)
		if ok {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b jsonCheck) int { return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay) })
	return out
}

// checkJSON encodes the results of one block with conditions. It reports false for ephemeral resources. The
// messages of an object are sorted, so that documents can be compared.
func checkJSON(r state.CheckResult) (jsonCheck, bool) {
	c := jsonCheck{Address: checkAddress(r.Kind, r.Config), Status: string(r.Status)}
	if c.Address.Mode == modeJSON(addr.Ephemeral) {
		return c, false
	}
	for _, o := range r.Objects {
		obj := jsonCheckObj{Address: jsonInstanceAddress{ToDisplay: o.Addr}, Status: string(o.Status)}
		if a, err := addr.ParseInstance(o.Addr); err == nil && c.Address.Kind == "resource" {
			obj.Address.Module, obj.Address.InstanceKey = a.Module.String(), a.Key
		} else {
			obj.Address.Module, _ = splitLast(o.Addr)
		}
		for _, f := range slices.Sorted(slices.Values(o.Failures)) {
			obj.Problems = append(obj.Problems, jsonProblem{f})
		}
		c.Instances = append(c.Instances, obj)
	}
	slices.SortStableFunc(c.Instances, func(a, b jsonCheckObj) int { return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay) })
	return c, true
}

// checkAddress splits the static address of a block with conditions into its parts.
func checkAddress(kind, config string) jsonCheckAddress {
	out := jsonCheckAddress{Kind: kind, ToDisplay: config}
	switch kind {
	case "output":
		out.Kind = "output_value"
	case "input_variable":
		out.Kind = "var"
	case "resource":
		if a, err := addr.ParseInstance(config); err == nil {
			out.Module, out.Mode, out.Type, out.Name = a.Module.String(), modeJSON(a.Resource.Mode), a.Resource.Type, a.Resource.Name
		}
		return out
	}
	out.Module, out.Name = splitLast(config)
	return out
}

// splitLast splits "module.a.output.x" into the module, "module.a", and the name, "x".
func splitLast(address string) (module, name string) {
	i := strings.LastIndexByte(address, '.')
	if i < 0 {
		return "", address
	}
	name, rest := address[i+1:], address[:i]
	if j := strings.LastIndexByte(rest, '.'); j >= 0 {
		module = rest[:j]
	}
	return module, name
}
