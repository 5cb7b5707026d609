package state

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
)

// Write returns the state file of f in format version 4. See Encode. It fails for a file without a lineage,
// and for one with unknown values or ephemeral resources.
func Write(f *File) ([]byte, error) {
	var b whole
	if err := b.encode(f); err != nil {
		return nil, err
	}
	return b.text, nil
}

// Encode writes f to w in format version 4 with the same layout as other engines: members in their order,
// two spaces of indentation, resources by module, mode, type and name, a newline at the end. Equal files
// give equal bytes. It buffers no more than one resource instance and one block of output. Errors of w are
// returned unchanged.
func Encode(w io.Writer, f *File) error {
	return (&encoder{w: w}).file(f)
}

// file writes f.
func (e *encoder) file(f *File) error {
	if f.Lineage == "" {
		return errors.New("a state file needs a lineage")
	}
	e.out.WriteString("{\n  \"version\": 4,\n  \"terraform_version\": ")
	e.out.Write(appendString(nil, f.Version))
	e.out.WriteString(",\n  \"serial\": " + strconv.FormatUint(f.Serial, 10) + ",\n  \"lineage\": ")
	e.out.Write(appendString(nil, f.Lineage))
	e.out.WriteString(",\n  \"outputs\": ")
	e.outputs(f.State.Outputs)
	e.out.WriteString(",\n  \"resources\": ")
	e.resources(f.State)
	e.out.WriteString(",\n  \"check_results\": ")
	e.writeIndented("  ", appendChecks(nil, f.State.Checks))
	if len(f.State.Salts) > 0 {
		e.out.WriteString(",\n  \"fingerprint_salts\": ")
		e.writeIndented("  ", appendSalts(nil, f.State.Salts))
	}
	if len(f.extra) > 0 {
		e.extra(f.extra)
	}
	e.out.WriteString("\n}\n")
	return e.flush(0)
}

// encoder collects output and writes it in blocks. After the first error it writes nothing more. The first
// error is returned by flush.
type encoder struct {
	w       io.Writer
	out     bytes.Buffer
	scratch []byte
	before  int // size of the text before the resources, in bytes
	done    int // instances that were encoded
	err     error
}

// blockSize is how much output is collected before it is written, in bytes.
const blockSize = 256 << 10

// flush writes the collected output if it has more than limit bytes, and returns the first error so far.
func (e *encoder) flush(limit int) error {
	if e.err == nil && e.out.Len() > limit {
		_, e.err = e.w.Write(e.out.Bytes())
		e.out.Reset()
	}
	return e.err
}

// fail records the first error.
func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// writeIndented writes a JSON value with indentation, for a line that starts with prefix.
func (e *encoder) writeIndented(prefix string, b []byte) {
	if err := json.Indent(&e.out, b, prefix, "  "); err != nil {
		e.fail(fmt.Errorf("encoding the state: %w", err))
	}
}

// extra writes unknown members of the file's object after the known ones.
func (e *encoder) extra(x fields) {
	obj := append([]byte{'{'}, x[1:]...)
	var buf bytes.Buffer
	if err := json.Indent(&buf, append(obj, '}'), "", "  "); err != nil {
		e.fail(fmt.Errorf("encoding the state: %w", err))
		return
	}
	e.out.WriteString(",\n  ")
	e.out.Write(bytes.TrimSpace(buf.Bytes()[1 : buf.Len()-1]))
}

// outputs writes the output values, sorted by name.
func (e *encoder) outputs(outputs map[string]*Output) {
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(outputs)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		var err error
		if b, err = appendOutput(b, outputs[name]); err != nil {
			e.fail(fmt.Errorf("output value %q: %w", name, err))
			return
		}
	}
	e.writeIndented("  ", append(b, '}'))
}

// appendOutput appends an output value with its type. An absent value becomes a null of dynamic type.
func appendOutput(b []byte, o *Output) ([]byte, error) {
	vj, ty := []byte("null"), cty.DynamicPseudoType
	if !o.Value.IsZero() {
		var err error
		if vj, err = encodeOutput(o.Value); err != nil {
			return nil, err
		}
		ty = o.Value.Type()
	}
	tj, err := jsonvalue.MarshalType(ty)
	if err != nil {
		return nil, err
	}
	b = append(append(b, `{"value":`...), vj...)
	b = append(append(b, `,"type":`...), tj...)
	if o.sensitive() {
		b = append(b, `,"sensitive":true`...)
	}
	return append(b, '}'), nil
}

