package backend

// pgKind keeps states as rows of a table in PostgreSQL. The connection string is secret as a whole, since
// it may have a password; what it leaves out comes from the variables of libpq.
var pgKind = declare("pg", arguments{
	"conn_str":             text("PG_CONN_STR").secret().about("connection string of libpq or a URL `postgres://...`; what it leaves out comes from `PGHOST`, `PGUSER` and the like"),
	"schema_name":          text("PG_SCHEMA_NAME").place().about("schema of the tables; `terraform_remote_state` by default"),
	"skip_schema_creation": boolean("PG_SKIP_SCHEMA_CREATION").about("the schema exists: do not create it"),
	"table_name":           text("PG_TABLE_NAME").place().about("table of the states; `states` by default"),
	"skip_table_creation":  boolean("PG_SKIP_TABLE_CREATION").about("the tables exist: do not create them"),
	"index_name":           text("PG_INDEX_NAME").about("index of the table; `states_by_name` by default"),
	"skip_index_creation":  boolean("PG_SKIP_INDEX_CREATION").about("the index exists: do not create it"),
}, nil)
