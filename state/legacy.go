package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
)

// legacyFile is a file of format version 1, 2 or 3. The versions differ in the form of outputs, in the
// place of tainted objects, and in how flat attributes count the entries of maps.
type legacyFile struct {
	Version int            `json:"version"`
	Writer  string         `json:"terraform_version"`
	Serial  uint64         `json:"serial"`
	Lineage string         `json:"lineage"`
	Modules []legacyModule `json:"modules"`
}

// legacyModule is a module instance; these files have no keys of modules.
type legacyModule struct {
	Path      []string                   `json:"path"`
	Outputs   map[string]json.RawMessage `json:"outputs"`
	Resources map[string]*legacyResource `json:"resources"`
}

// legacyResource is a resource instance with its current and deposed objects.
type legacyResource struct {
	Type      string            `json:"type"`
	DependsOn []string          `json:"depends_on"`
	Primary   *legacyInstance   `json:"primary"`
	Tainted   []*legacyInstance `json:"tainted"` // version 1
	Deposed   []*legacyInstance `json:"deposed"`
	Provider  string            `json:"provider"`
}

// legacyInstance is an object, whose attributes are flat.
type legacyInstance struct {
	ID         string                     `json:"id"`
	Attributes map[string]string          `json:"attributes"`
	Meta       map[string]json.RawMessage `json:"meta"`
	Tainted    bool                       `json:"tainted"`
}

// legacyOutput is an output value from version 2 on.
type legacyOutput struct {
	Sensitive bool            `json:"sensitive"`
	Type      string          `json:"type"`
	Value     json.RawMessage `json:"value"`
}

// readLegacy upgrades a file of version 1, 2 or 3. Attributes stay flat, since only providers know their
// types; the provider of an object upgrades them when the object is first used.
func readLegacy(src []byte, version int) (*File, error) {
	var doc legacyFile
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, jsonError(src, err)
	}
	f := &File{Meta: Meta{Lineage: doc.Lineage, Serial: doc.Serial, Version: doc.Writer}, State: New()}
	for _, m := range doc.Modules {
		if err := m.upgrade(f.State, version); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// upgrade adds the content of the module to s. Outputs of called modules are dropped: newer formats do not
// have them.
func (m legacyModule) upgrade(s *State, version int) error {
	if len(m.Path) == 0 || m.Path[0] != "root" {
		return corrupt("a module's path does not start at the root module")
	}
	module := addr.RootInstance
	for _, call := range m.Path[1:] {
		module = module.Child(call, addr.NoKey)
	}
	if parsed, err := addr.ParseModuleInstance(module.String()); err != nil || parsed != module {
		return corrupt("a module's path has an invalid name")
	}
	if module.IsRoot() {
		for name, raw := range m.Outputs {
			o, err := upgradeOutput(raw)
			if err != nil {
				return corrupt("output value %q: %v", name, err)
			}
			s.Outputs[name] = o
		}
	}
	for key, r := range m.Resources {
		if r == nil {
			continue
		}
		if err := r.upgrade(s, module, key, version); err != nil {
			return corrupt("the resource %q in module path %q: %v", key, strings.Join(m.Path, "."), err)
		}
	}
	return nil
}

// upgradeOutput reads an output value: a plain string in version 1, an object in later versions.
func upgradeOutput(raw json.RawMessage) (*Output, error) {
	var o legacyOutput
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		o.Value = raw
	} else if err := json.Unmarshal(raw, &o); err != nil || len(o.Value) == 0 {
		return nil, errors.New("it is neither a string nor an object with a value")
	}
	ty, err := ctyjson.ImpliedType(o.Value)
	if err != nil {
		return nil, errors.New("its value is not valid")
	}
	return newOutput(o.Value, ty, o.Sensitive)
}

