package engine_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// leakRecord is what the state has of an object.
type leakRecord struct {
	value    cty.Value
	private  []byte
	identity cty.Value // cty.NilVal for none
	tainted  bool
	address  string
}

// leakReplay goes through what a schedule has led to, with the answers that the provider gave, and says what
// should have become of each.
type leakReplay struct {
	world   *leakWorld
	round   int
	catalog leakCatalog
	base    map[*leakThing]*leakRecord // before the command
	prior   map[*leakThing]*leakRecord // after planning
	state   map[*leakThing]*leakRecord // after the command
	objects map[*leakThing]cty.Value   // what others refer to
	found   []string                   // findings of the phase
	errors  bool
	corpus  strings.Builder // all that may be stored
	dropped []string
	spared  int
	deposed []*leakThing // the deposed objects so far; those that are left have a record
}

func newLeakReplay(w *leakWorld) *leakReplay {
	return &leakReplay{world: w, state: map[*leakThing]*leakRecord{}}
}

func (rp *leakReplay) say(severity, summary, at string) {
	rp.found = append(rp.found, severity+" | "+summary+" | "+at)
	rp.errors = rp.errors || severity == "error"
}

// phase begins a phase.
func (rp *leakReplay) phase() {
	rp.found, rp.errors, rp.objects = nil, false, map[*leakThing]cty.Value{}
}

// begin begins a round.
func (rp *leakReplay) begin(round int) {
	rp.round, rp.catalog = round, newLeakCatalog(rp.world.rounds[round].version)
	rp.base, rp.prior = maps.Clone(rp.state), maps.Clone(rp.state)
	rp.corpus.Reset()
	rp.dropped = nil
	r := rp.world.rounds[round]
	rp.allow(r.text)
	for _, v := range rp.world.vars {
		if !v.eph {
			rp.allow(v.text)
		}
	}
	for _, rec := range rp.base {
		rp.allow(rec.texts()...)
	}
	for _, n := range rp.world.things {
		rp.allow(n.importID)
	}
	for _, r := range rp.world.rounds {
		if s := r.script["call/f"]; s != nil { // an output has it
			rp.allow(s.places[0].text)
		}
	}
	for _, o := range rp.world.outputs {
		if o.alias == nil {
			rp.allow(leakTexts(o.value.eval(&leakEnv{}))...)
		}
	}
}

func (rp *leakReplay) allow(texts ...string) {
	for _, t := range texts {
		rp.corpus.WriteString(t + "\x00")
	}
}

// leakTexts are the texts, numbers and keys in a value.
func leakTexts(v cty.Value) []string {
	if v == cty.NilVal || !v.IsKnown() || v.IsNull() {
		return nil
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		return []string{v.AsString()}
	case ty == cty.Number:
		return []string{v.AsBigFloat().Text('f', -1)}
	case v.CanIterateElements():
		var out []string
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			if ty.IsMapType() || ty.IsObjectType() {
				out = append(out, k.AsString())
			}
			out = append(out, leakTexts(e)...)
		}
		return out
	}
	return nil
}

// leakTypeNames are the names of attributes in the type of a null value.
func leakTypeNames(v cty.Value) (out []string) {
	if v.Type().IsObjectType() && v.Type().HasAttribute("any") {
		if ty := v.GetAttr("any").Type(); ty.IsObjectType() {
			for name := range ty.AttributeTypes() {
				out = append(out, name)
			}
		}
	}
	return out
}

func (rec *leakRecord) texts() []string {
	if rec == nil {
		return nil
	}
	return append(slices.Concat(leakTexts(rec.value), leakTexts(rec.identity), leakTypeNames(rec.value)), string(rec.private))
}

// judge returns the judge of answers about a thing. With a configuration, the object's own values are known.
func (rp *leakReplay) judge(n *leakThing, env *leakEnv, base *leakRecord, configured bool) *leakJudge {
	w, r := rp.world, rp.world.rounds[rp.round]
	j := &leakJudge{policy: r.policy, secrets: leakSecrets{}, data: n.kind == "leak_lookup", address: rp.address(n)}
	if n.deposed {
		j.address += " (deposed)"
	}
	j.open = base.texts()
	j.files = w.files(rp.round)
	w.ofRun(j.secrets)
	n.alias.secrets(j.secrets, env.applying)
	if w.importedBy(n, rp.round) || r.imports == n {
		if rp.base[n] == nil {
			j.open = append(j.open, n.importID)
		}
	}
	if configured {
		open := n.config(rp.round, env)
		rp.allow(open...)
		j.open = append(j.open, open...)
		n.own(j.secrets, rp.round, env)
	}
	return j
}

