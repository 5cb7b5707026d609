package documents

import (
	"fmt"
	"slices"
	"strings"
)

// Outline takes out of a document, in normal form, the wording of problems: the rest of a diagnostic is its
// severity, the instance that it is about, the file and line that it points at, and whether it shows that
// line. Lists of them are ordered anew, because their order was the order of the words.
func Outline(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if d, ok := v["diagnostic"].(map[string]any); ok {
			return map[string]any{"@level": v["@level"], "diagnostic": diagnostic(d)}
		}
		if v["severity"] != nil && v["summary"] != nil {
			return diagnostic(v)
		}
		for key, e := range v {
			v[key] = Outline(e)
		}
	case []any:
		told := false
		for i, e := range v {
			v[i] = Outline(e)
			told = told || isOutline(v[i])
		}
		if told {
			slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(text(a), text(b)) })
		}
	}
	return v
}

func isOutline(v any) bool {
	m, _ := v.(map[string]any)
	return m["problem"] != nil || m["diagnostic"] != nil
}

func diagnostic(d map[string]any) map[string]any {
	out := map[string]any{"problem": d["severity"]}
	if r, ok := d["range"].(map[string]any); ok {
		start, _ := r["start"].(map[string]any)
		out["range"] = fmt.Sprint(r["filename"], ":", start["line"])
	}
	if d["snippet"] != nil {
		out["snippet"] = true
	}
	if a, ok := d["address"]; ok {
		out["subject"] = a
	}
	return out
}