// parseLegacyKey splits the key of a resource, "[data.]type.name[.index]".
func parseLegacyKey(key string) (addr.Resource, addr.Key, error) {
	parts := strings.Split(key, ".")
	r := addr.Resource{}
	if parts[0] == "data" {
		r.Mode, parts = addr.Data, parts[1:]
	}
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || parts[1] == "" {
		return r, addr.NoKey, errors.New("its key is not of the form type.name")
	}
	r.Type, r.Name = parts[0], parts[1]
	if parsed, err := parseConfigResource(r.String()); err != nil || parsed.Resource != r {
		return r, addr.NoKey, errors.New("its type or name is not an identifier")
	}
	if len(parts) == 2 {
		return r, addr.NoKey, nil
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil || n < 0 {
		return r, addr.NoKey, errors.New("its index is not a whole number")
	}
	return r, addr.IntKey(n), nil
}

// upgrade adds the objects of a resource instance to s. In version 1, a tainted object is not the primary
// one but in a list of its own: the first of them becomes the current object if there is no other.
func (r *legacyResource) upgrade(s *State, m addr.ModuleInstance, key string, version int) error {
	res, index, err := parseLegacyKey(key)
	if err != nil {
		return err
	}
	pc, err := r.provider(m, res)
	if err != nil {
		return err
	}
	deps := r.dependencies(m)
	store := func(d addr.Deposed, in *legacyInstance, tainted bool) error {
		if in == nil || in.ID == "" {
			return nil
		}
		o, err := in.object(version)
		if err != nil {
			return err
		}
		o.Tainted = o.Tainted || tainted
		o.Dependencies = deps
		a := addr.Object{Instance: addr.Instance{Module: m, Resource: res, Key: index}, Deposed: d}
		s.SetObject(a, o, pc)
		return nil
	}
	current, tainted, deposed := r.Primary, false, slices.Clone(r.Deposed)
	if version == 1 && len(r.Tainted) > 0 {
		rest := r.Tainted
		if current == nil || current.ID == "" {
			current, tainted, rest = rest[0], true, rest[1:]
		}
		deposed = append(deposed, rest...)
	}
	if err := store(addr.Current, current, tainted); err != nil {
		return err
	}
	for i, in := range deposed {
		// These files number deposed objects and have no keys for them.
		if err := store(addr.Deposed(fmt.Sprintf("%08x", i+1)), in, false); err != nil {
			return err
		}
	}
	return nil
}

// provider returns the provider configuration that the resource names, in any of the forms "", "aws",
// "aws.west", "provider.aws" and "module.a.provider.aws.west".
func (r *legacyResource) provider(m addr.ModuleInstance, res addr.Resource) (addr.ProviderConfig, error) {
	switch {
	case r.Provider == "":
		name, _, _ := strings.Cut(res.Type, "_")
		return parseProviderConfig("provider." + name)
	case strings.Contains(r.Provider, "provider."):
		return parseProviderConfig(r.Provider)
	default:
		pc, err := parseProviderConfig("provider." + r.Provider)
		pc.Module = m
		return pc, err
	}
}

// parseProviderConfig is addr.ParseProviderConfig, and additionally checks the local name of a legacy
// address, which must be a valid provider type.
func parseProviderConfig(text string) (addr.ProviderConfig, error) {
	if !strings.Contains(text, "provider[") {
		_, name, _ := strings.Cut(text[strings.LastIndex(text, "provider.")+1:], ".")
		name, _, _ = strings.Cut(name, ".")
		if _, err := addr.ParseProvider(name); err != nil || strings.Contains(name, "/") {
			return addr.ProviderConfig{}, fmt.Errorf("invalid provider configuration address %q", text)
		}
	}
	return addr.ParseProviderConfig(text)
}

// dependencies converts references relative to the module. Dependencies on modules and providers have no
// counterpart.
func (r *legacyResource) dependencies(m addr.ModuleInstance) []addr.ConfigResource {
	var deps []addr.ConfigResource
	for _, text := range r.DependsOn {
		if strings.HasPrefix(text, "module.") || strings.HasPrefix(text, "provider.") {
			continue
		}
		res, _, err := parseLegacyKey(strings.TrimSuffix(text, ".*"))
		dep := addr.ConfigResource{Module: m.Module(), Resource: res}
		if err == nil && !slices.Contains(deps, dep) {
			deps = append(deps, dep)
		}
	}
	slices.SortFunc(deps, func(a, b addr.ConfigResource) int { return strings.Compare(a.String(), b.String()) })
	return deps
}

// object converts an object. The attribute "id" is always set, because providers find their objects by it.
func (in *legacyInstance) object(version int) (*Object, error) {
	o := &Object{Flatmap: map[string]string{}, Tainted: in.Tainted}
	maps.Copy(o.Flatmap, in.Attributes)
	o.Flatmap["id"] = in.ID
	if version < 3 {
		countMaps(o.Flatmap)
	}
	if raw, ok := in.Meta["schema_version"]; ok {
		text := strings.Trim(string(raw), `"`)
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return nil, errors.New("its schema version is not a whole number")
		}
		o.SchemaVersion = n
	}
	if len(in.Meta) > 0 {
		// Providers find their own data, such as timeouts, in the private data.
		private, err := json.Marshal(in.Meta)
		if err != nil {
			return nil, errors.New("its meta data is not valid")
		}
		o.Private = private
	}
	return o, nil
}

// countMaps renames the counts of maps from "name.#", which since version 3 means only lists, to "name.%".
// A container is a map if any of its keys is not a number; empty ones stay lists.
//
//	tags.# = 1, tags.name = "web"  →  tags.% = 1, tags.name = "web"
func countMaps(flat map[string]string) {
	isMap := map[string]bool{}
	for k := range flat {
		for i := 0; i < len(k); i++ {
			if k[i] != '.' {
				continue
			}
			elem, _, _ := strings.Cut(k[i+1:], ".")
			if elem == "#" || elem == "%" {
				continue
			}
			if _, err := strconv.ParseUint(elem, 10, 64); err != nil {
				isMap[k[:i]] = true
			}
		}
	}
	for name := range isMap {
		if n, ok := flat[name+".#"]; ok {
			delete(flat, name+".#")
			flat[name+".%"] = n
		}
	}
}
