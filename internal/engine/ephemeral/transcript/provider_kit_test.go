package transcript

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// rule says what is unusual about some calls of the provider or of the recorder. Without one, a call takes a
// millisecond and succeeds.
type rule struct {
	Call  string // launch, validate config, configure, validate, open, renew, close, plan, apply, destroy, read, import, functions, call, end, record, closed
	Name  string // of the object or function; "" for any
	Phase string // plan or apply; "" for any
	Nth   int    // of the calls that match the fields above; 0 for all

	Soft, Hard bool   // the user interrupts, and insists, when the call begins
	Logs       string // what it logs when it begins
	Takes      string // how long it takes, whatever its context says
	Hang       bool   // it is answered when its context ends
	Panic      bool

	Error, Warning string
	Attr           string // that the error or warning is about
	Detail         string // of the error
	Died, Dead     bool   // the provider ends in this call, or has ended before
	Slow           bool   // the error says that a time limit was exceeded

	Private    *string // in place of what an opening or renewal answers; "" for none
	Keep       bool    // private data of a renewal is the memory that it was asked with
	RenewAfter string
	Set        map[string]string // attributes of the result
	Unknown    string            // an attribute of the result
	Nothing    bool              // there is no result, although the opening succeeded
	Broken     bool              // checking the result panics
	Deferred   string
}

// cloud starts test providers within this process, carries out the rules and keeps what all calls leave
// behind.
type cloud struct {
	*transcript
	soft, hard context.CancelFunc
	log        func(text string)

	mu      sync.Mutex
	rules   []rule
	seen    []int // by rule
	phase   string
	last    int               // number of the newest provider
	opened  map[string]int    // openings by name
	private map[*byte][]byte  // all private data that was given away, by its memory
	tallies map[string]*tally // by call
	records []string          // what is recorded as open, by id less one; "" if it was closed
}

// rule returns the rule for a call, whose match counts.
func (c *cloud) rule(call, name string) (out rule) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.rules {
		if r.Call == call && (r.Name == "" || r.Name == name) && (r.Phase == "" || r.Phase == c.phase) {
			if c.seen[i]++; r.Nth == 0 || r.Nth == c.seen[i] {
				out = r
			}
		}
	}
	return out
}

// begin begins a call: it notes it and passes the time that it takes. end says what was answered.
func (c *cloud) begin(ctx context.Context, who, call, name, asked string) (r rule, diags diag.List, end func(answered string)) {
	r = c.rule(call, name)
	e := c.note("call", strings.Join(strings.Fields(who+" "+call+" "+name+" "+asked), " "))
	begin := time.Now()
	ended := c.count(call, name)
	end = func(answered string) {
		if answered != "" {
			c.add(e, ": "+answered)
		}
		if d := time.Since(begin); d != time.Millisecond {
			c.add(e, " ["+d.String()+"]")
		}
		ended()
	}
	if r.Logs != "" {
		c.log(r.Logs)
	}
	if r.Soft {
		c.soft()
	}
	if r.Hard {
		c.hard()
	}
	d, err := time.ParseDuration(r.Takes)
	if err != nil {
		d = time.Millisecond
	}
	if r.Hang {
		<-ctx.Done()
	} else {
		time.Sleep(d)
	}
	if r.Panic {
		end("panic")
		panic("the test provider panics")
	}
	one := diag.Diagnostic{Summary: r.Error, Detail: r.Detail}
	if r.Attr != "" {
		one.Path = cty.GetAttrPath(r.Attr)
	}
	switch {
	case r.Hang && ctx.Err() != nil:
		one.Summary, one.Extra = "The call was given up", ctx.Err()
	case r.Died, r.Dead:
		one.Summary, one.Extra = "The provider ended", provider.Stopped{Provider: "fake", Repeat: r.Dead}
	case r.Slow:
		one.Summary, one.Extra = "The call took too long", context.DeadlineExceeded
	case r.Warning != "":
		one.Summary, one.Severity = r.Warning, diag.Warning
	}
	if one.Summary != "" {
		diags = diag.List{one}
	}
	return r, diags, end
}

// tally counts the calls of one kind.
type tally struct {
	all, running, most int
	begun              map[string]time.Time // by name: the first one
}

