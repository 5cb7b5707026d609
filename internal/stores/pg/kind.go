package pg

import "github.com/mayfly-iac/mayfly/internal/stores/backend"

// Kind keeps states as rows of a table in PostgreSQL. The connection string is secret as a whole, since it
// may have a password; settings that it leaves out come from the variables of libpq.
var Kind = backend.Declare("pg", backend.Arguments{
	"conn_str":             backend.Text("PG_CONN_STR").Secret().About("connection string of libpq or a URL `postgres://...`; what it leaves out comes from `PGHOST`, `PGUSER` and the like"),
	"schema_name":          backend.Text("PG_SCHEMA_NAME").Place().About("schema of the tables; `terraform_remote_state` by default"),
	"skip_schema_creation": backend.Boolean("PG_SKIP_SCHEMA_CREATION").About("the schema exists: do not create it"),
	"table_name":           backend.Text("PG_TABLE_NAME").Place().About("table of the states; `states` by default"),
	"skip_table_creation":  backend.Boolean("PG_SKIP_TABLE_CREATION").About("the tables exist: do not create them"),
	"index_name":           backend.Text("PG_INDEX_NAME").About("index of the table; `states_by_name` by default"),
	"skip_index_creation":  backend.Boolean("PG_SKIP_INDEX_CREATION").About("the index exists: do not create it"),
}, nil, opener{}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
