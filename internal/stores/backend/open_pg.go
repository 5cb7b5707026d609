//go:build !mayfly_no_pg

package backend

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/pg"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	pgKind.service = service{
		open: func(_ context.Context, cfg cty.Value, env Env) (store.Store, error) {
			s, err := pgService(cfg)
			if err != nil {
				return nil, fmt.Errorf("the argument \"conn_str\" of the backend \"pg\": %w", err)
			}
			return remote.New(s, env.remote()), nil
		},
		place:    pgPlace,
		identity: pgPlace,
	}
}

func pgService(cfg cty.Value) (*pg.Service, error) {
	return pg.New(pg.Options{
		ConnString: textOr(cfg, "conn_str", ""), Schema: textOr(cfg, "schema_name", ""), Table: textOr(cfg, "table_name", ""), Index: textOr(cfg, "index_name", ""),
		SkipSchema: isTrue(cfg, "skip_schema_creation"), SkipTable: isTrue(cfg, "skip_table_creation"), SkipIndex: isTrue(cfg, "skip_index_creation"),
	})
}

// pgPlace names the table, whose server and database are those of the connection string and the environment.
func pgPlace(cfg cty.Value) string {
	s, err := pgService(cfg)
	if err != nil {
		return fmt.Sprintf("the schema %q of a database", textOr(cfg, "schema_name", pg.DefaultSchema))
	}
	return s.Path()
}