// count counts a call, which goes on until the returned function is called.
func (c *cloud) count(call, name string) (ended func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tallies[call]
	if t == nil {
		t = &tally{begun: map[string]time.Time{}}
		c.tallies[call] = t
	}
	t.all++
	t.running++
	t.most = max(t.most, t.running)
	if t.begun[name].IsZero() {
		t.begun[name] = time.Now()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.running--
	}
}

// brief adds to the transcript how many calls there were, and for how long instances of a name were open at
// least.
func (c *cloud) brief() {
	for _, call := range []string{"open", "close"} {
		c.line("%s: %d, at most %d at once", call, c.tallies[call].all, c.tallies[call].most)
	}
	opened := c.tallies["open"].begun
	for _, name := range slices.Sorted(maps.Keys(opened)) {
		c.line("%s was open for %s", name, c.tallies["close"].begun[name].Sub(opened[name]).Round(time.Second))
	}
}

// answer returns the diagnostics as a transcript shows them.
func answer(diags diag.List) string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Severity.String()+" "+d.Summary)
	}
	return strings.Join(out, ", ")
}

// keep returns private data, whose memory is looked at in the end.
func (c *cloud) keep(text string) []byte {
	if text == "" {
		return nil
	}
	b := []byte(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.private[&b[0]] = slices.Clone(b)
	return b
}

// left returns the private data that is still where it was.
func (c *cloud) left() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for at, was := range c.private {
		if *at != 0 {
			out = append(out, string(was))
		}
	}
	slices.Sort(out)
	return out
}

// Launch implements provider.Launcher.
func (c *cloud) Launch(ctx context.Context, _ addr.Provider) (provider.Provider, diag.List) {
	c.mu.Lock()
	c.last++
	f := &fake{c: c, who: fmt.Sprintf("#%d", c.last)}
	c.mu.Unlock()
	_, diags, end := c.begin(ctx, f.who, "launch", "", "")
	end(answer(diags))
	if diags.HasErrors() {
		return nil, diags
	}
	return f, diags
}

// fake is a provider.
type fake struct {
	provider.Provider // what no test needs
	c                 *cloud
	who               string
}

func text(set ...func(*schema.Attribute)) *schema.Attribute {
	a := &schema.Attribute{Type: cty.String, Optional: true}
	for _, f := range set {
		f(a)
	}
	return a
}

func required(a *schema.Attribute)  { a.Required, a.Optional = true, false }
func computed(a *schema.Attribute)  { a.Computed, a.Optional = true, false }
func sensitive(a *schema.Attribute) { a.Sensitive = true }
func writeOnly(a *schema.Attribute) { a.WriteOnly = true }

func block(attrs map[string]*schema.Attribute) *schema.Schema {
	return &schema.Schema{Block: &schema.Block{Attributes: attrs}}
}

var (
	providerSchema = block(map[string]*schema.Attribute{"token": text(sensitive), "url": text(), "a_region": text()})
	resources      = map[addr.Mode]map[string]*schema.Schema{
		addr.Managed:   {"fake_thing": block(map[string]*schema.Attribute{"name": text(required), "in": text(), "secret": text(writeOnly), "id": text(computed)})},
		addr.Data:      {"fake_data": block(map[string]*schema.Attribute{"name": text(required), "in": text(), "out": text(computed)})},
		addr.Ephemeral: {"fake_lease": block(map[string]*schema.Attribute{"name": text(required), "in": text(), "value": text(computed, sensitive), "info": text(computed)})},
	}
)

// catalog is what the provider offers.
type catalog struct{}

func (catalog) Provider() (*schema.Schema, diag.List) { return providerSchema, nil }
func (catalog) Resource(mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	return resources[mode][typeName], nil
}

func (catalog) Types(mode addr.Mode) []string                       { return slices.Sorted(maps.Keys(resources[mode])) }
func (catalog) Identity(string) (*schema.Identity, diag.List)       { return nil, nil }
func (catalog) Meta() (*schema.Schema, diag.List)                   { return nil, nil }
func (catalog) Functions() (map[string]*schema.Function, diag.List) { return functions, nil }
func (catalog) Capabilities() provider.Capabilities {
	return provider.Capabilities{SchemaOptional: true}
}
func (*fake) Catalog(context.Context) (provider.Catalog, diag.List) { return catalog{}, nil }
func (f *fake) ConfiguredFunctions(ctx context.Context) (map[string]*schema.Function, diag.List) {
	_, diags, end := f.c.begin(ctx, f.who, "functions", "", "")
	end(answer(diags))
	all := maps.Clone(functions)
	all["late"] = all["echo"]
	return all, diags
}

