package keep

import (
	"context"
	"encoding/json"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/store"
)

// OpenEphemeral implements provider.Reader. A keep_lease, a keep_tunnel and some keep_command are renewed and
// closed: the other results are copies.
func (p *keepProvider) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diag.List) {
	block, diags := blockOf(addr.Ephemeral, typeName)
	switch {
	case diags.HasErrors():
		return provider.OpenResponse{}, diags
	case !block.Conforms(config) || config.IsNull() || !config.IsWhollyKnown():
		return provider.OpenResponse{}, unprepared()
	}
	resp := provider.OpenResponse{Opened: true}
	result := config.AsValueMap()
	switch typeName {
	case passwordType:
		diags = generate(result)
	case tunnelType:
		diags = p.openTunnel(ctx, result, &resp)
	case commandType:
		diags = p.openCommand(ctx, result, &resp)
	case fileType:
		diags = readFile(result)
	case environmentType:
		diags = readEnvironment(result)
	default:
		diags = p.openStored(ctx, typeName, result, &resp)
	}
	if diags.HasErrors() {
		return provider.OpenResponse{}, diags
	}
	resp.Result = cty.ObjectVal(result)
	return resp, nil
}

// openStored opens instances that need the store.
func (p *keepProvider) openStored(ctx context.Context, typeName string, result map[string]cty.Value, resp *provider.OpenResponse) diag.List {
	kept, diags := p.configured().open()
	if diags.HasErrors() {
		return diags
	}
	ctx, done := p.during(ctx)
	defer done()
	if typeName == secretType {
		return reveal(ctx, kept, result)
	}
	return grant(ctx, kept, result, resp)
}

// reveal opens the ephemeral keep_secret, the only way to read a value back.
func reveal(ctx context.Context, kept *store.Store, result map[string]cty.Value) diag.List {
	found, value, err := kept.Reveal(ctx, bareName(text(result["name"]), secretIDPrefix))
	defer clear(value)
	if err != nil {
		return explainLost(err)
	}
	result["value"], result["version"] = cty.StringVal(string(value)), cty.NumberIntVal(found.Version)
	return nil
}

// defaultTTL is the time to live of a lease unless it is configured.
const defaultTTL = "5m"

// leasePrivate is the private data of a keep_lease, by which renewing and closing find the lease: they get
// nothing else.
type leasePrivate struct {
	ID string `json:"lease_id"`
}

// grant opens a keep_lease: a token that is valid for as long as the resource is open.
func grant(ctx context.Context, kept *store.Store, result map[string]cty.Value, resp *provider.OpenResponse) diag.List {
	if result["ttl"].IsNull() {
		result["ttl"] = cty.StringVal(defaultTTL)
	}
	if diags := checkTTL(result["ttl"]); diags.HasErrors() {
		return diags
	}
	ttl, _ := parseTTL(text(result["ttl"])) // was checked
	lease, token, err := kept.Grant(ctx, ttl, text(result["purpose"]))
	if err != nil {
		return explain(err)
	}
	result["token"], result["lease_id"] = cty.StringVal(token), cty.StringVal(lease.ID)
	result["expires_at"] = cty.StringVal(lease.ExpiresAt.Format(time.RFC3339Nano))
	if resp.Private, err = json.Marshal(leasePrivate{lease.ID}); err != nil {
		return explain(err)
	}
	resp.RenewAt = renewAt(lease)
	return nil
}

// renewAt leaves a third of the time to live for a slow renewal or a second attempt.
func renewAt(l store.Lease) time.Time { return l.ExpiresAt.Add(-l.TTL / 3) }

// RenewEphemeral implements provider.Reader. The token stays the same.
func (p *keepProvider) RenewEphemeral(ctx context.Context, typeName string, private []byte) (provider.RenewResponse, diag.List) {
	switch typeName {
	case leaseType:
	case tunnelType, commandType:
		return p.renewHeld(ctx, private)
	default:
		return provider.RenewResponse{Private: private}, nil
	}
	kept, id, diags := p.leaseOf(private)
	if diags.HasErrors() {
		return provider.RenewResponse{}, diags
	}
	ctx, done := p.during(ctx)
	defer done()
	lease, err := kept.Renew(ctx, id)
	if err != nil {
		return provider.RenewResponse{}, explain(err)
	}
	return provider.RenewResponse{RenewAt: renewAt(lease), Private: private}, nil
}

