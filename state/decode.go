package state

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Errors about state files that cannot be used. Errors of Read wrap one of them; their messages have advice.
var (
	ErrCorrupt   = errors.New("the state file is damaged")
	ErrEncrypted = errors.New("the state file is encrypted")
	ErrNewer     = errors.New("the state file was written in a newer format")
)

// corrupt returns an error that wraps ErrCorrupt. The arguments must not be values from the file, which may
// be secret.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s. Restore it from its backup or from your own copies; nothing has been changed", ErrCorrupt, fmt.Sprintf(format, args...))
}

// Read decodes a state file of any format version up to 4; older ones are upgraded. It returns nil for an
// empty file, as left by a run that took the lock and wrote nothing. Errors wrap ErrCorrupt, ErrEncrypted or
// ErrNewer and never quote the file's values. File.Meta.Version is the version of the program that wrote the
// file, not of the format.
func Read(src []byte) (*File, error) { return read(src, true) }

// ReadOutputs decodes the outputs of a state file, nil if it is empty. It also accepts files with outputs
// only. It fails as Read does.
func ReadOutputs(src []byte) (map[string]*Output, error) {
	f, err := read(src, false)
	if f == nil || err != nil {
		return nil, err
	}
	return f.State.Outputs, nil
}

// maxLevels bounds the brackets within brackets of a state file, for stacks that cannot overflow. It leaves
// room for more than value.MaxDepth, whose types take two brackets a level: other programs may have no bound.
const maxLevels = 2 * bounds.MaxLevels

// read decodes a file. complete requires the lists that a whole state has; see scanMembers.
func read(src []byte, complete bool) (*File, error) {
	if len(src) == 0 {
		return nil, nil
	}
	if line, err := bounds.CheckStored(src, maxLevels); errors.Is(err, bounds.ErrTooDeep) {
		return nil, corrupt("line %d: it is nested more than %d levels deep", line, maxLevels)
	} else if err != nil {
		return nil, corrupt("line %d: %v. To keep the rest of the state, replace the number by null in a copy of the file", line, err)
	}
	f, err := readAny(src, complete)
	if err != nil {
		return nil, err
	}
	if f.Serial == math.MaxUint64 {
		return nil, corrupt("its serial number is the highest possible, so no state can follow it")
	}
	if f.Lineage == "" {
		// Files before version 3 have no lineage, and some programs write files of version 4 without one.
		// It is derived from the content, so that every reading of a file gives the same lineage.
		sum := sha256.Sum256(src)
		f.Lineage = uuid.NewSHA1(uuid.NameSpaceOID, sum[:]).String()
	}
	return f, nil
}

// readAny decodes a file of any version. Files with known members only, which are nearly all, take the fast
// way by cursor. The others take encoding/json and a second pass for the members that it would drop.
func readAny(src []byte, complete bool) (*File, error) {
	members := scanMembers(src, complete)
	if !members.unknown {
		if doc := plainV4(src); doc != nil {
			return doc.decode(nil, members.err)
		}
	}
	var head struct {
		Version       *json.RawMessage `json:"version"`
		Writer        string           `json:"terraform_version"`
		EncryptedData json.RawMessage  `json:"encrypted_data"`
	}
	if err := json.Unmarshal(src, &head); err != nil {
		return nil, jsonError(src, err)
	}
	if head.EncryptedData != nil {
		return nil, fmt.Errorf("%w, and no encryption is configured that could open it. Configure the encryption that it was written with", ErrEncrypted)
	}
	if head.Version == nil {
		return nil, corrupt("it has no format version, so it is not a state file")
	}
	var version int
	if err := json.Unmarshal(*head.Version, &version); err != nil || version < 1 {
		return nil, corrupt("its format version is not a positive whole number")
	}
	switch {
	case version > formatVersion:
		by := ""
		if head.Writer != "" {
			by = fmt.Sprintf(" by version %q", head.Writer)
		}
		return nil, fmt.Errorf("%w (%d, this program knows up to %d)%s. Use the program that wrote it, or a newer version of this one",
			ErrNewer, version, formatVersion, by)
	case version < formatVersion:
		return readLegacy(src, version)
	}
	var doc fileV4
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, jsonError(src, err)
	}
	more, err := findUnknown(src)
	if err != nil {
		return nil, jsonError(src, err)
	}
	return doc.decode(more, members.err)
}

