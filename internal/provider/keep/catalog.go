package keep

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// The names of the types.
const (
	secretType      = "keep_secret" // managed and ephemeral
	noteType        = "keep_note"
	leaseType       = "keep_lease"
	passwordType    = "keep_password"
	tunnelType      = "keep_tunnel"
	commandType     = "keep_command"
	fileType        = "keep_file"
	environmentType = "keep_environment"
	secretNamesType = "keep_secret_names"
	leasesType      = "keep_leases"
)

// catalog is the provider's catalog. All schemas are fixed.
type catalog struct{}

var providerSchema = schemaOf("Keeps secrets in one age-encrypted file.", map[string]*schema.Attribute{
	"path": {Type: cty.String, Optional: true, Description: "The store file, relative to the working directory. " +
		"Default: the environment variable KEEP_PATH, else keep.age. Made by the first change."},
	"key_file": {Type: cty.String, Optional: true, Description: "File with the age identity that opens the store. " +
		"Default: KEEP_KEY_FILE, else the store's path with .key added. Made together with the store, readable for its owner only."},
	"passphrase": {Type: cty.String, Optional: true, Sensitive: true, Description: "Opens the store instead of a key file. " +
		"Default: KEEP_PASSPHRASE."},
	"token": {Type: cty.String, Optional: true, Sensitive: true, Description: "Token of an open keep_lease of the same store. " +
		"If given, everything done through this configuration requires that the lease is live at that moment."},
})

// leaseObject is the type of an element of keep_leases.leases.
var leaseObject = cty.Object(map[string]cty.Type{"id": cty.String, "purpose": cty.String, "expires_at": cty.String})

var schemas = map[addr.Mode]map[string]*schema.Schema{
	addr.Managed: {
		secretType: schemaOf("A secret in the keep store.", map[string]*schema.Attribute{
			"id":   {Type: cty.String, Computed: true, Description: secretIDPrefix + " and the name."},
			"name": {Type: cty.String, Required: true, Description: "The name; another name is another secret."},
			"value_wo": {
				Type: cty.String, Required: true, WriteOnly: true, Sensitive: true,
				Description: "The value. It is stored on creation and whenever value_wo_version changes, and never read back.",
			},
			"value_wo_version": {Type: cty.Number, Optional: true, Description: "Change this number to store the present value_wo."},
			"version":          {Type: cty.Number, Computed: true, Description: "1 for the first value stored, one more for each since."},
			"description":      {Type: cty.String, Optional: true, Description: "Free text, not secret."},
		}),
		noteType: schemaOf("A plain text record in the keep store.", map[string]*schema.Attribute{
			"id":   {Type: cty.String, Computed: true, Description: noteIDPrefix + " and the name."},
			"name": {Type: cty.String, Required: true, Description: "The name; another name is another note."},
			"text": {Type: cty.String, Required: true, Description: "The text. It is part of plan and state: nothing secret belongs here."},
		}),
	},
	addr.Data: {
		secretNamesType: schemaOf("The names of the secrets in the keep store.", map[string]*schema.Attribute{
			"prefix": {Type: cty.String, Optional: true, Description: "List only names that begin so."},
			"names":  {Type: cty.List(cty.String), Computed: true, Description: "The names, sorted."},
		}),
		leasesType: schemaOf("The live leases of the keep store.", map[string]*schema.Attribute{
			"leases": {
				Type: cty.List(leaseObject), Computed: true,
				Description: "One object per lease, soonest expiry first: id, purpose (may be null), expires_at (RFC 3339).",
			},
		}),
	},
	// The attributes are not marked as sensitive: the result of an ephemeral resource is never shown anyway.
	addr.Ephemeral: {
		secretType: schemaOf("Reads a secret from the keep store.", map[string]*schema.Attribute{
			"name": {
				Type: cty.String, Required: true,
				Description: "The secret's name or id. Refer to the id of a keep_secret to read it only once it exists: unlike the name, the id is unknown before.",
			},
			"value":   {Type: cty.String, Computed: true, Description: "The value last stored."},
			"version": {Type: cty.Number, Computed: true, Description: "The version of that value."},
		}),
		leaseType: schemaOf("A time-limited token for the keep store, renewed while it is open and revoked when it is closed.", map[string]*schema.Attribute{
			"ttl":        {Type: cty.String, Optional: true, Computed: true, Description: "How long the lease lives without renewal: 1s to 24h. Default: 5m."},
			"purpose":    {Type: cty.String, Optional: true, Description: "What it is for; shown by the data source keep_leases."},
			"token":      {Type: cty.String, Computed: true, Description: "The token."},
			"lease_id":   {Type: cty.String, Computed: true, Description: "Names the lease; not secret."},
			"expires_at": {Type: cty.String, Computed: true, Description: "When the lease ends unless renewed (RFC 3339). Renewals don't change it here."},
		}),
		passwordType:    passwordSchema(),
		tunnelType:      tunnelSchema(),
		commandType:     commandSchema(),
		fileType:        fileSchema(),
		environmentType: environmentSchema(),
	},
}

