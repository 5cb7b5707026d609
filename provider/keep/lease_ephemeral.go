package keep

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mayfly-iac/mayfly/provider/keep/store"
)

// The time to live of a lease unless it is configured, and the key of its ID in the private data, which
// contains nothing else.
const (
	defaultTTL = "5m"
	leaseKey   = "lease_id"
)

// leaseEphemeral is keep_lease: a token that is valid for as long as the resource is open.
type leaseEphemeral struct{ ephemeralHolder }

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*leaseEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithRenew     = (*leaseEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithClose     = (*leaseEphemeral)(nil)
)

// leaseModel is its configuration and result.
type leaseModel struct {
	TTL       types.String `tfsdk:"ttl"`
	Purpose   types.String `tfsdk:"purpose"`
	Token     types.String `tfsdk:"token"`
	LeaseID   types.String `tfsdk:"lease_id"`
	ExpiresAt types.String `tfsdk:"expires_at"`
}

// Metadata implements ephemeral.EphemeralResource.
func (e *leaseEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "keep_lease"
}

// Schema implements ephemeral.EphemeralResource. The attributes are not marked as sensitive: the result of
// an ephemeral resource is never shown anyway.
func (e *leaseEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "A time-limited token for the keep store, renewed while it is open and revoked when it is closed.",
		Attributes: map[string]schema.Attribute{
			"ttl": schema.StringAttribute{
				Optional: true, Computed: true, Validators: []validator.String{ttlValidator{}},
				Description: "How long the lease lives without renewal: 1s to 24h. Default: 5m.",
			},
			"purpose":    schema.StringAttribute{Optional: true, Description: "What it is for; shown by the data source keep_leases."},
			"token":      schema.StringAttribute{Computed: true, Description: "The token."},
			"lease_id":   schema.StringAttribute{Computed: true, Description: "Names the lease; not secret."},
			"expires_at": schema.StringAttribute{Computed: true, Description: "When the lease ends unless renewed (RFC 3339). Renewals don't change it here."},
		},
	}
}

// Open implements ephemeral.EphemeralResource. It puts the lease's ID into the private data, by which Renew
// and Close find it: they get nothing else.
func (e *leaseEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m leaseModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	kept := e.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if m.TTL.IsNull() {
		m.TTL = types.StringValue(defaultTTL)
	}
	ttl, ok := parseTTL(m.TTL.ValueString())
	if !ok {
		resp.Diagnostics.AddError("Invalid ttl", "Give "+ttlValidator{}.Description(ctx)+".")
		return
	}
	lease, token, err := kept.Grant(ctx, ttl, m.Purpose.ValueString())
	if err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	m.Token = types.StringValue(token)
	m.LeaseID = types.StringValue(lease.ID)
	m.ExpiresAt = types.StringValue(lease.ExpiresAt.Format(time.RFC3339Nano))
	private, err := json.Marshal(lease.ID)
	if err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, leaseKey, private)...)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
	resp.RenewAt = renewAt(lease)
}

// Renew implements ephemeral.EphemeralResourceWithRenew. The token stays the same.
func (e *leaseEphemeral) Renew(ctx context.Context, req ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	id := leaseID(ctx, req.Private, &resp.Diagnostics)
	kept := e.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	lease, err := kept.Renew(ctx, id)
	if err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	resp.RenewAt = renewAt(lease)
}

// Close implements ephemeral.EphemeralResourceWithClose. It revokes the token at once, whatever is left of
// its time.
func (e *leaseEphemeral) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	id := leaseID(ctx, req.Private, &resp.Diagnostics)
	kept := e.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := kept.Revoke(ctx, id); err != nil {
		addError(&resp.Diagnostics, err)
	}
}

// renewAt leaves a third of the time to live for a slow renewal or a second attempt.
func renewAt(l store.Lease) time.Time { return l.ExpiresAt.Add(-l.TTL / 3) }

// privateData is the part of the framework's private data that reading needs; the framework does not export
// its type.
type privateData interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// leaseID returns the ID of the lease from the private data, or "" and an error.
func leaseID(ctx context.Context, private privateData, diags *diag.Diagnostics) string {
	raw, d := private.GetKey(ctx, leaseKey)
	diags.Append(d...)
	var id string
	if json.Unmarshal(raw, &id) != nil || id == "" {
		diags.AddError("Lease not identified", "The private data of this keep_lease does not name a lease, so it can't be renewed or revoked; "+
			"it ends by itself when its ttl is over. This is an error of the program that runs the provider.")
	}
	return id
}