var functions = map[string]*schema.Function{"echo": {Params: []schema.FunctionParam{{Name: "text", Type: cty.String}}, Return: cty.String}}

// show writes the attributes of an object that are not null, but for its name.
func show(v cty.Value) string {
	if v.ContainsMarked() {
		panic("a provider gets a value with marks")
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v.Type().AttributeTypes())) {
		switch a := v.GetAttr(name); {
		case !a.IsKnown():
			out = append(out, name+"=?")
		case name != "name" && !a.IsNull():
			out = append(out, name+"="+a.AsString())
		}
	}
	return strings.Join(out, " ")
}

// nameOf returns the name of an object.
func nameOf(v cty.Value) string {
	if a := v.GetAttr("name"); a.IsKnown() && !a.IsNull() {
		return a.AsString()
	}
	return "?"
}

// with returns an object with other attributes.
func with(v cty.Value, attrs map[string]cty.Value) cty.Value {
	all := v.AsValueMap()
	maps.Copy(all, attrs)
	return cty.ObjectVal(all)
}

func (f *fake) ValidateConfig(ctx context.Context, config cty.Value) diag.List {
	_, diags, end := f.c.begin(ctx, f.who, "validate config", "", show(config))
	end(answer(diags))
	return diags
}

func (f *fake) Configure(ctx context.Context, config cty.Value) diag.List {
	_, diags, end := f.c.begin(ctx, f.who, "configure", "", show(config))
	end(answer(diags))
	return diags
}

func (f *fake) ValidateResource(ctx context.Context, mode addr.Mode, _ string, config cty.Value) diag.List {
	if mode != addr.Ephemeral {
		return nil
	}
	_, diags, end := f.c.begin(ctx, f.who, "validate", nameOf(config), show(config))
	end(answer(diags))
	return diags
}

func (f *fake) OpenEphemeral(ctx context.Context, _ string, config cty.Value) (provider.OpenResponse, diag.List) {
	name := nameOf(config)
	r, diags, end := f.c.begin(ctx, f.who, "open", name, show(config))
	resp := provider.OpenResponse{Opened: !diags.HasErrors(), Lost: r.Died, Deferred: provider.Deferred(r.Deferred)}
	f.c.mu.Lock()
	f.c.opened[name]++
	id := fmt.Sprintf("%s-%d", name, f.c.opened[name])
	f.c.mu.Unlock()
	attrs := map[string]cty.Value{"value": cty.StringVal("VALUE-of-" + id), "info": cty.StringVal("about-" + id)}
	for k, v := range r.Set {
		attrs[k] = cty.StringVal(v)
	}
	if r.Unknown != "" {
		attrs[r.Unknown] = cty.UnknownVal(cty.String)
	}
	said := "not open"
	if resp.Opened {
		resp.Result = with(config, attrs)
		said = "open"
	}
	switch {
	case r.Private != nil:
		resp.Private = f.c.keep(*r.Private)
	case resp.Opened:
		resp.Private = f.c.keep(id)
	}
	if d, err := time.ParseDuration(r.RenewAfter); err == nil {
		resp.RenewAt = time.Now().Add(d)
		said += " until " + d.String() + " later"
	}
	switch {
	case r.Nothing:
		resp.Result = cty.NilVal
	case r.Broken:
		resp.Result = cty.ObjectVal(map[string]cty.Value{"name": cty.NilVal})
	}
	end(strings.TrimSuffix(said+" with private "+string(resp.Private)+", "+answer(diags), ", "))
	return resp, diags
}

func (f *fake) RenewEphemeral(ctx context.Context, _ string, private []byte) (provider.RenewResponse, diag.List) {
	id := string(private)
	name, _, _ := strings.Cut(id, "-")
	r, diags, end := f.c.begin(ctx, f.who, "renew", name, "with private "+id)
	resp := provider.RenewResponse{Private: private}
	switch {
	case r.Private != nil:
		resp.Private = f.c.keep(*r.Private)
	case !r.Keep:
		resp.Private = f.c.keep(id + "'")
	}
	if d, err := time.ParseDuration(r.RenewAfter); err == nil {
		resp.RenewAt = time.Now().Add(d)
	}
	end(strings.TrimSuffix("private "+string(resp.Private)+", "+answer(diags), ", "))
	return resp, diags
}

