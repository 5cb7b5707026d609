//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{
		Open: func(_ context.Context, cfg backend.Config, env backend.Env) (store.Store, error) {
			kept, err := parseHistory(cfg.Text("history"))
			if err != nil {
				return nil, err
			}
			lease, err := parseLease(cfg.Text("lease"))
			if err != nil {
				return nil, err
			}
			schema := cfg.Text("schema_name")
			if err := checkSchema(schema); err != nil {
				return nil, err
			}
			s, err := New(Options{
				ConnString: cfg.Text("conn_str"), Schema: schema, Cipher: env.Cipher, Dir: env.JournalDir, Lease: lease, History: kept,
			})
			if err != nil {
				return nil, fmt.Errorf("the argument \"conn_str\" of the backend \"postgres\": %w", err)
			}
			return s, nil
		},
		Place:    placeOf,
		Identity: placeOf,
	}
}

// longestSchema is how many bytes the name of a schema may have: the server keeps 63 bytes of a name, and two
// names are needed.
const longestSchema = 62

// checkSchema checks the argument "schema_name".
func checkSchema(name string) error {
	if len(name) > longestSchema {
		return fmt.Errorf("the argument \"schema_name\" of the backend \"postgres\" is longer than %d bytes. The server cuts names off there, and the schema of the views has a longer name, which ends with %q. Choose a shorter one", longestSchema, viewsSuffix)
	}
	return nil
}

// placeOf names the schema with its server and database, from the connection string and the environment.
func placeOf(cfg backend.Config) string {
	s, err := New(Options{ConnString: cfg.Text("conn_str"), Schema: cfg.Text("schema_name")})
	if err != nil {
		return fmt.Sprintf("the schema %q of a database", cfg.TextOr("schema_name", defaultSchema))
	}
	return s.Path()
}

// Bounds of the argument "lease": a run renews it six times in that time, and one that has died blocks
// others as long.
const (
	leastLease = 30 * time.Second
	mostLease  = 24 * time.Hour
)

// parseLease reads the argument "lease". It returns 0 for "".
func parseLease(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("the argument \"lease\" of the backend \"postgres\" is %q, which is not a duration. Write one such as \"90s\" or \"10m\"", text)
	case d < leastLease || d > mostLease:
		return 0, fmt.Errorf("the argument \"lease\" of the backend \"postgres\" is %q. The least is \"30s\", the most \"24h\"", text)
	}
	return d, nil
}
