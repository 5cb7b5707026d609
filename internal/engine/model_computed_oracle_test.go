package engine_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// madeTruth knows the secrets of the real objects, which is more than the state does.
type madeTruth struct {
	mu     sync.Mutex
	config *madeConfig
	tokens map[string]string // the newest one of each account, by its id
	got    map[string]string // the secret that each object has, by its id
	minted map[string]bool   // tokens in upper case
	hidden map[string]bool   // tokens in upper case, of accounts that keep theirs out of the state
	calls  []string          // changes by the last command, by the names of the objects
	faults []string
	made   int    // changes by the last command
	stopAt int    // the change at which the command is interrupted, 0 for none
	stop   func() // interrupts it
}

// change makes a change and notes what the real object has afterwards.
func (m *madeTruth) change(req provider.ApplyRequest, call heldCall) (provider.ApplyResponse, diag.List) {
	resp, diags := call()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made++; m.made == m.stopAt {
		m.stop()
	}
	if req.Planned.IsNull() {
		m.calls = append(m.calls, req.Prior.GetAttr("name").AsString())
		return resp, diags
	}
	name := req.Planned.GetAttr("name").AsString()
	m.calls = append(m.calls, name)
	if resp.New == cty.NilVal || resp.New.IsNull() || !resp.New.GetAttr("id").IsKnown() {
		return resp, diags
	}
	id := resp.New.GetAttr("id").AsString()
	at := slices.IndexFunc(m.config.all(), func(i madeInstance) bool { return i.named() == name })
	if at < 0 {
		m.faults = append(m.faults, "a change of "+name+", which has no block")
		return resp, diags
	}
	of := m.config.all()[at]
	if req.Type == "sim_thing" {
		version := req.Planned.GetAttr("secret_wo_version")
		if req.Prior.IsNull() || !version.RawEquals(req.Prior.GetAttr("secret_wo_version")) {
			m.take(name, id, req.Config.GetAttr("secret_wo"))
		}
		return resp, diags
	}
	if len(of.uses) > 0 {
		m.take(name, id, req.Planned.GetAttr("password"))
	}
	if token := resp.New.GetAttr("token"); !token.IsNull() && token.IsKnown() {
		m.tokens[id] = token.AsString()
		if key := strings.ToUpper(token.AsString()); !m.minted[key] { // or the state has it already
			m.minted[key], m.hidden[key] = true, of.on
		}
	}
	return resp, diags
}

func (m *madeTruth) take(name, id string, secret cty.Value) {
	if secret.IsNull() || !secret.IsKnown() {
		m.faults = append(m.faults, name+" is sent null in place of its secret")
		return
	}
	m.got[id] = secret.AsString()
}

var madeToken = regexp.MustCompile(`TOKEN-CANARY-O\d+(K\d+)?-\d+-\d+`)

// shown returns the hidden tokens in a text.
func (m *madeTruth) shown(text string) (out []string) {
	upper := strings.ToUpper(text)
	for _, at := range madeToken.FindAllStringIndex(upper, -1) {
		if m.hidden[upper[at[0]:at[1]]] {
			out = append(out, fmt.Sprintf("%s in …%s…", text[at[0]:at[1]], text[max(0, at[0]-100):min(len(text), at[1]+60)]))
		}
	}
	return out
}

// object returns the real object that the state has for an instance, nil if it does not exist.
func (h *madeHistory) object(i madeInstance) *simcloud.Object {
	in := h.instance(i)
	if in == nil || in.Current == nil {
		return nil
	}
	o, err := simcloud.ReadObject(h.side.cloud, idOf(in.Current))
	if err != nil {
		return nil
	}
	return o
}

// real returns the id of the real object that the state has for an instance, "" if it does not exist.
func (h *madeHistory) real(i madeInstance) string {
	if o := h.object(i); o != nil {
		return o.ID
	}
	return ""
}

// instance returns what the state has of an instance, nil if it has nothing.
func (h *madeHistory) instance(i madeInstance) *state.Instance {
	for _, address := range []string{i.address(), h.addressNow(i)} {
		if in := h.side.state.Instance(h.side.instances([]string{address})[0]); in != nil {
			return in
		}
	}
	return nil
}

func idOf(o *state.Object) string { return textOf(o, "id") }

func tokenOf(o *state.Object) string { return textOf(o, "token") }

// textOf returns a text that the state has of an object, "" if it has none.
func textOf(o *state.Object, name string) string {
	var attrs map[string]any
	if json.Unmarshal(o.JSON(), &attrs) != nil {
		return ""
	}
	text, _ := attrs[name].(string)
	return text
}