// resources writes all resources. Separators are written before an entry, so that no entry needs to know if
// it is the last one.
func (e *encoder) resources(s *State) {
	if len(s.Resources) == 0 {
		e.out.WriteString("[]")
		return
	}
	e.before = e.out.Len()
	_ = e.flush(blockSize) // the instances, which are much alike, begin a block
	sep := "[\n    {\n      "
	for r := range s.AllResources() {
		e.out.WriteString(sep)
		e.resource(r)
		if e.flush(blockSize) != nil {
			return
		}
		e.out.WriteString("\n    }")
		sep = ",\n    {\n      "
	}
	e.out.WriteString("\n  ]")
}

// resource writes one resource, without the lines of its braces. An ephemeral resource is an error: this is
// the last point where one could get into a state.
func (e *encoder) resource(r *Resource) {
	if r.Addr.Mode.Fleeting() {
		e.fail(fmt.Errorf("the ephemeral resource or list %s cannot be stored", r.Addr))
		return
	}
	provider, shared := r.provider()
	head := appendResourceHead(e.scratch[:0], r.Addr)
	if shared {
		head = appendString(append(head, `,"provider":`...), provider.String())
	}
	head = append(append(head, r.extra...), '}')
	start := e.out.Len()
	e.writeIndented("    ", head)
	// The object stays open for its instances, and the caller writes its first line.
	text := bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimPrefix(e.out.Bytes()[start:], []byte("{")), []byte("}")))
	copy(e.out.Bytes()[start:], text)
	e.out.Truncate(start + len(text))
	e.out.WriteString(",\n      \"instances\": ")
	e.scratch = head
	sep := "[\n        "
	for _, k := range r.Keys() {
		i := r.Instances[k]
		e.done++
		head := instanceHead{key: k}
		if !shared {
			head.provider = i.Provider.String()
		}
		if i.Current != nil {
			e.instance(sep, head, i.Current)
			sep = ",\n        "
		}
		for _, d := range i.DeposedKeys() {
			head.deposed = d
			e.instance(sep, head, i.Deposed[d])
			sep = ",\n        "
		}
	}
	e.out.WriteString("\n      ]")
}

// instance writes an object of a resource instance after sep.
func (e *encoder) instance(sep string, head instanceHead, o *Object) {
	e.scratch = appendInstance(e.scratch[:0], head, o)
	e.out.WriteString(sep)
	e.writeIndented("        ", e.scratch)
	_ = e.flush(blockSize)
}

// provider returns the provider configuration of the whole resource. shared is false if it must be written
// with each instance, because an instance key selects among configurations or the instances differ.
func (r *Resource) provider() (pc addr.ProviderConfig, shared bool) {
	first := true
	for _, i := range r.Instances {
		if i.Provider.Key != addr.NoKey || !first && i.Provider != pc {
			return addr.ProviderConfig{}, false
		}
		pc, first = i.Provider, false
	}
	return pc, true
}

// appendResourceHead appends the members that name a resource, with the opening brace.
func appendResourceHead(b []byte, r addr.AbsResource) []byte {
	b = append(b, '{')
	if !r.Module.IsRoot() {
		b = append(appendString(append(b, `"module":`...), r.Module.String()), ',')
	}
	mode := "managed"
	if r.Mode == addr.Data {
		mode = "data"
	}
	b = appendString(append(b, `"mode":`...), mode)
	b = appendString(append(b, `,"type":`...), r.Type)
	return appendString(append(b, `,"name":`...), r.Name)
}

// instanceHead has the members of an instance's entry other than its object.
//
//	"index_key":"a","status":"tainted","deposed":"9e0c7f2a","provider":"provider[…]"
type instanceHead struct {
	key      addr.Key
	deposed  addr.Deposed
	provider string // "" if it is written with the resource
}

