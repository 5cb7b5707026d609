package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/history"
)

// queryCommand returns the command state query. It needs no right of the database but to read the views.
func (c *stateCommands) queryCommand(a *app) *cli.Command {
	timeout := 30 * time.Second
	m := &machineFlags{}
	return a.command("query", "Ask the stored states a question in SQL", "SQL",
		"Carries out one SQL statement that only reads, on the views \"instances\", \"outputs\", \"runs\", \"claims\", \"operations\", \"openings\" and \"history\" of all workspaces, which have no sensitive values. For backends that keep states in a database, such as \"postgres\".",
		append(m.flags("a JSON document"), durationFlag("timeout", "Give up after `DURATION`.", &timeout)),
		func(ctx context.Context, args []string) int {
			c.out.document = m.json
			if !m.begin(c.out) {
				return exitError
			}
			if len(args) != 1 || timeout <= 0 {
				return c.out.argsError("state query", "one SQL statement, in quotes, and a -timeout that is positive")
			}
			q, diags := c.wd.dir().Backend.Querier(ctx)
			if !c.out.report(diags) {
				return exitError
			}
			table, err := q.Query(ctx, args[0], timeout)
			if err != nil {
				return c.out.fail("Error in the query", "%s", diag.Sentence(err))
			}
			if done, code := c.out.documented(m, func() ([]byte, error) { return history.TableJSON(table) }); done {
				return code
			}
			return c.out.wrote(history.Table(c.out.env.Stdout, table))
		})
}
