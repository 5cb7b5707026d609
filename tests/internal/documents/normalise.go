package documents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	timePattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	keyPattern  = regexp.MustCompile(`\bdeposed object [0-9a-f]{8}\b`)
	bigPattern  = regexp.MustCompile(`\b\d{15,}\b`) // identifiers that a provider draws
)

// volatile are the keys whose strings and numbers are drawn at random.
var volatile = map[string]bool{
	"result": true, "b64_std": true, "b64_url": true, "hex": true, "dec": true, "bcrypt_hash": true, "private_key_pem": true, "public_key_pem": true,
	"private_key_openssh": true, "private_key_pem_pkcs8": true, "public_key_openssh": true, "public_key_fingerprint_md5": true,
	"public_key_fingerprint_sha256": true, "cert_pem": true, "elapsed_seconds": true, "key_data": true, "unix": true,
	"deposed": true, "deposed_key": true, "second": true, "minute": true, "hour": true, "lease": true, "hash": true,
}

// unordered are the keys of arrays whose order differs from run to run.
var unordered = map[string]bool{"replace_paths": true, "relevant_attributes": true}

// normalise returns a document in which values that differ at each run are replaced by their kind. Messages
// of a stream are grouped by subject, because their order is the order of concurrent work; reports of
// progress are left out.
func normalise(d Document) (any, error) {
	switch d.Kind {
	case Text:
		var out []any
		for line := range strings.SplitSeq(strings.TrimSpace(replace(d.Out)), "\n") {
			out = append(out, line)
		}
		return out, nil
	case JSON:
		return decode(d.Out)
	case Stream:
		return stream(d.Out)
	default:
		return nil, nil
	}
}

func decode(s string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("not a document: %w", err)
	}
	if dec.More() {
		return nil, fmt.Errorf("more than one document")
	}
	return normal("", v), nil
}

func normal(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = normal(k, e)
		}
	case []any:
		for i, e := range v {
			v[i] = normal(key, e)
		}
		if unordered[key] {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(text(a), text(b)) })
		}
	case string:
		if volatile[key] && v != "(number)" { // which is the normal form of a number
			return "(string)"
		}
		return replace(v)
	case json.Number:
		if volatile[key] {
			return "(number)"
		}
	}
	return v
}

func replace(s string) string {
	s = timePattern.ReplaceAllString(s, "(time)")
	s = uuidPattern.ReplaceAllString(s, "(uuid)")
	s = keyPattern.ReplaceAllString(s, "deposed object (key)")
	return bigPattern.ReplaceAllString(s, "(number)")
}

func stream(s string) (any, error) {
	groups := map[string]any{}
	for line := range strings.Lines(s) {
		dec := json.NewDecoder(bytes.NewReader([]byte(line)))
		dec.UseNumber()
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			return nil, fmt.Errorf("not a message: %w: %s", err, line)
		}
		typ, _ := m["type"].(string)
		if strings.HasSuffix(typ, "_progress") {
			continue
		}
		key := strings.TrimSpace(typ + " " + subject(m))
		list, _ := groups[key].([]any)
		groups[key] = append(list, normal("", m))
	}
	for _, list := range groups {
		slices.SortStableFunc(list.([]any), func(a, b any) int { return strings.Compare(text(a), text(b)) })
	}
	return groups, nil
}

// subject is the address that a message is about.
func subject(m map[string]any) string {
	for _, part := range []string{"hook", "change"} {
		if o, ok := m[part].(map[string]any); ok {
			if r, ok := o["resource"].(map[string]any); ok {
				addr, _ := r["addr"].(string)
				action, _ := o["action"].(string)
				return addr + " " + action
			}
		}
	}
	if d, ok := m["diagnostic"].(map[string]any); ok {
		severity, _ := d["severity"].(string)
		return severity
	}
	return ""
}

// Plain returns a document with its normal form in place of the output, so that documents that normalise
// takes for the same are equal.
func Plain(d Document) (Document, error) {
	v, err := normalise(d)
	if err != nil {
		d.Out = replace(d.Out)
		return d, nil // anything else is kept as it is
	}
	switch d.Kind {
	case JSON:
		d.Out = text(v)
	case Stream:
		d.Out = ""
		groups := v.(map[string]any)
		for _, key := range union(groups, nil) {
			for _, m := range groups[key].([]any) {
				d.Out += text(m) + "\n"
			}
		}
	case Text:
		d.Out = strings.Join(lines(v), "\n") + "\n"
	case Status:
		d.Out = ""
	}
	return d, nil
}

func lines(v any) []string {
	var out []string
	switch v := v.(type) {
	case []string:
		return v
	case []any:
		for _, e := range v {
			out = append(out, fmt.Sprint(e))
		}
	}
	return out
}
