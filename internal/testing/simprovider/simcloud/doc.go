// Package simcloud has the parts of the test provider that tests use without linking it: its address, the
// environment of its processes, and the directory that is its cloud. The libraries of the provider take a
// fifth of the time in which a program starts, and the programs of scripts are test binaries.
//
// It imports the standard library only. It must not know the plugin protocol.
package simcloud

// The environment of a served provider.
const (
	EnvServe     = "SIM_SERVE"     // set: this process may be the provider (see Serving of simprovider)
	EnvDir       = "SIM_DIR"       // directory that is the cloud; default: a new temporary one
	EnvLog       = "SIM_LOG"       // file to which the RPC transcript is appended; default: none
	EnvMisbehave = "SIM_MISBEHAVE" // JSON file with the misbehaviour rules; default: none
	EnvSchema    = "SIM_SCHEMA"    // schema variant; default: the correct schema
	EnvProtocol  = "SIM_PROTOCOL"  // 5 or 6; default: 6
	EnvLenient   = "SIM_LENIENT"   // set: leases may be used when they are not live, and parents closed first, as other engines do
)

// ActionsFile is the name of the file in the cloud with a line for each invocation of an action.
const ActionsFile = "actions.txt"

// Source is the provider's source address.
const Source = "mayfly.dev/test/sim"

// Canary returns the secret value of an ephemeral resource with the type and name.
func Canary(typ, name string) string { return "CANARY-" + typ + "-" + name }