// passwordSchema returns the schema of keep_password. Arguments with a default are computed too: the result
// shows the values used.
func passwordSchema() *schema.Schema {
	use := func(what string) *schema.Attribute {
		return &schema.Attribute{Type: cty.Bool, Optional: true, Computed: true, Description: "Whether to use " + what + ". Default: true."}
	}
	least := func(what string) *schema.Attribute {
		return &schema.Attribute{Type: cty.Number, Optional: true, Computed: true, Description: "At least so many " + what + ". Default: 0."}
	}
	return schemaOf("Makes a random password. It needs no store.", map[string]*schema.Attribute{
		"length":           {Type: cty.Number, Optional: true, Computed: true, Description: "Number of characters, 1 to 4096. Default: 24."},
		"lower":            use("lower-case letters"),
		"upper":            use("upper-case letters"),
		"numeric":          use("digits"),
		"special":          use("special characters"),
		"min_lower":        least("lower-case letters"),
		"min_upper":        least("upper-case letters"),
		"min_numeric":      least("digits"),
		"min_special":      least("special characters"),
		"override_special": {Type: cty.String, Optional: true, Description: "The special characters to use instead of " + defaultSpecial},
		"exclude":          {Type: cty.String, Optional: true, Description: "Characters never to use, of whatever class."},
		"result":           {Type: cty.String, Computed: true, Description: "The password."},
	})
}

func schemaOf(description string, attributes map[string]*schema.Attribute) *schema.Schema {
	return &schema.Schema{Block: &schema.Block{Description: description, Attributes: attributes}}
}

// blockOf returns the schema of a type, or an error if there is no such type.
func blockOf(mode addr.Mode, typeName string) (*schema.Block, diag.List) {
	if s := schemas[mode][typeName]; s != nil {
		return s.Block, nil
	}
	return nil, diag.Errorf("Unknown type", "The keep provider has no %s of type %q.", mode, typeName)
}

// Provider implements provider.Catalog.
func (catalog) Provider() (*schema.Schema, diag.List) { return providerSchema, nil }

// Resource implements provider.Catalog.
func (catalog) Resource(mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	return schemas[mode][typeName], nil
}

// Types implements provider.Catalog.
func (catalog) Types(mode addr.Mode) []string { return slices.Sorted(maps.Keys(schemas[mode])) }

// Identity implements provider.Catalog.
func (catalog) Identity(string) (*schema.Identity, diag.List) { return nil, nil }

// Meta implements provider.Catalog.
func (catalog) Meta() (*schema.Schema, diag.List) { return nil, nil }

// Functions implements provider.Catalog.
func (catalog) Functions() (map[string]*schema.Function, diag.List) { return nil, nil }

// Capabilities implements provider.Catalog.
func (catalog) Capabilities() provider.Capabilities {
	return provider.Capabilities{SchemaOptional: true}
}
