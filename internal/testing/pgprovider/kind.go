package pgprovider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/lib/pq"
)

// kind is a kind of objects on the server. Each object has a name, by which it is found.
type kind struct {
	schema  *tfprotov6.Schema
	read    string                                       // selects the columns of the object with the name $1
	columns []string                                     // the attributes that are read
	create  func(planned, config object) (string, error) // returns a statement
	update  func(planned, config object) (string, error) // nil if each change is a replacement
	remove  string                                       // goes before the name
}

var kinds = map[string]*kind{
	"pg_role": {
		schema: block(
			&tfprotov6.SchemaAttribute{Name: "password_wo", Type: tftypes.String, Optional: true, WriteOnly: true},
			&tfprotov6.SchemaAttribute{Name: "password_wo_version", Type: tftypes.Number, Optional: true},
		),
		read:    "SELECT oid FROM pg_roles WHERE rolname = $1",
		columns: []string{"oid"},
		create:  func(planned, config object) (string, error) { return withPassword("CREATE", planned, config) },
		update:  func(planned, config object) (string, error) { return withPassword("ALTER", planned, config) },
		remove:  "DROP ROLE",
	},
	"pg_database": {
		schema:  block(&tfprotov6.SchemaAttribute{Name: "owner", Type: tftypes.String, Required: true}),
		read:    "SELECT oid, pg_get_userbyid(datdba) FROM pg_database WHERE datname = $1",
		columns: []string{"oid", "owner"},
		create: func(planned, _ object) (string, error) {
			return fmt.Sprintf("CREATE DATABASE %s OWNER %s", pq.QuoteIdentifier(planned.text("name")), pq.QuoteIdentifier(planned.text("owner"))), nil
		},
		remove: "DROP DATABASE",
	},
	"pg_schema": {
		schema:  block(&tfprotov6.SchemaAttribute{Name: "owner", Type: tftypes.String, Computed: true}),
		read:    "SELECT oid, pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = $1",
		columns: []string{"oid", "owner"},
		create: func(planned, _ object) (string, error) {
			return "CREATE SCHEMA " + pq.QuoteIdentifier(planned.text("name")), nil
		},
		remove: "DROP SCHEMA",
	},
}

// block returns the schema of a kind, with the attributes that all have.
func block(more ...*tfprotov6.SchemaAttribute) *tfprotov6.Schema {
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: append([]*tfprotov6.SchemaAttribute{
		{Name: "name", Type: tftypes.String, Required: true},
		{Name: "oid", Type: tftypes.Number, Computed: true},
	}, more...)}}
}

// withPassword returns a statement that makes or changes a role. It has no password, only a verifier.
func withPassword(verb string, planned, config object) (string, error) {
	v, err := verifier(config.text("password_wo"))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s ROLE %s LOGIN PASSWORD %s", verb, pq.QuoteIdentifier(planned.text("name")), pq.QuoteLiteral(v)), nil
}