// address is that of a thing in the command. What is to be destroyed has the one that the state has.
func (rp *leakReplay) address(n *leakThing) string {
	if rec := rp.base[n]; rec != nil && rp.world.rounds[rp.round].mode == plan.Destroy {
		return rec.address
	}
	return n.address(rp.round)
}

// files are the texts that are in the open for everything but an object's own values.
func (w *leakWorld) files(round int) []string {
	out := []string{w.rounds[round].text}
	for _, v := range w.vars {
		if !v.eph && !v.sens {
			out = append(out, v.text)
		}
	}
	return out
}

func (w *leakWorld) ofRun(to leakSecrets) {
	add := func(s string, confidential bool) {
		to.add(s, confidential, func(v *leakSecret) { v.ofRun, v.confidential = true, v.confidential || confidential })
	}
	for _, v := range w.vars {
		if v.eph && !v.inFile {
			add(v.text, v.sens)
		}
	}
	if w.credential != "" {
		add(w.credential, true)
	}
}

// secrets adds what is ephemeral in a provider configuration.
func (a *leakAlias) secrets(to leakSecrets, applying bool) {
	env := &leakEnv{applying: applying}
	add := func(e *leakExpr, eph, sens bool) {
		if eph {
			to.add(e.eval(env).AsString(), sens, func(v *leakSecret) { v.configured = true })
		}
	}
	if a.token != nil {
		add(a.token, a.token.eph, a.token.sens)
	}
	if a.key != nil {
		add(a.key, a.key.eph && !leakPlainKey(a.key.eval(env)), a.key.sens)
		add(a.val, a.val.eph || a.key.eph, a.val.sens || a.key.sens)
	}
}

// own adds the values of write-only arguments.
func (n *leakThing) own(to leakSecrets, round int, env *leakEnv) {
	add := func(e *leakExpr, marked bool) {
		if v := e.eval(env); v.IsKnown() && !v.IsNull() {
			to.add(v.AsString(), marked, func(s *leakSecret) { s.own, s.marked = true, s.marked || marked })
		}
	}
	for _, e := range []*leakExpr{n.secret, n.pass} {
		if e.has(round) {
			add(e, e.eph || e.sens)
		}
	}
	if n.mapKey != nil && n.mapKey.eval(env).IsKnown() { // or else nothing of the map is known
		marked := n.mapKey.eph || n.mapKey.sens
		if marked && !leakPlainKey(n.mapKey.eval(env)) { // other keys are names
			add(n.mapKey, true)
		}
		add(n.mapVal, marked || n.mapVal.eph || n.mapVal.sens)
	}
}

// config returns the texts in the configuration outside of write-only arguments.
func (n *leakThing) config(round int, env *leakEnv) []string {
	out := []string{n.name}
	for _, e := range []*leakExpr{n.arg, n.tagKey, n.tagVal, n.user} {
		if e.has(round) {
			out = append(out, leakTexts(e.eval(env))...)
		}
	}
	return out
}

// settle takes over what a judge has found, and reports whether there was no error.
func (rp *leakReplay) settle(j *leakJudge, calls ...leakCall) bool {
	rp.found = append(rp.found, j.found...)
	rp.errors = rp.errors || j.errors
	rp.dropped = append(rp.dropped, j.dropped...)
	rp.spared += j.spared
	return !j.errors
}

// messages notes what the provider said itself.
func (rp *leakReplay) messages(n *leakThing, calls []leakCall) {
	for _, c := range calls {
		if c.warn != "" {
			rp.say("warning", "Message of the provider", "["+n.name+"/"+c.rpc+"]")
		}
		if c.failed {
			rp.say("error", "The provider failed", rp.address(n))
		}
	}
}

// stored judges a whole answer, which takes the place of a record.
func (rp *leakReplay) stored(j *leakJudge, n *leakThing, c leakCall, kind string, before *leakRecord) *leakRecord {
	j.next(kind)
	out := &leakRecord{address: rp.address(n)}
	if out.identity = c.identity; c.value != cty.NilVal {
		out.value = j.object(c.value, rp.block(n))
	}
	if !j.identity(c.identity) {
		out.identity = cty.NilVal
	}
	var was []byte
	if before != nil {
		was = before.private
		if out.identity == cty.NilVal || out.identity.IsNull() {
			out.identity = before.identity
		}
	}
	out.private = j.private(c.private, was)
	rp.allow(out.texts()...)
	return out
}