// jsonError explains why src is not valid JSON, without quoting it.
func jsonError(src []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if syntax.Offset >= int64(len(bytes.TrimRight(src, " \n\r\t\x00"))) {
			return corrupt("it ends in the middle (after %d bytes): writing it was probably interrupted", len(src))
		}
		line := 1 + bytes.Count(src[:syntax.Offset], []byte{'\n'})
		return corrupt("it is not valid JSON from line %d on", line)
	}
	if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return corrupt("its member %q has the wrong type", typ.Field)
	}
	return corrupt("it is not valid JSON")
}

// fileV4 is a state file of version 4. Unknown members are kept apart, in unknownV4, because encoding/json
// would drop them.
//
//	{
//	  "version": 4, "terraform_version": "1.12.6", "serial": 7, "lineage": "…",
//	  "outputs": { "url": { "value": "https://…", "type": "string" } },
//	  "resources": [
//	    { "mode": "managed", "type": "aws_instance", "name": "web", "provider": "provider[…]",
//	      "instances": [ { "schema_version": 1, "attributes": { … }, "sensitive_attributes": [] } ] }
//	  ],
//	  "check_results": null,
//	  "fingerprint_salts": [ { "id": "9e0c7f2a", "scheme": "…", "salt": "…" } ]
//	}
type fileV4 struct {
	Version   int                 `json:"version"`
	Writer    string              `json:"terraform_version"`
	Serial    uint64              `json:"serial"`
	Lineage   string              `json:"lineage"`
	Outputs   map[string]outputV4 `json:"outputs"`
	Resources []resourceV4        `json:"resources"`
	Checks    []checkV4           `json:"check_results"`
	Salts     []saltV4            `json:"fingerprint_salts"`
}

// outputV4 is an output value in the file.
type outputV4 struct {
	Value     json.RawMessage `json:"value"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive"`
}

// resourceV4 is a resource in one module instance in the file.
type resourceV4 struct {
	Module    string       `json:"module"`
	Mode      string       `json:"mode"`
	Type      string       `json:"type"`
	Name      string       `json:"name"`
	Each      string       `json:"each"` // of old files; the keys say the same
	Provider  string       `json:"provider"`
	Instances []instanceV4 `json:"instances"`
}

// instanceV4 is an object of a resource instance in the file: the current one, or a deposed one.
type instanceV4 struct {
	IndexKey            json.RawMessage   `json:"index_key"`
	Status              string            `json:"status"`
	Deposed             string            `json:"deposed"`
	Provider            string            `json:"provider"`
	SchemaVersion       int64             `json:"schema_version"`
	Attributes          json.RawMessage   `json:"attributes"`
	AttributesFlat      map[string]string `json:"attributes_flat"`
	Sensitive           json.RawMessage   `json:"sensitive_attributes"`
	IdentityVersion     int64             `json:"identity_schema_version"`
	Identity            json.RawMessage   `json:"identity"`
	Private             []byte            `json:"private"`
	Dependencies        []string          `json:"dependencies"`
	DependsOn           []string          `json:"depends_on"` // from old files
	CreateBeforeDestroy bool              `json:"create_before_destroy"`
	SkipDestroy         bool              `json:"skip_destroy"`
	Withheld            []withheldV4      `json:"ephemeral_attributes"`
}

// checkV4 is the result of a block's conditions in the file.
type checkV4 struct {
	Kind    string          `json:"object_kind"`
	Config  string          `json:"config_addr"`
	Status  string          `json:"status"`
	Objects []checkObjectV4 `json:"objects"`
}

// checkObjectV4 is the result for one object of the block.
type checkObjectV4 struct {
	Addr     string   `json:"object_addr"`
	Status   string   `json:"status"`
	Failures []string `json:"failure_messages"`
}

// decode converts doc, which it consumes. more has the unknown members of the file; nil for none. ambiguous
// is the error of scanMembers, which is returned if there is no other. Each resource is released as soon as
// it is converted, so that a large state is in memory only once.
func (doc *fileV4) decode(more *unknownV4, ambiguous error) (*File, error) {
	f := &File{Meta: Meta{Lineage: doc.Lineage, Serial: doc.Serial, Version: doc.Writer}, State: New()}
	d := newDecoder()
	for name, o := range doc.Outputs {
		out, err := o.decode()
		if err != nil {
			return nil, corrupt("output value %q: %v", name, err)
		}
		f.State.Outputs[name] = out
	}
	for i := range doc.Resources {
		if err := d.resource(f.State, &doc.Resources[i], more.resource(i)); err != nil {
			return nil, err
		}
		doc.Resources[i] = resourceV4{}
	}
	f.State.Checks = decodeChecks(doc.Checks)
	f.State.Salts = decodeSalts(doc.Salts)
	f.extra = more.file()
	return f, ambiguous
}