func (f *fake) CloseEphemeral(ctx context.Context, _ string, private []byte) diag.List {
	id := string(private)
	name, _, _ := strings.Cut(id, "-")
	_, diags, end := f.c.begin(ctx, f.who, "close", name, "with private "+id)
	end(answer(diags))
	return diags
}

func (f *fake) UpgradeResource(_ context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	v, err := ctyjson.Unmarshal(req.JSON, resources[addr.Managed][req.Type].Block.Type())
	if err != nil {
		return cty.NilVal, diag.Errorf("The state is wrong", "%s", err)
	}
	return v, nil
}

func (f *fake) ReadResource(_ context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	return provider.ReadResponse{New: req.Prior}, nil
}

func (f *fake) PlanResource(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	if req.Config.IsNull() {
		return provider.PlanResponse{Planned: req.Config}, nil
	}
	_, diags, end := f.c.begin(ctx, f.who, "plan", nameOf(req.Config), show(req.Config))
	end(answer(diags))
	planned := map[string]cty.Value{"secret": cty.NullVal(cty.String)}
	if req.Prior.IsNull() {
		planned["id"] = cty.UnknownVal(cty.String)
	}
	return provider.PlanResponse{Planned: with(req.Proposed, planned)}, diags
}

func (f *fake) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	if req.Config.IsNull() {
		_, diags, end := f.c.begin(ctx, f.who, "destroy", nameOf(req.Prior), "")
		end(answer(diags))
		return provider.ApplyResponse{New: req.Config}, diags
	}
	r, diags, end := f.c.begin(ctx, f.who, "apply", nameOf(req.Config), show(req.Config))
	end(answer(diags))
	id := cty.StringVal("id-of-" + nameOf(req.Config))
	if r.Unknown != "" {
		id = cty.UnknownVal(cty.String)
	}
	return provider.ApplyResponse{New: with(req.Planned, map[string]cty.Value{"id": id})}, diags
}

func (f *fake) ReadData(ctx context.Context, req provider.DataRequest) (provider.DataResponse, diag.List) {
	_, diags, end := f.c.begin(ctx, f.who, "read", nameOf(req.Config), show(req.Config))
	end(answer(diags))
	return provider.DataResponse{State: with(req.Config, map[string]cty.Value{"out": cty.StringVal("data")})}, diags
}

func (f *fake) ImportResource(ctx context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	_, diags, end := f.c.begin(ctx, f.who, "import", req.ID, "")
	end(answer(diags))
	v := with(resources[addr.Managed][req.Type].Block.Empty(), map[string]cty.Value{"name": cty.StringVal(req.ID), "id": cty.StringVal(req.ID)})
	return provider.ImportResponse{Objects: []provider.ImportedObject{{Type: req.Type, State: v}}}, diags
}

func (f *fake) CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error) {
	_, diags, end := f.c.begin(ctx, f.who, "call", name+" "+args[0].AsString(), "")
	end(answer(diags))
	return args[0], diags.Err()
}

func (f *fake) Stop(context.Context) error {
	f.c.note("call", f.who+" stop")
	return nil
}

func (f *fake) Close() error {
	_, diags, end := f.c.begin(context.Background(), f.who, "end", "", "")
	end(answer(diags))
	return nil
}

// Opening implements ephemeral.Recorder.
func (c *cloud) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	_, diags, end := c.begin(context.Background(), "", "record", i.String(), "of "+p.ForDisplay()+" at "+c.since(at))
	end(answer(diags))
	if diags.HasErrors() {
		return 0, errors.New(diags[0].Summary)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records = append(c.records, i.String())
	return uint64(len(c.records)), nil
}

// Closed implements ephemeral.Recorder.
func (c *cloud) Closed(id uint64) error {
	c.mu.Lock()
	what := c.records[id-1]
	c.records[id-1] = ""
	c.mu.Unlock()
	_, diags, end := c.begin(context.Background(), "", "closed", what, "")
	end(answer(diags))
	return diags.Err()
}
