package engine_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// What follows carries out the definition of the leak guard (decision 025) as it is written, on plain texts:
// to find a value is to search for it.

// leakSpellings are the ways in which a value is recognized.
func leakSpellings(s string) []string {
	var sb strings.Builder
	e := json.NewEncoder(&sb)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	plain, escaped := strings.TrimSuffix(sb.String(), "\n"), leakJSON(s)
	out := []string{s, plain[1 : len(plain)-1], escaped[1 : len(escaped)-1], html.EscapeString(s), url.QueryEscape(s), base64.RawStdEncoding.EncodeToString([]byte(s)), hex.EncodeToString([]byte(s))}
	slices.Sort(out)
	return slices.Compact(out)
}

// leakIn reports whether a value stands in a text.
func leakIn(text, secret string) bool {
	return slices.ContainsFunc(leakSpellings(secret), func(f string) bool { return strings.Contains(text, f) }) || leakInBase64(text, secret)
}

var leakBase64 = regexp.MustCompile(`[A-Za-z0-9+/]{10,}`)

// leakInBase64 reports whether a value stands in something that a text has in Base64, whatever else is
// encoded with it.
func leakInBase64(text, secret string) bool {
	for _, run := range leakBase64.FindAllString(text, -1) {
		for from := range 4 {
			code := run[from : from+(len(run)-from)/4*4]
			decoded, err := base64.StdEncoding.DecodeString(code)
			if rest := run[from+len(code):]; err == nil && len(rest) > 1 {
				end, _ := base64.RawStdEncoding.DecodeString(rest)
				decoded = append(decoded, end...)
			}
			if strings.Contains(string(decoded), secret) {
				return true
			}
		}
	}
	return false
}

// leakRecognized reports whether a value is recognized at all.
func leakRecognized(s string, confidential bool) bool {
	kinds := map[byte]bool{}
	for i := range len(s) {
		kinds[s[i]] = true
	}
	return len(s) >= 8 && len(kinds) >= 4 && (confidential || !leakPlain(s))
}

// leakPlain reports whether a text is plain words.
func leakPlain(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(" -_.", r))
	}) < 0
}

// leakPlainKey reports whether the key of a map is plain words.
func leakPlainKey(v cty.Value) bool { return v.IsKnown() && !v.IsNull() && leakPlain(v.AsString()) }

// leakSecret is a value that must not come back, and what it is for an object.
type leakSecret struct {
	own, configured, ofRun bool
	marked                 bool // own: ephemeral or sensitive
	confidential           bool // of the run
}

// leakSecrets are the values that must not come back in answers about an object.
type leakSecrets map[string]leakSecret

func (all leakSecrets) add(s string, confidential bool, as func(*leakSecret)) {
	if !leakRecognized(s, confidential) {
		return
	}
	for _, p := range append(leakParts(s, confidential), s) {
		if leakRecognized(p, true) {
			v := all[p]
			as(&v)
			all[p] = v
		}
	}
}

// leakParts returns the parts of a text that are recognized alone: what is left without spaces around it,
// passwords in JSON documents, and lines.
func leakParts(s string, confidential bool) (out []string) {
	trimmed := strings.TrimSpace(s)
	if trimmed != s && (confidential || !leakPlain(trimmed)) {
		out = append(out, trimmed)
	}
	var doc map[string]string
	if json.Unmarshal([]byte(trimmed), &doc) == nil {
		for name, v := range doc {
			switch {
			case name == "password" && (confidential || !leakPlain(v)):
				out = append(append(out, v), leakParts(v, confidential)...)
			case strings.HasPrefix(v, "{"):
				out = append(out, leakParts(v, confidential)...)
			}
		}
		return out
	}
	if !strings.Contains(trimmed, "\n") {
		return out
	}
	for line := range strings.Lines(trimmed) { // those of a private key
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "-----") && (confidential || len(line) >= 20 && !strings.Contains(line, " ")) {
			out = append(out, line)
		}
	}
	return out
}

// leakJudge judges the answers about one object in one operation.
type leakJudge struct {
	policy  leak.Policy
	secrets leakSecrets
	data    bool            // the object is a data source
	open    []string        // texts that the object had, or is given, in the open
	files   []string        // the files and the variables in the open
	kept    map[string]bool // stored with a warning, by an earlier answer (true) or by this one
	kind    string          // of the answer, in words
	address string
	found   []string // findings, as leakFindings has them
	errors  bool
	exposed bool // an id was stored that holds what should have been left out
	dropped []string
	spared  int // texts that hold a value that is in the open
}

// next begins another answer.
func (j *leakJudge) next(kind string) {
	if j.kept == nil {
		j.kept = map[string]bool{}
	}
	if kind != j.kind {
		for s := range j.kept {
			j.kept[s] = true
		}
	}
	j.kind = kind
}

func (j *leakJudge) isOpen(s string, v leakSecret) bool {
	in := func(text string) bool { return leakIn(text, s) }
	return j.kept[s] || slices.ContainsFunc(j.open, in) || !v.own && slices.ContainsFunc(j.files, in)
}

// leakVerdict says what becomes of a text. The order is that of strictness.
type leakVerdict uint8

const (
	leakPasses leakVerdict = iota
	leakWarned
	leakDropped // with a warning
	leakRefused
)

// of returns the verdict for one value in a text.
func (j *leakJudge) of(text, s string, v leakSecret) leakVerdict {
	drop := false
	switch {
	case v.own && v.marked:
		drop = true
	case v.own:
		drop = slices.ContainsFunc(leakSpellings(s), func(f string) bool { return text == f || strings.Contains(text, `"`+f+`"`) })
	case !v.configured:
		drop = v.confidential
	}
	read := !slices.Contains([]string{"plan", "object"}, j.kind)
	switch {
	case j.policy == leak.Lenient || j.policy == leak.Standard && !drop:
		return leakWarned
	case v.own && read && j.policy == leak.Standard:
		return leakDropped
	default:
		return leakRefused
	}
}