// decode converts an output value. Without a type, as in old files, the value says its type itself.
func (o outputV4) decode() (*Output, error) {
	ty := cty.DynamicPseudoType
	if len(o.Type) > 0 {
		var err error
		if ty, err = jsonvalue.UnmarshalType(o.Type); err != nil {
			return nil, errors.New("its type is not valid")
		}
	}
	if len(o.Value) == 0 {
		return nil, errors.New("it has no value")
	}
	return newOutput(o.Value, ty, o.Sensitive)
}

// newOutput decodes an output's value and packs it for a State. A sensitive output is marked as a whole:
// the file does not say which parts are.
func newOutput(src []byte, ty cty.Type, sensitive bool) (*Output, error) {
	packed, ok := packText(src, ty)
	if !ok {
		v, err := jsonvalue.Unmarshal(src, ty)
		if err != nil {
			return nil, errors.New("its value does not fit its type")
		}
		if packed, err = msgpack.Marshal(v, ty); err != nil {
			return nil, errors.New("its value cannot be used")
		}
	}
	var paths []cty.Path
	if sensitive {
		paths = []cty.Path{{}}
	}
	return &Output{Value: value.Restore(ty, packed, paths), Sensitive: sensitive}, nil
}

// decodeChecks converts check results. Statuses of later versions are kept as they are.
func decodeChecks(in []checkV4) []CheckResult {
	var checks []CheckResult
	for _, c := range in {
		r := CheckResult{Kind: c.Kind, Config: c.Config, Status: CheckStatus(c.Status)}
		for _, o := range c.Objects {
			r.Objects = append(r.Objects, CheckObject{Addr: o.Addr, Status: CheckStatus(o.Status), Failures: o.Failures})
		}
		checks = append(checks, r)
	}
	return checks
}

// decoder parses each distinct address and list of paths once, since a state repeats them for every
// instance.
type decoder struct {
	modules   map[string]addr.ModuleInstance
	providers map[string]addr.ProviderConfig
	deps      map[string]addr.ConfigResource
	paths     map[string][]cty.Path // of sensitive attributes, by their text; shared, since they are immutable
	compact   []byte                // reused by compactObject
}

// newDecoder returns a decoder with empty caches.
func newDecoder() *decoder {
	return &decoder{
		modules: map[string]addr.ModuleInstance{}, providers: map[string]addr.ProviderConfig{},
		deps: map[string]addr.ConfigResource{}, paths: map[string][]cty.Path{},
	}
}

// cached returns the parsed form of key, and keeps it in m. Errors are not kept, since the first one ends
// the decoding.
func cached[V any](m map[string]V, key string, parse func(string) (V, error)) (V, error) {
	if v, ok := m[key]; ok {
		return v, nil
	}
	v, err := parse(key)
	if err == nil {
		m[key] = v
	}
	return v, err
}

// address returns the address of a resource. There is no mode for ephemeral resources: they are never in a
// state.
func (d *decoder) address(r *resourceV4) (addr.AbsResource, error) {
	m, err := cached(d.modules, r.Module, addr.ParseModuleInstance)
	if err != nil {
		return addr.AbsResource{}, corrupt("a resource is in the invalid module address %q", r.Module)
	}
	a := addr.AbsResource{Module: m, Resource: addr.Resource{Type: r.Type, Name: r.Name}}
	switch r.Mode {
	case "managed":
	case "data":
		a.Mode = addr.Data
	default:
		return a, corrupt("the resource %s has the unknown mode %q", a, r.Mode)
	}
	if r.Type == "" || r.Name == "" {
		return a, corrupt("a resource has no type or no name")
	}
	return a, nil
}

// resource adds a resource with all its instances to s. more has its unknown members; nil for none.
func (d *decoder) resource(s *State, r *resourceV4, more *unknownResource) error {
	a, err := d.address(r)
	if err != nil {
		return err
	}
	for i := range r.Instances {
		in := &r.Instances[i]
		key, err := decodeKey(in.IndexKey)
		if err != nil {
			return corrupt("the resource %s has an instance with an invalid key: %v", a, err)
		}
		obj := addr.Object{Instance: a.Instance(key), Deposed: addr.Deposed(in.Deposed)}
		if s.Object(obj) != nil {
			return corrupt("it has %s twice", obj)
		}
		pc, err := cached(d.providers, cmp.Or(in.Provider, r.Provider), parseProviderConfig)
		if err != nil {
			return corrupt("%s: %v", obj, err)
		}
		o, err := d.object(a.Module, in)
		if err != nil {
			return corrupt("%s: %v", obj, err)
		}
		o.extra = more.instance(i)
		s.SetObject(obj, o, pc)
	}
	if stored := s.Resources[a]; stored != nil && more != nil {
		stored.extra = more.own
	}
	return nil
}

