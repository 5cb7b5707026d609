package backend

// pgKind keeps states as rows of a table in PostgreSQL. The connection string is secret as a whole, since
// it may have a password; what it leaves out comes from the variables of libpq.
var pgKind = declare("pg", arguments{
	"conn_str":             text("PG_CONN_STR").secret(),
	"schema_name":          text("PG_SCHEMA_NAME").place(),
	"skip_schema_creation": boolean("PG_SKIP_SCHEMA_CREATION"),
	"table_name":           text("PG_TABLE_NAME").place(),
	"skip_table_creation":  boolean("PG_SKIP_TABLE_CREATION"),
	"index_name":           text("PG_INDEX_NAME"),
	"skip_index_creation":  boolean("PG_SKIP_INDEX_CREATION"),
}, nil)
