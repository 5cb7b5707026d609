package view

import (
	"encoding/json"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
)

// text returns the node of a string: compared as JSON if both sides are documents, by lines if either has
// several, else as a scalar. Policies and container definitions are strings of the first kind: a change deep
// inside them is shown as the change of one attribute.
func (d differ) text(b, a cty.Value, e effect) *node {
	sb, sa := stringOf(b), stringOf(a)
	db, okB := parseDocument(sb)
	da, okA := parseDocument(sa)
	switch {
	case (okB || !exists(b)) && (okA || !exists(a)):
		return d.document(sb, sa, db, da, e)
	// A document becomes prose or the reverse: lines of one have nothing to do with the other.
	case okB != okA && e == same:
		one := func(b, a cty.Value) *node { return d.text(b, a, sided(exists(b), exists(a))) }
		return &node{effect: changed, body: pair{one(b, cty.NilVal), one(cty.NilVal, a)}}
	}
	if strings.Contains(sb, "\n") || strings.Contains(sa, "\n") {
		return lineNode(sb, sa, e)
	}
	return scalar(b, a, e)
}

// stringOf returns the text of a known string, "" for a side that doesn't exist.
func stringOf(v cty.Value) string {
	if v == cty.NilVal {
		return ""
	}
	return v.AsString()
}

// parseDocument decodes a JSON object or array. It reports false for anything else, JSON scalars included:
// those read better as strings.
func parseDocument(s string) (cty.Value, bool) {
	trimmed := strings.TrimSpace(s)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") || !json.Valid([]byte(s)) {
		return cty.NilVal, false
	}
	ty, err := ctyjson.ImpliedType([]byte(s))
	if err != nil {
		return cty.NilVal, false
	}
	v, err := jsonvalue.Unmarshal([]byte(s), ty)
	if err != nil {
		return cty.NilVal, false
	}
	return v, true
}

// document returns the node of a string that is a JSON document on every side where it exists. sb and sa are
// the strings, db and da the documents in them. If the strings differ and the documents don't, only white
// space changes; that is still a change, and may force a replacement.
func (d differ) document(sb, sa string, db, da cty.Value, e effect) *node {
	body := encoded{doc: d.value(db, da, free, nil)}
	if e == same && sb != sa {
		e = changed
		body.space = body.doc.effect == same
	}
	return &node{effect: e, body: body}
}

// lineNode compares two texts by lines. The final line end is taken off if both have it, so that it is not
// shown as an empty last line.
func lineNode(sb, sa string, e effect) *node {
	switch e {
	case added:
		return &node{effect: e, body: heredoc{oneSided(sa)}}
	case removed:
		return &node{effect: e, body: heredoc{oneSided(sb)}}
	}
	if sb == sa {
		return &node{effect: same, body: heredoc{oneSided(sa)}}
	}
	if strings.HasSuffix(sb, "\n") && strings.HasSuffix(sa, "\n") {
		sb, sa = sb[:len(sb)-1], sa[:len(sa)-1]
	}
	lb, la := strings.Split(sb, "\n"), strings.Split(sa, "\n")
	var body heredoc
	add := func(e effect, lines []string) {
		for _, l := range lines {
			body.lines = append(body.lines, diffLine{e, l})
		}
	}
	done := 0
	for _, gap := range lcs.DiffLines(lb, la) {
		add(same, lb[done:gap.Start])
		add(removed, lb[gap.Start:gap.End])
		add(added, la[gap.ReplStart:gap.ReplEnd])
		done = gap.End
	}
	add(same, lb[done:])
	return &node{effect: changed, body: body}
}

// oneSided returns the lines of a text that is not compared with another, without the empty line that a final
// line end would make.
func oneSided(s string) []diffLine {
	var lines []diffLine
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		lines = append(lines, diffLine{same, l})
	}
	return lines
}
