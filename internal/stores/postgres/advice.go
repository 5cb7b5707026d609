//go:build !mayfly_no_postgres

package postgres

import (
	"context"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state/store"
)

var _ store.Adviser = (*Store)(nil)

// Advise implements store.Adviser.
func (s *Store) Advise(ctx context.Context) (diags diag.List) {
	var alone, logged bool
	var role string
	err := s.again(ctx, reading, func(t *tx) error {
		_, err := t.one(`SELECT current_setting('synchronous_standby_names') = '' AND EXISTS (SELECT FROM pg_stat_replication),
			(current_setting('log_statement') IN ('mod', 'all') OR current_setting('log_min_duration_statement') <> '-1' OR current_setting('log_min_duration_sample') <> '-1')
				AND current_setting('log_parameter_max_length') <> '0',
			quote_ident(current_user)`, nil, &alone, &logged, &role)
		return err
	})
	if err != nil {
		return nil // the next request has the same error, or it was about nothing but these settings
	}
	if alone {
		diags = append(diags, diag.Warnf("Results may be lost in a failover", "The database server has replicas and waits for none of them: its setting \"synchronous_standby_names\" is empty. "+
			"If a replica takes over, the last results of a run may be missing there, and its claims too. Name the replicas in that setting, or let all runs end before another server takes over.")...)
	}
	if logged && s.opt.Cipher == nil {
		diags = append(diags, diag.Warnf("Values in the log of the database server", "The database server writes the parameters of statements to its log, as \"log_statement\", \"log_min_duration_statement\" or \"log_min_duration_sample\" say, and states are not encrypted. "+
			"So values of objects and outputs are in that log. Encrypt states with an \"encryption\" block, or have parameters left out for the role of this connection:\n"+
			"  ALTER ROLE %s SET log_parameter_max_length = 0", role)...)
	}
	return diags
}
