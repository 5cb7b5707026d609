// Package keep is the provider mayfly.dev/mayfly/keep: a small secret manager in one encrypted file, for
// learning and for projects without a cloud.
//
// It is an ordinary provider based on terraform-plugin-framework, written once and served in three ways: in
// the engine's own process, as a plugin program, and in tests. It may import the framework and its own
// store package. It must not know the engine: it learns about a run only through the protocol.
//
// It offers the managed resources keep_secret (whose value is write-only) and keep_note, the ephemeral
// resources keep_secret, keep_lease and keep_password, and the data sources keep_secret_names and
// keep_leases.
//
// A provider configuration may be unknown while planning. Then no operation accesses a store: planning
// continues, refreshing leaves objects as they are, and everything else is an error that names the unknown
// arguments.
package keep
