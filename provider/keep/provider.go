package keep

import (
	"context"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mayfly-iac/mayfly/provider/keep/store"
)

// Address is the provider's source address.
const Address = "mayfly.dev/mayfly/keep"

// defaultPath is where the store is unless it is configured, relative to the working directory.
const defaultPath = "keep.age"

// New returns a factory of providers that report this version. Each provider serves one configuration;
// factories may be called concurrently.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &keepProvider{version: version, now: time.Now} }
}

// keepProvider is the framework's view of the provider.
type keepProvider struct {
	version string
	now     func() time.Time
}

var _ provider.ProviderWithValidateConfig = (*keepProvider)(nil)

// providerModel is the provider's configuration.
type providerModel struct {
	Path       types.String `tfsdk:"path"`
	KeyFile    types.String `tfsdk:"key_file"`
	Passphrase types.String `tfsdk:"passphrase"`
	Token      types.String `tfsdk:"token"`
}

// Metadata implements provider.Provider.
func (p *keepProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "keep"
	resp.Version = p.version
}

// Schema implements provider.Provider.
func (p *keepProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "Keeps secrets in one age-encrypted file.",
		Attributes: map[string]schema.Attribute{
			"path": schema.StringAttribute{Optional: true, Description: "The store file, relative to the working directory. " +
				"Default: the environment variable KEEP_PATH, else keep.age. Made by the first change."},
			"key_file": schema.StringAttribute{Optional: true, Description: "File with the age identity that opens the store. " +
				"Default: KEEP_KEY_FILE, else the store's path with .key added. Made together with the store, readable for its owner only."},
			"passphrase": schema.StringAttribute{Optional: true, Sensitive: true, Description: "Opens the store instead of a key file. " +
				"Default: KEEP_PASSPHRASE."},
			"token": schema.StringAttribute{Optional: true, Sensitive: true, Description: "Token of an open keep_lease of the same store. " +
				"If given, everything done through this configuration requires that the lease is live at that moment."},
		},
	}
}

// ValidateConfig implements provider.ProviderWithValidateConfig.
func (p *keepProvider) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var m providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.check(&resp.Diagnostics)
}

// check reports errors in the known arguments.
func (m *providerModel) check(diags *diag.Diagnostics) {
	if !m.KeyFile.IsNull() && !m.Passphrase.IsNull() {
		diags.AddAttributeError(path.Root("passphrase"), "Two ways to open the store",
			"Both passphrase and key_file are set, but a store is opened by one of them. Remove one.")
	}
	for _, a := range m.arguments() {
		if !a.value.IsNull() && !a.value.IsUnknown() && a.value.ValueString() == "" {
			diags.AddAttributeError(path.Root(a.name), "Empty argument",
				"The argument "+a.name+" is an empty string. Give it a value, or leave it out (null) for the default.")
		}
	}
}

// argument is an argument of the provider configuration, for checks that apply to all of them.
type argument struct {
	name  string
	value types.String
}

// arguments returns all arguments, in the order in which errors name them.
func (m *providerModel) arguments() []argument {
	return []argument{{"path", m.Path}, {"key_file", m.KeyFile}, {"passphrase", m.Passphrase}, {"token", m.Token}}
}

// Configure implements provider.Provider. With unknown arguments, it makes a session without a store. A
// token is checked here, so that an expired one is reported once and not by every resource.
func (p *keepProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var m providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.check(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	s := &session{now: p.now}
	for _, a := range m.arguments() {
		if a.value.IsUnknown() {
			s.unknown = append(s.unknown, a.name)
		}
	}
	if len(s.unknown) == 0 {
		opts, ok := m.options(&resp.Diagnostics)
		if !ok {
			return
		}
		opts.Now = p.now
		kept, err := store.Open(opts)
		if err == nil && opts.Token != "" {
			err = kept.Check(ctx)
		}
		if err != nil {
			addError(&resp.Diagnostics, err)
			return
		}
		s.store = kept
	}
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData = s, s, s
}

// options combines arguments, environment and defaults. Arguments take precedence over the environment,
// also between key_file and passphrase.
func (m *providerModel) options(diags *diag.Diagnostics) (store.Options, bool) {
	o := store.Options{
		Path: m.Path.ValueString(), KeyFile: m.KeyFile.ValueString(),
		Passphrase: m.Passphrase.ValueString(), Token: m.Token.ValueString(),
	}
	if o.Path == "" {
		o.Path = os.Getenv("KEEP_PATH")
	}
	if o.Path == "" {
		o.Path = defaultPath
	}
	if o.KeyFile == "" && o.Passphrase == "" {
		o.KeyFile, o.Passphrase = os.Getenv("KEEP_KEY_FILE"), os.Getenv("KEEP_PASSPHRASE")
		if o.KeyFile != "" && o.Passphrase != "" {
			diags.AddError("Two ways to open the store",
				"Both environment variables KEEP_KEY_FILE and KEEP_PASSPHRASE are set, but a store is opened by one of them. "+
					"Unset one, or set key_file or passphrase in the provider block.")
			return o, false
		}
	}
	return o, true
}

// Resources implements provider.Provider.
func (p *keepProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		func() resource.Resource { return &secretResource{} },
		func() resource.Resource { return &noteResource{} },
	}
}

// DataSources implements provider.Provider.
func (p *keepProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return &namesData{} },
		func() datasource.DataSource { return &leasesData{} },
	}
}

// EphemeralResources implements provider.ProviderWithEphemeralResources.
func (p *keepProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		func() ephemeral.EphemeralResource { return &secretEphemeral{} },
		func() ephemeral.EphemeralResource { return &leaseEphemeral{} },
		func() ephemeral.EphemeralResource { return &passwordEphemeral{} },
	}
}

var _ provider.ProviderWithEphemeralResources = (*keepProvider)(nil)
