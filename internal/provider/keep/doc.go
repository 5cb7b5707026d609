// Package keep is the provider mayfly.dev/mayfly/keep: a small secret manager in one encrypted file, for
// learning and for projects without a cloud.
//
// It is a provider like any other, written once and used in three ways: in the engine's own process, as a
// plugin program, with package serve, and in tests. It may import addr, childenv, diag, jsonvalue,
// processgroup, schema, ssh, provider and its own store and tunnel packages. It must not know the engine: it
// learns about a run only through the operations of provider.Provider.
//
// It offers the managed resources keep_secret (whose value is write-only) and keep_note, the ephemeral
// resources keep_secret, keep_lease, keep_password, keep_tunnel, keep_command, keep_file and
// keep_environment, and the data sources keep_secret_names and keep_leases.
//
// A provider configuration may be unknown while planning. Then no operation accesses a store: planning
// continues, refreshing leaves objects as they are, and everything else is an error that names the unknown
// arguments.
package keep
