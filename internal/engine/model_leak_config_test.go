package engine_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/plan"
)

// leakWorld is a random configuration in which equal texts come from ephemeral and from other sources, and a
// random life of it: what is asked for in each round, and what the provider answers.
type leakWorld struct {
	rng        *rand.Rand
	pool       []string
	vars       []*leakVar
	tokens     []*leakToken
	aliases    []*leakAlias
	things     []*leakThing // each refers to earlier ones only
	locals     []string
	outputs    []*leakOutput
	rounds     []*leakRound
	credential string // of the backend; "" for none
}

// leakVar is a variable of the root module. A text in the file is its default, and not given.
type leakVar struct {
	name, text              string
	eph, sens, inFile, json bool
}

// leakToken is an ephemeral resource. What it returns may differ between plan and apply.
type leakToken struct {
	name        string
	plan, apply string
}

type leakAlias struct {
	name            string
	token, key, val *leakExpr // nil if not set; key and val are a setting
}

// leakThing is a resource or data source.
type leakThing struct {
	name       string
	kind       string // leak_thing, leak_bare (no write-only arguments) or leak_lookup (a data source)
	moved      bool   // in the first round it is a leak_old
	each       string // "", "[0]" or `["k1"]`
	alias      *leakAlias
	arg        *leakExpr
	tagKey     *leakExpr
	tagVal     *leakExpr
	secret     *leakExpr
	mapKey     *leakExpr
	mapVal     *leakExpr
	user       *leakExpr
	pass       *leakExpr
	print      *leakExpr // in a provisioner
	after      *leakThing
	used       bool   // by others: its results do not change
	importID   string // "" for none; it is imported in the round importIn, by identity if byIdentity is set
	importIn   int
	byIdentity bool
	size       []int
	replace    []int
	cbd        bool   // it is replaced with create_before_destroy
	deposed    bool   // it stands for an object of another thing that was deposed
	gen        string // of the deposed object; see leakGen
}

type leakOutput struct {
	name  string
	value *leakExpr
	alias *leakAlias // of a function that is called
}

// leakRound is one command.
type leakRound struct {
	mode     plan.Mode
	imports  *leakThing // the command import
	policy   leak.Policy
	version  int64 // of the provider's schemas
	script   map[string]*leakSpec
	planOnly bool
	text     string
}

// leakSpec is what a provider puts into one answer.
type leakSpec struct {
	places            []leakPlace
	private, identity string
	fail              bool
	mute              bool // a failure says nothing about the object
	warn              string
}

type leakPlace struct{ field, text string }

var leakFields = []string{
	"made", "made", "result", "extra-key", "extra-val", "num", "any", "any-name", "any-val", "any-type", "list", "set", "token", "id", "made",
}

func (w *leakWorld) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *leakWorld) pick() string { return w.pool[w.rng.IntN(len(w.pool))] }

// newLeakWorld returns the world of a seed.
func newLeakWorld(seed uint64) *leakWorld {
	w := &leakWorld{rng: rand.New(rand.NewPCG(seed, 41))}
	w.fillPool()
	if w.chance(20) {
		w.credential = w.pick()
	}
	for i := range 2 + w.rng.IntN(5) {
		v := &leakVar{name: fmt.Sprintf("v%d", i), text: w.pick(), eph: w.chance(50), sens: w.chance(40), inFile: w.chance(15), json: w.chance(20)}
		if v.json {
			v.text = `{"password":` + leakJSON(v.text) + `,"user":` + leakJSON(w.pick()) + `}`
		}
		w.vars = append(w.vars, v)
	}
	for i := range w.rng.IntN(3) {
		tk := &leakToken{name: fmt.Sprintf("t%d", i), plan: w.pick()}
		if tk.apply = tk.plan; w.chance(50) {
			tk.apply = w.pick()
		}
		w.tokens = append(w.tokens, tk)
	}
	for i := range 1 + w.rng.IntN(3) {
		a := &leakAlias{name: fmt.Sprintf("p%d", i)}
		if w.chance(60) {
			a.token = w.expr(true, false)
		}
		if w.chance(20) {
			a.key, a.val = w.expr(true, false), w.expr(true, false)
		}
		w.aliases = append(w.aliases, a)
	}
	w.addRounds()
	for i := range 1 + w.rng.IntN(4) {
		w.things = append(w.things, w.thing(i))
	}
	w.addOutputs()
	w.addScripts()
	w.addReplacements(rand.New(rand.NewPCG(seed, 42)))
	w.addMute(rand.New(rand.NewPCG(seed, 43)))
	w.addIdentities(rand.New(rand.NewPCG(seed, 44)))
	for i := range w.rounds {
		w.rounds[i].text = w.text(i)
	}
	return w
}

