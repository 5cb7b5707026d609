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
			s, err := New(Options{
				ConnString: cfg.Text("conn_str"), Schema: cfg.Text("schema_name"), Cipher: env.Cipher, Dir: env.JournalDir, Lease: lease, History: kept,
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
