package postgres

import "github.com/mayfly-iac/mayfly/internal/stores/backend"

// Kind keeps states in PostgreSQL as rows. The connection string is secret as a whole, since it may have a
// password; settings that it leaves out come from the variables of libpq.
var Kind = backend.Declare("postgres", backend.Arguments{
	"conn_str":    backend.Text("PG_CONN_STR").Secret().About("connection string of libpq or a URL `postgres://...`; what it leaves out comes from `PGHOST`, `PGUSER` and the like"),
	"history":     backend.Text("PG_HISTORY").About("how long replaced versions of objects are kept, such as `90d` or `12h`; `0` for not at all, `30d` by default"),
	"lease":       backend.Text("PG_LEASE").About("how long a run keeps its claims without reaching the server, such as `10m`; from `30s` to `24h`, `2m` by default"),
	"schema_name": backend.Text("PG_SCHEMA_NAME").Place().About("schema of the tables; `mayfly` by default"),
}, nil, opener{}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