// bare returns the accounts whose tokens the state should have and does not, because they were kept out of it
// until now. They have to be replaced.
func (h *madeHistory) bare(cmd heldCommand) (out []string) {
	for _, i := range h.config.all() {
		if i.typ == "sim_account" && !i.on && cmd.mode == plan.Normal && h.real(i) != "" && tokenOf(h.instance(i).Current) == "" && !slices.Contains(cmd.replace, i.address()) {
			out = append(out, i.address())
		}
	}
	return out
}

// token returns the token of now of an account, "" if the account does not exist.
func (h *madeHistory) token(i madeInstance) string {
	id := h.real(i)
	if id == "" || i.on {
		return h.truth.tokens[id]
	}
	return tokenOf(h.instance(i).Current) // the state has it, as ever
}

// lacking returns the instances that do not have the secrets that the tokens of now make. If the user has
// said that all is well with the tokens that an instance lacks, it is left out.
func (h *madeHistory) lacking() (out []string) {
	for _, i := range h.config.all() {
		if len(i.uses) > 0 && h.lacks(i) {
			out = append(out, i.address())
		}
	}
	return out
}

func (h *madeHistory) lacks(i madeInstance) bool {
	id := h.real(i)
	if id == "" {
		return true
	}
	had := madeToken.FindAllString(strings.ToUpper(h.truth.got[id]), -1)
	var tokens []string
	waived := false
	for _, s := range i.sources() {
		token := h.token(s)
		switch key := strings.ToUpper(token); {
		case token == "":
			return true
		case slices.Contains(had, key):
		case h.waived[i.named()+" "+s.named()] != key:
			return true
		default:
			waived = true
		}
		tokens = append(tokens, token)
	}
	return !waived && h.truth.got[id] != i.secret(tokens)
}

// touch notes that something about an instance has changed for which it needs its secret, so that calls that
// change it are expected.
func (h *madeHistory) touch(i madeInstance) { h.touched[i.named()], h.needy[i.named()] = true, true }

// brush is touch for a change of another argument. Only passwords are sent along with that.
func (h *madeHistory) brush(i madeInstance) {
	h.touched[i.named()] = true
	h.needy[i.named()] = h.needy[i.named()] || i.typ == "sim_account"
}

// renew notes that an instance gets a new token, or may get one, and so do those who use it get new secrets.
func (h *madeHistory) renew(i madeInstance) {
	h.touch(i)
	h.renewed[i.named()] = true
	h.spread()
	if i.on {
		return
	}
	for _, user := range h.config.users(i.madeObject) { // as ever, the user has to change the version
		if user.static {
			h.bump(user)
		}
	}
}

func (h *madeHistory) spread() {
	for _, user := range h.config.all() {
		for _, s := range user.sources() {
			if h.renewed[s.named()] {
				h.touch(user)
			}
		}
	}
}

// isNeeded reports whether an error is right that says that a token is not available any more: something
// needs a secret that is made of a token that is kept out of the state, and there is no new one.
func (h *madeHistory) isNeeded(text string) bool {
	for _, user := range h.config.all() {
		if !h.needy[user.named()] || !strings.Contains(text, user.address()) {
			continue
		}
		for _, s := range user.sources() {
			if s.on && strings.Contains(text, s.address()) && !h.renewedNow(s) {
				return true
			}
		}
	}
	return false
}

// renewedNow reports whether the next apply is known to make a new token of an instance.
func (h *madeHistory) renewedNow(i madeInstance) bool { return h.real(i) == "" }

// isMissed reports whether an error is right that says that a new token would not be delivered: the address
// is of something that uses one and takes nothing in this run.
func (h *madeHistory) isMissed(address string, s heldCommand) bool {
	for _, user := range h.config.all() {
		if user.address() != address {
			continue
		}
		if !user.static && len(s.targets)+len(s.excludes) == 0 {
			return false
		}
		return slices.ContainsFunc(user.sources(), func(of madeInstance) bool { return h.renewed[of.named()] })
	}
	return false
}

// isTakenOut reports whether a plan takes the token of an account out of the state, and something has a
// password that is made of it.
func (h *madeHistory) isTakenOut(address string) bool {
	for _, i := range h.config.all() {
		if i.address() == address && i.on && h.instance(i) != nil && tokenOf(h.instance(i).Current) != "" {
			return slices.ContainsFunc(h.config.users(i.madeObject), func(user *madeObject) bool { return user.typ == "sim_account" })
		}
	}
	return false
}