func (rp *leakReplay) block(n *leakThing) *schema.Block {
	if n.kind == "leak_lookup" {
		return rp.catalog.data[n.kind].Block
	}
	return rp.catalog.managed[n.typeIn(rp.round)].Block
}

// planned goes through a plan.
func (rp *leakReplay) planned(p *leakPhase, mode plan.Mode) {
	rp.phase()
	for _, n := range rp.things() {
		calls := rp.calls(p, n)
		rp.messages(n, calls)
		env := &leakEnv{objects: rp.objects, closed: mode == plan.RefreshOnly}
		switch {
		case n.kind == "leak_lookup":
			rp.read(n, calls, env)
		case mode == plan.Destroy || n.deposed:
			rp.planDestroy(n, calls, env)
		case len(calls) > 0:
			rp.planThing(n, calls, env, mode)
		}
	}
}

// read goes through the reading of a data source, which may come later.
func (rp *leakReplay) read(n *leakThing, calls []leakCall, env *leakEnv) {
	for _, c := range calls {
		j := rp.judge(n, env, rp.base[n], true)
		j.next("object read")
		rec := &leakRecord{value: j.object(c.value, rp.block(n)), address: rp.address(n)}
		rp.allow(rec.texts()...)
		if rp.settle(j) {
			rp.prior[n], rp.state[n] = rec, rec
			rp.objects[n] = rec.value
		}
	}
}

// planThing goes through the plan of a thing that the configuration declares. What was read is judged when
// the configuration is known.
func (rp *leakReplay) planThing(n *leakThing, calls []leakCall, env *leakEnv, mode plan.Mode) {
	base := rp.base[n]
	j := rp.judge(n, env, base, true)
	cur, ok := base, true
	for i, c := range calls {
		kind := "object read"
		switch c.rpc {
		case "import":
			continue // it is read at once
		case "upgrade", "move":
			if mode == plan.RefreshOnly {
				kind = map[string]string{"upgrade": "upgraded state", "move": "moved object"}[c.rpc]
			}
			if c.rpc == "upgrade" {
				c.private = cur.private
				if c.identity == cty.NilVal {
					c.identity = cur.identity
				}
			}
		case "plan":
			kind = "plan"
		}
		if !ok && c.rpc == "read" && mode != plan.RefreshOnly {
			continue // it was read before the answer before that was judged
		}
		if !ok && mode != plan.RefreshOnly {
			rp.say("error", "unexpected call", n.name+" "+c.rpc)
			return
		}
		before := cur
		if c.rpc == "plan" && i > 0 && calls[i-1].rpc == "plan" {
			before = nil // a replacement is planned from nothing
		}
		got := rp.stored(j, n, c, kind, before)
		if kind == "object read" && base != nil && string(got.private) != string(c.private) {
			got.private = base.private
		}
		ok = !j.errors
		if c.rpc == "plan" {
			rp.objects[n] = got.value
		} else {
			cur = got
		}
	}
	if !rp.settle(j) {
		delete(rp.objects, n)
		return
	}
	rp.prior[n] = cur
	if base != nil && cur != nil {
		cur.tainted = base.tainted
	}
	if mode == plan.RefreshOnly && cur != nil {
		rp.objects[n] = cur.value
	}
}

// planDestroy goes through the plan to destroy a thing, of which no configuration is known.
func (rp *leakReplay) planDestroy(n *leakThing, calls []leakCall, env *leakEnv) {
	j := rp.judge(n, env, rp.base[n], false)
	cur := rp.base[n]
	for _, c := range calls {
		switch c.rpc {
		case "upgrade":
			c.private = cur.private
			if c.identity == cty.NilVal {
				c.identity = cur.identity
			}
			cur = rp.stored(j, n, c, "upgraded state", cur)
		case "read":
			cur = rp.stored(j, n, c, "object read", cur)
		case "unplan":
			j.next("plan")
			rp.allow(string(j.private(c.private, cur.private)))
		}
	}
	if cur != nil && rp.base[n] != nil {
		cur.tainted = rp.base[n].tainted
	}
	if rp.settle(j) {
		rp.prior[n] = cur
	}
}

// imported goes through the command import.
func (rp *leakReplay) imported(p *leakPhase, n *leakThing) {
	rp.phase()
	calls := p.calls[n.name]
	rp.messages(n, calls)
	j := rp.judge(n, &leakEnv{}, nil, false)
	var cur *leakRecord
	for _, c := range calls {
		cur = rp.stored(j, n, c, map[string]string{"import": "imported object", "read": "object read"}[c.rpc], cur)
	}
	if rp.settle(j) && cur != nil {
		rp.state[n] = cur
	}
}