// text judges a text, and reports whether it is stored. where says where it stands.
func (j *leakJudge) text(text, where string) bool {
	worst, own, fresh := leakPasses, false, false
	var values []string
	for s, v := range j.secrets {
		if !(v.own || v.configured || v.ofRun && !j.data) || !leakIn(text, s) {
			continue
		}
		if j.isOpen(s, v) {
			j.spared++
			continue
		}
		got := j.of(text, s, v)
		if got > worst {
			worst, own = got, v.own
		} else if got == worst {
			own = own || v.own
		}
		values = append(values, s)
	}
	if worst == leakPasses {
		return true
	}
	id := worst >= leakDropped && where == "the attribute id" && j.kind != "plan"
	if worst == leakWarned {
		for _, s := range values {
			if _, ok := j.kept[s]; !ok {
				j.kept[s], fresh = false, true
			}
		}
		if !fresh {
			return true // there is a warning about the same values of the same answer
		}
	}
	severity, summary := "warning", "Ephemeral value is stored"
	if worst >= leakDropped {
		summary = map[bool]string{true: "Provider copied a write-only value", false: "Provider returned an ephemeral value"}[own]
	}
	if worst == leakRefused {
		severity, j.errors = "error", true
	}
	j.found = append(j.found, fmt.Sprintf("%s | %s | %s of the %s of %s", severity, summary, leakKey.ReplaceAllString(where, "[*]"), j.kind, j.address))
	j.exposed = j.exposed || id
	if worst >= leakDropped && !id {
		j.dropped = append(j.dropped, text)
		return false
	}
	return true
}

// object judges an object and returns what is stored of it.
func (j *leakJudge) object(v cty.Value, b *schema.Block) cty.Value {
	w := leakWalk{j, v.Type()}
	return w.value(v, b.Type(), nil)
}

// private judges private data, in place of which stands what the call began with.
func (j *leakJudge) private(got, before []byte) []byte {
	if len(got) > 0 && !j.text(string(got), "the provider's own data") {
		return before
	}
	return got
}

// identity judges an identity, and reports whether it is stored.
func (j *leakJudge) identity(id cty.Value) bool {
	if id == cty.NilVal || id.IsNull() {
		return true
	}
	ok := true
	for _, name := range []string{"key", "note"} {
		if v := id.GetAttr(name); v.IsKnown() && !v.IsNull() && !j.text(v.AsString(), "the identity") {
			ok = false
		}
	}
	return ok
}

// leakWalk goes through an object.
type leakWalk struct {
	*leakJudge
	whole cty.Type
}

func (w *leakWalk) at(p cty.Path) string { return schema.PathIn(w.whole, p) }

// value returns what is stored of a value.
func (w *leakWalk) value(v cty.Value, declared cty.Type, p cty.Path) cty.Value {
	ty := v.Type()
	switch {
	case !v.IsKnown() || v.IsNull():
		if declared == cty.DynamicPseudoType && ty.IsObjectType() {
			for name := range ty.AttributeTypes() {
				if !w.text(name, "a key or the name of an attribute in "+w.at(p)) {
					return cty.NullVal(cty.DynamicPseudoType)
				}
			}
		}
		return v
	case ty == cty.String:
		if !w.text(v.AsString(), "the attribute "+w.at(p)) {
			return cty.NullVal(cty.String)
		}
		return v
	case ty == cty.Number:
		if !w.text(v.AsBigFloat().Text('f', -1), "the attribute "+w.at(p)) {
			return cty.NullVal(cty.Number)
		}
		return v
	case ty.IsObjectType() || ty.IsMapType():
		return w.keyed(v, declared, p)
	case ty.IsListType() || ty.IsTupleType() || ty.IsSetType():
		return w.listed(v, declared, p)
	}
	return v
}

func (w *leakWalk) keyed(v cty.Value, declared cty.Type, p cty.Path) cty.Value {
	attrs, ty := map[string]cty.Value{}, v.Type()
	all := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		step, of := cty.PathStep(cty.GetAttrStep{Name: name}), cty.DynamicPseudoType
		switch {
		case ty.IsMapType():
			step, of = cty.IndexStep{Key: cty.StringVal(name)}, ty.ElementType()
		case declared.IsObjectType():
			of = declared.AttributeType(name)
		}
		if !declared.IsObjectType() && !w.text(name, "a key or the name of an attribute in "+w.at(p)) {
			continue
		}
		attrs[name] = w.value(all[name], of, append(slices.Clone(p), step))
	}
	switch {
	case ty.IsObjectType():
		return cty.ObjectVal(attrs)
	case len(attrs) == 0:
		return cty.MapValEmpty(ty.ElementType())
	default:
		return cty.MapVal(attrs)
	}
}

func (w *leakWalk) listed(v cty.Value, declared cty.Type, p cty.Path) cty.Value {
	ty := v.Type()
	var elems []cty.Value
	for i, e := range v.AsValueSlice() {
		at, of := append(slices.Clone(p), cty.IndexStep{Key: cty.NumberIntVal(int64(i))}), cty.DynamicPseudoType
		if ty.IsSetType() {
			at = p
		}
		if declared.IsCollectionType() {
			of = declared.ElementType()
		}
		elems = append(elems, w.value(e, of, at))
	}
	switch {
	case len(elems) == 0:
		return v
	case ty.IsListType():
		return cty.ListVal(elems)
	case ty.IsSetType():
		return cty.SetVal(elems)
	default:
		return cty.TupleVal(elems)
	}
}