// renewHeld renews a tunnel or command.
func (p *keepProvider) renewHeld(ctx context.Context, private []byte) (provider.RenewResponse, diag.List) {
	h, diags := p.heldBy(private, false)
	if diags.HasErrors() {
		return provider.RenewResponse{}, diags
	}
	ctx, done := p.during(ctx)
	defer done()
	next, err := h.renew(ctx, p.now())
	if err != nil {
		return provider.RenewResponse{}, diag.Errorf("Not renewed", "Renewing failed: %s.", err)
	}
	return provider.RenewResponse{RenewAt: next, Private: private}, nil
}

// CloseEphemeral implements provider.Reader. It ends a lease at once, whatever is left of its time.
func (p *keepProvider) CloseEphemeral(ctx context.Context, typeName string, private []byte) diag.List {
	switch {
	case typeName == leaseType:
	case len(private) > 0 && (typeName == tunnelType || typeName == commandType):
		return p.closeHeld(ctx, private)
	default:
		return nil
	}
	kept, id, diags := p.leaseOf(private)
	if diags.HasErrors() {
		return diags
	}
	ctx, done := p.during(ctx)
	defer done()
	if err := kept.Revoke(ctx, id); err != nil {
		return explain(err)
	}
	return nil
}

// closeHeld ends a tunnel or command.
func (p *keepProvider) closeHeld(ctx context.Context, private []byte) diag.List {
	h, diags := p.heldBy(private, true)
	if diags.HasErrors() {
		return diags
	}
	ctx, done := p.during(ctx)
	defer done()
	if err := h.close(ctx); err != nil {
		return diag.Errorf("Not ended", "What was opened may still exist: %s.", err)
	}
	return nil
}

// leaseOf returns the store and the ID of the lease in private data.
func (p *keepProvider) leaseOf(private []byte) (*store.Store, string, diag.List) {
	var data leasePrivate
	if json.Unmarshal(private, &data) != nil || data.ID == "" {
		return nil, "", diag.Errorf("Lease not identified", "The private data of this keep_lease does not name a lease, so it can't be renewed or revoked; "+
			"it ends by itself when its ttl is over. This is an error of the program that runs the provider.")
	}
	kept, diags := p.configured().open()
	return kept, data.ID, diags
}

// generate opens a keep_password: a new random string each time, in plan and in apply as well. It does not
// use the store.
func generate(result map[string]cty.Value) diag.List {
	r, diags := recipeOf(result)
	if diags.HasErrors() {
		return diags
	}
	password, err := r.generate()
	if err != nil {
		return diag.Errorf("No random numbers", "The system's source of random numbers failed: %s", err)
	}
	result["result"] = cty.StringVal(password)
	return nil
}

// recipeOf returns the prepared recipe for known arguments, and fills in their defaults.
func recipeOf(arguments map[string]cty.Value) (recipe, diag.List) {
	if arguments["length"].IsNull() {
		arguments["length"] = cty.NumberIntVal(defaultPasswordLength)
	}
	special := defaultSpecial
	if own := arguments["override_special"]; !own.IsNull() {
		special = own.AsString()
	}
	r := recipe{classes: []class{
		{name: "lower", chars: []rune("abcdefghijklmnopqrstuvwxyz")},
		{name: "upper", chars: []rune("ABCDEFGHIJKLMNOPQRSTUVWXYZ")},
		{name: "numeric", chars: []rune("0123456789")},
		{name: "special", chars: []rune(special)},
	}}
	r.length, _ = whole(arguments["length"]) // 0, which is refused below, if it is not whole
	for i := range r.classes {
		c := &r.classes[i]
		if arguments[c.name].IsNull() {
			arguments[c.name] = cty.True
		}
		if arguments["min_"+c.name].IsNull() {
			arguments["min_"+c.name] = cty.NumberIntVal(0)
		}
		c.enabled = arguments[c.name].True()
		c.min, _ = whole(arguments["min_"+c.name])
	}
	if err := r.prepare(text(arguments["exclude"])); err != nil {
		return r, diag.Errorf("Impossible password", "These arguments can't be met: %s.", err)
	}
	return r, nil
}
