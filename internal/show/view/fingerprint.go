package view

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// fingerprints returns a text per value. Texts are equal exactly if the values and their sensitivity are,
// which makes them keys for matching elements of sets. They contain secrets and must never be shown.
func fingerprints(values []cty.Value) []string {
	out := make([]string, len(values))
	var sb strings.Builder
	for i, v := range values {
		sb.Reset()
		fingerprint(&sb, v)
		out[i] = sb.String()
	}
	return out
}

// fingerprint writes an unambiguous text of v: strings are quoted, and every container has its own
// brackets. Null and unknown values have the same text whatever their type.
func fingerprint(sb *strings.Builder, v cty.Value) {
	v, secret := value.Unmark(v)
	if secret {
		sb.WriteByte('!')
	}
	ty := v.Type()
	switch {
	case !v.IsKnown():
		sb.WriteByte('?')
	case v.IsNull():
		sb.WriteByte('0')
	case ty == cty.String:
		sb.WriteString(strconv.Quote(v.AsString()))
	case ty == cty.Number:
		sb.WriteString(v.AsBigFloat().Text('g', -1))
	case ty == cty.Bool:
		sb.WriteString(strconv.FormatBool(v.True()))
	case ty.IsCapsuleType():
		sb.WriteString("capsule ")
	case ty.IsMapType() || ty.IsObjectType():
		sb.WriteByte('{')
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			sb.WriteString(strconv.Quote(k.AsString()) + ":")
			fingerprint(sb, e)
			sb.WriteByte(',')
		}
		sb.WriteByte('}')
	default:
		sb.WriteByte('[')
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			fingerprint(sb, e)
			sb.WriteByte(',')
		}
		sb.WriteByte(']')
	}
}

// match pairs an element of a set with its equal on the other side; a side without one is cty.NilVal.
type match struct{ before, after cty.Value }

// matchSet pairs equal elements of two sets. It compares fingerprints, which takes time linear in the
// number of elements; comparing values pairwise would not.
func matchSet(eb, ea []cty.Value) []match {
	fb, fa := fingerprints(eb), fingerprints(ea)
	inB, inA := indexOf(fb), indexOf(fa)
	var out []match
	for i, v := range eb {
		if j, kept := inA[fb[i]]; kept {
			out = append(out, match{v, ea[j]})
		} else {
			out = append(out, match{before: v})
		}
	}
	for i, v := range ea {
		if _, kept := inB[fa[i]]; !kept {
			out = append(out, match{after: v})
		}
	}
	return out
}

// indexOf returns where each key is in a list. Elements of a set are distinct, so no key occurs twice.
func indexOf(keys []string) map[string]int {
	m := make(map[string]int, len(keys))
	for i, k := range keys {
		m[k] = i
	}
	return m
}
