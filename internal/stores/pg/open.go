//go:build !mayfly_no_pg

package pg

import (
	"context"
	"fmt"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{
		Connect: func(_ context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
			s, err := serviceOf(cfg)
			if err != nil {
				err = fmt.Errorf("the argument \"conn_str\" of the backend \"pg\": %w", err)
			}
			return s, err
		},
		Place:    placeOf,
		Identity: placeOf,
	}
}

func serviceOf(cfg backend.Config) (*Service, error) {
	return New(Options{
		ConnString: cfg.Text("conn_str"), Schema: cfg.Text("schema_name"), Table: cfg.Text("table_name"), Index: cfg.Text("index_name"),
		SkipSchema: cfg.Flag("skip_schema_creation"), SkipTable: cfg.Flag("skip_table_creation"), SkipIndex: cfg.Flag("skip_index_creation"),
	})
}

// placeOf names the table with its server and database, from the connection string and the environment.
func placeOf(cfg backend.Config) string {
	s, err := serviceOf(cfg)
	if err != nil {
		return fmt.Sprintf("the schema %q of a database", cfg.TextOr("schema_name", defaultSchema))
	}
	return s.Path()
}