func (w *leakWorld) fillPool() {
	core := fmt.Sprintf("kX%d-%08x", w.rng.IntN(10), w.rng.Uint32())
	tail := core[len(core)-4:] + fmt.Sprintf("-Zq%05x", w.rng.IntN(1<<20))
	all := []string{
		core, core, core + "-tail", "pre-" + core, tail, core[:4] + fmt.Sprint(w.rng.IntN(1e9)), "4711081512", "correct horse", "under_score_word", "a7b8c9!", "aaaabbbbcc",
		fmt.Sprintf(`q"uo<te&d-%x`, w.rng.Uint32()), "two words-7" + tail,
		"-----BEGIN K-----\nMIIE" + core + "AAAABBBB\nQQ" + tail + "zzzz11112222\n-----END K-----\n",
	}
	w.pool = append(w.pool, core)
	for range 2 + w.rng.IntN(4) {
		w.pool = append(w.pool, all[w.rng.IntN(len(all))])
	}
}

// leakJSON returns a text as jsonencode writes it.
func leakJSON(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// compose returns a text for an answer, which may hold several values, in several spellings.
func (w *leakWorld) compose() string {
	t, u := w.pick(), w.pick()
	switch w.rng.IntN(12) {
	case 0:
		return "a=" + t + ";"
	case 1:
		return t + "/" + u
	case 2:
		return `{"id":` + leakJSON(t) + `}`
	case 3:
		for n := min(len(t), len(u)) - 1; n > 0; n-- { // as many overlapping bytes as there can be
			if strings.HasSuffix(t, u[:n]) {
				return t + u[n:]
			}
		}
		return t + "-x"
	case 4:
		return "?k=" + url.QueryEscape(t)
	case 5:
		return base64.StdEncoding.EncodeToString([]byte(t))
	case 6:
		return t + "-x"
	default:
		return t
	}
}

func (w *leakWorld) addRounds() {
	modes := []string{"change", "plan", "refresh", "again", "destroy"}
	w.rounds = append(w.rounds, &leakRound{})
	version := int64(0)
	for range w.rng.IntN(3) {
		r := &leakRound{}
		switch modes[w.rng.IntN(4)] {
		case "plan":
			r.planOnly = true
		case "refresh":
			r.mode = plan.RefreshOnly
		}
		if w.chance(25) {
			version = 1
		}
		r.version = version
		w.rounds = append(w.rounds, r)
	}
	if w.chance(50) {
		w.rounds = append(w.rounds, &leakRound{mode: plan.Destroy, version: version})
	}
	for _, r := range w.rounds {
		r.policy, r.script = []leak.Policy{leak.Standard, leak.Standard, leak.Strict, leak.Lenient, leak.Lenient}[w.rng.IntN(5)], map[string]*leakSpec{}
	}
}

func (w *leakWorld) thing(i int) *leakThing {
	n := &leakThing{name: fmt.Sprintf("x%d", i), kind: []string{"leak_thing", "leak_thing", "leak_thing", "leak_bare", "leak_lookup"}[w.rng.IntN(5)]}
	n.each = []string{"", "", "", "[0]", `["k1"]`}[w.rng.IntN(5)]
	n.alias = w.aliases[w.rng.IntN(len(w.aliases))]
	maybe := func(percent int, ephemeral, references bool) *leakExpr {
		if !w.chance(percent) {
			return nil
		}
		return w.expr(ephemeral, references)
	}
	n.arg = maybe(50, false, true)
	if len(w.things) > 0 && w.chance(20) {
		n.after = w.things[w.rng.IntN(len(w.things))]
	}
	size, replace := 1, 1
	for range w.rounds {
		n.size, n.replace = append(n.size, size), append(n.replace, replace)
		if w.chance(50) {
			size++
		}
		if w.chance(15) {
			replace++
		}
	}
	if n.kind == "leak_lookup" {
		return n
	}
	if w.chance(20) {
		n.tagKey, n.tagVal = w.expr(false, false), w.expr(false, false)
	}
	if w.chance(20) && n.each == "" {
		n.importID, n.importIn, n.byIdentity = "i-"+n.name+"-"+w.compose(), w.rng.IntN(2), w.chance(40) && n.kind == "leak_thing"
	}
	if n.kind == "leak_bare" {
		return n
	}
	n.moved = n.importID == "" && w.chance(15) && len(w.rounds) > 1
	n.secret, n.pass = maybe(60, true, true), maybe(25, true, true)
	n.user = maybe(30, false, true)
	if w.chance(15) {
		n.mapKey, n.mapVal = w.expr(true, false), w.expr(true, false)
	}
	n.print = maybe(3, true, false)
	return n
}

func (w *leakWorld) addOutputs() {
	for i := range w.rng.IntN(3) {
		w.outputs = append(w.outputs, &leakOutput{name: fmt.Sprintf("o%d", i), value: w.expr(false, true)})
	}
	if a := w.aliases[0]; w.chance(15) && a.opensNothing() {
		w.outputs = append(w.outputs, &leakOutput{name: "f", alias: a})
	}
}

// opensNothing reports whether functions may be called.
func (a *leakAlias) opensNothing() bool {
	for _, e := range []*leakExpr{a.token, a.key, a.val} {
		if e != nil && e.token != nil {
			return false
		}
	}
	return true
}

func (w *leakWorld) addScripts() {
	for i, r := range w.rounds {
		for _, n := range w.things {
			rpcs := []string{"plan", "replan", "apply", "apply", "read", "read", "import", "upgrade", "move", "unplan", "delete"}
			if n.kind == "leak_lookup" {
				rpcs = []string{"data", "data"}
			}
			for _, rpc := range rpcs {
				if w.chance(25) {
					w.addSpec(r, n, rpc)
				}
			}
			if s := r.script["delete/"+n.name]; s != nil {
				s.fail = w.chance(60)
			}
		}
		if w.chance(70) {
			r.script["call/f"] = &leakSpec{places: []leakPlace{{"", w.compose()}}}
		}
		if i == 0 && w.chance(20) {
			for _, n := range w.things {
				if n.kind != "leak_lookup" && n.importID != "" && n.importIn == 0 && !n.byIdentity && r.imports == nil && n.arg.isStatic() {
					r.imports = n
				}
			}
		}
	}
}

func (w *leakWorld) addSpec(r *leakRound, n *leakThing, rpc string) {
	s := &leakSpec{}
	for range 1 + w.rng.IntN(2) {
		f := leakFields[w.rng.IntN(len(leakFields))]
		if n.used && (f == "made" || f == "result") && rpc != "apply" {
			f = "list"
		}
		s.places = append(s.places, leakPlace{f, w.compose()})
	}
	if w.chance(25) {
		s.private = w.compose()
	}
	if w.chance(25) {
		s.identity = w.compose()
	}
	if w.chance(10) {
		s.warn = w.compose()
	}
	if rpc == "apply" {
		s.fail = w.chance(15)
	}
	r.script[rpc+"/"+n.name] = s
}

// leakExpr is an expression, with what it is known to be.
type leakExpr struct {
	hcl       string
	eph, sens bool
	text      string // unless one of the following is set
	token     *leakToken
	ref       *leakThing
	attr      string
	wrap      []string
}

func (e *leakExpr) isStatic() bool { return e == nil || e.ref == nil && e.token == nil }

// expr returns an expression: ephemeral if that is allowed, and with references to results of things.
func (w *leakWorld) expr(ephemeral, references bool) *leakExpr {
	e := w.source(ephemeral, references)
	if e.ref != nil {
		return e
	}
	switch w.rng.IntN(10) {
	case 0:
		e.hcl, e.wrap = "\"${"+e.hcl+"}-x\"", append(e.wrap, "-x")
	case 1:
		e.hcl, e.wrap = "jsonencode({ id = "+e.hcl+" })", append(e.wrap, "json")
	case 2:
		if !e.sens {
			e.hcl, e.sens = "sensitive("+e.hcl+")", true
		}
	}
	if w.chance(15) {
		w.locals = append(w.locals, e.hcl)
		e.hcl = fmt.Sprintf("local.l%d", len(w.locals)-1)
	}
	return e
}

func (w *leakWorld) source(ephemeral, references bool) *leakExpr {
	if references && len(w.things) > 0 && w.chance(25) {
		n := w.things[w.rng.IntN(len(w.things))]
		n.used = true
		attr := []string{"made", "result"}[w.rng.IntN(2)]
		return &leakExpr{hcl: n.reference() + "." + attr, ref: n, attr: attr, sens: attr == "result"}
	}
	if ephemeral && len(w.tokens) > 0 && w.chance(40) {
		tk := w.tokens[w.rng.IntN(len(w.tokens))]
		attr := []string{"value", "secret"}[w.rng.IntN(2)]
		return &leakExpr{hcl: "ephemeral.leak_token." + tk.name + "." + attr, eph: true, sens: attr == "secret", token: tk}
	}
	for range 4 {
		v := w.vars[w.rng.IntN(len(w.vars))]
		if v.eph && !ephemeral {
			continue
		}
		e := &leakExpr{hcl: "var." + v.name, eph: v.eph, sens: v.sens, text: v.text}
		if v.json && w.chance(70) {
			e.hcl, e.text = "jsondecode(var."+v.name+").password", v.password()
		}
		return e
	}
	t := w.pick()
	return &leakExpr{hcl: leakQuote(t), text: t}
}

// password returns the password in a variable that is a JSON document.
func (v *leakVar) password() string {
	var doc struct{ Password string }
	if err := json.Unmarshal([]byte(v.text), &doc); err != nil {
		panic(err)
	}
	return doc.Password
}

func leakQuote(s string) string { return fmt.Sprintf("%q", s) }

// leakEnv is what expressions are evaluated with.
type leakEnv struct {
	applying bool
	closed   bool // nothing is opened
	objects  map[*leakThing]cty.Value
}

// eval returns the value of an expression, without marks. It may be unknown or null.
func (e *leakExpr) eval(env *leakEnv) cty.Value {
	text := e.text
	switch {
	case e.ref != nil:
		v, ok := env.objects[e.ref]
		if !ok || !v.IsKnown() {
			return cty.UnknownVal(cty.String)
		}
		if v.IsNull() {
			return cty.NullVal(cty.String)
		}
		return v.GetAttr(e.attr)
	case e.token != nil && env.closed:
		return cty.UnknownVal(cty.String)
	case e.token != nil && env.applying:
		text = e.token.apply
	case e.token != nil:
		text = e.token.plan
	}
	for _, by := range e.wrap {
		switch by {
		case "-x":
			text += "-x"
		case "json":
			text = `{"id":` + leakJSON(text) + `}`
		}
	}
	return cty.StringVal(text)
}

// reference returns the address of a thing's only instance, as of the last rounds.
func (n *leakThing) reference() string {
	if n.kind == "leak_lookup" {
		return "data.leak_lookup." + n.name + n.each
	}
	return n.kind + "." + n.name + n.each
}

// address returns the address in a round.
func (n *leakThing) address(round int) string {
	return strings.Replace(n.reference(), n.kind, n.typeIn(round), 1)
}

// typeIn returns the type in a round.
func (n *leakThing) typeIn(round int) string {
	if n.moved && round == 0 {
		return "leak_old"
	}
	return n.kind
}

// declared reports whether the configuration of a round has the thing.
func (n *leakThing) declared(round int) bool { return n.importID == "" || round >= n.importIn }

// has reports whether the configuration of a round has an argument with the expression.
func (e *leakExpr) has(round int) bool { return e != nil && (e.ref == nil || e.ref.declared(round)) }

// importedBy reports whether the configuration of a round has an import block for the thing.
func (w *leakWorld) importedBy(n *leakThing, round int) bool {
	return n.importID != "" && n.importIn <= round && w.rounds[0].imports != n
}
