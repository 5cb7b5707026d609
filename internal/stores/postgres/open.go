//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"fmt"

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
			s, err := New(Options{ConnString: cfg.Text("conn_str"), Schema: cfg.Text("schema_name"), Cipher: env.Cipher, Dir: env.JournalDir, History: kept})
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