// append appends the members of h that precede the object, each followed by a comma.
func (h instanceHead) append(b []byte, tainted bool) []byte {
	switch h.key.Kind() {
	case addr.KeyInt:
		b = append(strconv.AppendInt(append(b, `"index_key":`...), int64(h.key.Int()), 10), ',')
	case addr.KeyAny:
		panic("an object without a known key: " + h.key.String())
	case addr.KeyString:
		b = append(appendString(append(b, `"index_key":`...), h.key.Str()), ',')
	}
	if tainted {
		b = append(b, `"status":"tainted",`...)
	}
	if h.deposed != addr.Current {
		b = append(appendString(append(b, `"deposed":`...), string(h.deposed)), ',')
	}
	if h.provider != "" {
		b = append(appendString(append(b, `"provider":`...), h.provider), ',')
	}
	return b
}

// appendInstance appends one entry of a resource's instances in compact form. Objects in the journal have the
// same form, and Equal compares it.
func appendInstance(b []byte, head instanceHead, o *Object) []byte {
	b = head.append(append(b, '{'), o.Tainted)
	b = strconv.AppendInt(append(b, `"schema_version":`...), o.SchemaVersion, 10)
	if o.attrs != nil {
		b = append(append(b, `,"attributes":`...), o.attrs...)
	} else if len(o.Flatmap) > 0 {
		b = append(b, `,"attributes_flat":`...)
		for i, k := range slices.Sorted(maps.Keys(o.Flatmap)) {
			b = appendString(append(b, "{,"[min(i, 1)]), k)
			b = appendString(append(b, ':'), o.Flatmap[k])
		}
		b = append(b, '}')
	}
	b = append(b, `,"sensitive_attributes":`...)
	b = appendPaths(b, o.Sensitive)
	if o.Identity != nil {
		b = strconv.AppendInt(append(b, `,"identity_schema_version":`...), o.IdentityVersion, 10)
		b = append(append(b, `,"identity":`...), o.Identity...)
	}
	if len(o.Private) > 0 {
		b = append(b, `,"private":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, o.Private), '"')
	}
	for i, d := range o.Dependencies {
		if i == 0 {
			b = append(b, `,"dependencies":[`...)
		}
		b = append(appendString(b, d.String()), ',')
	}
	if len(o.Dependencies) > 0 {
		b[len(b)-1] = ']'
	}
	if o.CreateBeforeDestroy {
		b = append(b, `,"create_before_destroy":true`...)
	}
	if o.SkipDestroy {
		b = append(b, `,"skip_destroy":true`...)
	}
	if len(o.Withheld) > 0 {
		b = appendWithheld(append(b, `,"ephemeral_attributes":`...), o.Withheld)
	}
	return append(append(b, o.extra...), '}')
}

// appendChecks appends check results in the order of sortedChecks; null for none, as other engines do.
func appendChecks(b []byte, checks []CheckResult) []byte {
	if len(checks) == 0 {
		return append(b, "null"...)
	}
	for i, c := range sortedChecks(checks) {
		b = appendString(append(append(b, "[,"[min(i, 1)]), `{"object_kind":`...), c.Kind)
		b = appendString(append(b, `,"config_addr":`...), c.Config)
		b = appendString(append(b, `,"status":`...), string(c.Status))
		b = append(b, `,"objects":`...)
		if len(c.Objects) == 0 {
			b = append(b, "null}"...)
			continue
		}
		for j, o := range c.Objects {
			b = appendString(append(append(b, "[,"[min(j, 1)]), `{"object_addr":`...), o.Addr)
			b = appendString(append(b, `,"status":`...), string(o.Status))
			for k, msg := range o.Failures {
				if k == 0 {
					b = append(b, `,"failure_messages":[`...)
				}
				b = append(appendString(b, msg), ',')
			}
			if len(o.Failures) > 0 {
				b[len(b)-1] = ']'
			}
			b = append(b, '}')
		}
		b = append(b, "]}"...)
	}
	return append(b, ']')
}

// appendString appends s as a JSON string, with the same escapes as encoding/json. Most strings need no
// escape and are copied. Bytes above ASCII are left to encoding/json, which replaces invalid UTF-8.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			q, err := json.Marshal(s)
			if err != nil { // strings always encode; an empty one replaces the impossible
				return append(b, `""`...)
			}
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