// object decodes one object of an instance. An object without attributes is one with flat attributes,
// possibly none, which its provider must upgrade. m is the module of its resource, for dependencies in the
// old form.
func (d *decoder) object(m addr.ModuleInstance, in *instanceV4) (*Object, error) {
	o := &Object{
		SchemaVersion: in.SchemaVersion, Private: in.Private, Tainted: in.Status == "tainted",
		CreateBeforeDestroy: in.CreateBeforeDestroy, SkipDestroy: in.SkipDestroy, IdentityVersion: in.IdentityVersion,
	}
	if in.Status != "" && in.Status != "tainted" {
		return nil, fmt.Errorf("its status %q is unknown", in.Status)
	}
	if in.SchemaVersion < 0 {
		return nil, errors.New("its schema version is negative")
	}
	var err error
	if o.attrs, err = d.compactObject(in.Attributes); err != nil {
		return nil, fmt.Errorf("its attributes %w", err)
	}
	if o.attrs == nil {
		if o.Flatmap = in.AttributesFlat; o.Flatmap == nil {
			o.Flatmap = map[string]string{}
		}
	}
	if o.Identity, err = d.compactObject(in.Identity); err != nil {
		return nil, fmt.Errorf("its identity %w", err)
	}
	if o.Identity == nil {
		o.IdentityVersion = 0
	}
	if o.Sensitive, err = cached(d.paths, string(in.Sensitive), parsePaths); err != nil {
		return nil, err
	}
	for _, w := range in.Withheld {
		one, err := w.decode()
		if err != nil {
			return nil, fmt.Errorf("its list of ephemeral attributes: %w", err)
		}
		o.Withheld = append(o.Withheld, one)
	}
	for _, text := range in.Dependencies {
		dep, err := cached(d.deps, text, parseConfigResource)
		if err != nil {
			return nil, fmt.Errorf("its dependency %q is not the address of a resource", text)
		}
		o.Dependencies = append(o.Dependencies, dep)
	}
	d.oldDependencies(o, m, in.DependsOn)
	return o, nil
}

// oldDependencies converts the dependencies of old files, which are relative to the object's module.
// Dependencies on whole modules have no counterpart and are dropped; the next apply records them anew.
func (d *decoder) oldDependencies(o *Object, m addr.ModuleInstance, texts []string) {
	for _, text := range texts {
		dep, err := cached(d.deps, strings.TrimSuffix(text, ".*"), parseConfigResource)
		if err == nil && dep.Module.IsRoot() {
			dep.Module = m.Module()
			if !slices.Contains(o.Dependencies, dep) {
				o.Dependencies = append(o.Dependencies, dep)
			}
		}
	}
}

// parseConfigResource parses the address of a resource block. Instance keys in it are dropped.
func parseConfigResource(text string) (addr.ConfigResource, error) {
	t, err := addr.ParseTarget(text)
	if err != nil {
		return addr.ConfigResource{}, err
	}
	if t.Resource == nil {
		return addr.ConfigResource{}, errors.New("not a resource")
	}
	return addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}, nil
}

// compactObject returns a copy of a JSON object without white space, or nil for null or no data. src is part
// of a text that encoding/json has accepted, so it is valid.
func (d *decoder) compactObject(src []byte) ([]byte, error) {
	src = bytes.TrimSpace(src)
	if len(src) == 0 || string(src) == "null" {
		return nil, nil
	}
	if src[0] != '{' {
		return nil, errors.New("are not an object")
	}
	d.compact = appendCompact(d.compact[:0], src)
	return bytes.Clone(d.compact), nil
}

// appendCompact appends valid JSON without white space. json.Compact does the same, byte by byte, to
// validate.
func appendCompact(b, src []byte) []byte {
	for at := 0; at < len(src); {
		switch src[at] {
		case ' ', '\n', '\r', '\t':
			at++
		case '"':
			end, _ := stringEnd(src, at+1)
			b = append(b, src[at:min(end+1, len(src))]...)
			at = end + 1
		default:
			b = append(b, src[at])
			at++
		}
	}
	return b
}
