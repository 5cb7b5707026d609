// Package simprovider is a provider for tests, written directly at the level of the plugin protocol so that
// it can also break the protocol.
//
// It is two things. By default it is a well-behaved provider, mayfly.dev/test/sim, whose cloud is a directory
// with one JSON file per object: objects outlive the process, and a test can look at them, change them and
// count open ephemerals with package simcloud. With rules it breaks, at chosen calls, one rule of the
// contract each. In both it notices an engine's mistakes (see below), and it writes a transcript of
// every call, which package simlog reads.
//
// It may import terraform-plugin-go, gRPC's status codes and packages simcloud and simlog. It must not know
// the engine: no other package of this module.
//
// # Serving
//
// A test binary becomes the provider by asking in TestMain:
//
//	if simprovider.Serving() {
//		simprovider.ServeMain()
//	}
//
// with SIM_SERVE=1 in the environment of the engine; cmd/terraform-provider-sim is the same as a plugin
// binary. New6 and New5 make servers for use within a process. The environment variables are the constants
// Env… of package simcloud.
//
// # Types
//
//   - provider: prefix, token (sensitive; a lease must be live at every use), region.
//   - resource sim_thing (schema version 1; identity: name): name; optional size, tags, replace_me (a change
//     replaces, as for name), delay (how long create and update take), fail_on, json (white space does not
//     matter), secret_wo (write-only), secret_wo_version; list block rule {port, note, computed rule_id}, set
//     block zone {name, computed zone_id}; map-nested attribute nested {value, computed hash} (protocol 6
//     only); computed id ("<name>-<n>"), serial (counts changes), status, label (prefix and name, known at
//     plan), computed_list. State of version 0 is upgraded; a sim_old can be moved to it; import is by id or
//     by identity. fail_on is one of validate, plan, create, update, delete, read, and create-partial and
//     update-partial, which answer the new state and an error.
//   - resource sim_slow: name, trigger, plan_delay, read_delay, create_delay, update_delay, delete_delay;
//     computed id, serial.
//   - resource sim_legacy (legacy type system): name, value (upper-cased by apply), defaulted (set by the
//     plan though not computed); computed id, serial.
//   - resource sim_old: name, old_value; computed id.
//   - resource sim_vault: name, version, replace_me; computed id, status; write-only attributes in every
//     place where one may stand: dynamic_wo, map_wo, set_wo, object_wo {user, key}; in blocks list_block (and
//     in it deep), single_block, group_block and map_block, which have a label each, the attributes
//     list_block_wo, deep_block_wo, single_block_wo, dynamic_block_wo, group_block_wo and map_block_wo; and
//     (protocol 6 only) in nested attributes single_attr (and in it deep), list_attr, map_attr and both_attr
//     (computed too, as is its note) likewise; whole_wo {label, part_wo} is write-only as a whole.
//   - resource sim_shape (schema version 2; identity, version 1: name and zone): name; optional text, guess
//     (computed too), secret (sensitive), secret_wo, old (deprecated), dyn (of any type; computed dyn_result
//     follows it), lines, labels, sizes, settings; blocks part (list, with a set leaf), piece (set), entry
//     (map), only (single), team (group) of {value, computed mark}; (protocol 6 only) nested attributes one,
//     many, bag, keyed and in them inner_…, likewise, and filled (computed too); computed id, serial. State
//     of earlier versions, also flat, and identities of version 0 {label} are upgraded.
//   - resource sim_account: name; optional note, rotate, password (sensitive), which reads compare with the
//     state and never return, and strict, which chooses how a state without the password is answered: reads
//     say gone, an error or another value (other), the destruction fails (delete), or a plan has an update
//     where a state with another password leads to a replacement (replace); computed id, serial,
//     and token (sensitive), a new one for each rotate, which no read returns.
//   - data sim_lookup: name, hint; the newest sim_thing of the name: computed id, size, tags, label, serial.
//   - ephemeral sim_secret: name; optional hint, renew_after, expire_after, open_delay, renew_delay,
//     close_delay, fail_on (validate, open, renew, close); computed value (Canary, depends on type and name
//     only), lease (unlike at each opening), opened (how many times so far).
//   - ephemeral sim_token: the same and parent_token.
//   - lists of sim_thing and sim_shape: optional prefix (of the names), hint (sensitive), made_up (so many
//     results, named by prefix and index, in place of the ones in the cloud), objectless (no objects), and
//     indexes of results: fail_at, fail_from, warn_at, nameless_at (no identity), hang_at, exit_at; fail_on
//     (validate, list).
//   - action sim_note: name; optional text, tags, secret (sensitive), secret_wo (write-only), fail_on
//     (validate, plan, invoke); list block part {value, secret (sensitive)}. Each invocation adds a line to
//     the file ActionsFile of the cloud.
//   - action sim_job: name; optional steps (messages before it ends), say (the end of each), delay, fail_on,
//     and answer: none (the answer ends without saying that the action has ended), exit, hang (until it is
//     cancelled or stopped), late (done after that). It adds a line too.
//   - state store sim_files (protocol 6 only): dir (a name; the states are in states/DIR of the cloud);
//     optional note, key (sensitive; the same for all uses of a directory), chunk_size, lockless (there are
//     no locks), blocks label {text}, and fault: one of configure, list, read, write, written (once the state
//     was replaced), delete, lock and unlock after exit-, hang- or fail-; held (a lock without a holder); or,
//     in states of several chunks that are read, short, gap, order, long, length and big.
//   - functions echo(any), concat2(string, string), join(separator, parts...), fail(string); once configured
//     whoami(), which only GetFunctions tells. An argument "forbidden" is an error at that argument.
//   - provider_meta: module; the transcript has it as meta.module.
//
// # Mistakes that it notices
//
// "Engine broke the contract" is the summary of an error about the caller: use before configuration or a
// second configuration; a write-only value in stored, prior, current or planned state, or sent without the
// capability; unknown values in the configuration of apply, open and data reads; a planned state that was not
// planned again; lost private data; a lease (in secret_wo, token or parent_token) that is used after it was
// closed or has expired; a renewal or close with private data that is not the latest; a second close; a
// parent closed before the ephemeral that was opened with its lease, or before the process of a provider that
// was configured with it has ended. With SIM_LENIENT the uses of dead leases and the order of closes are not
// looked at.
//
// # Misbehaviour
//
// SIM_MISBEHAVE names a JSON file with a list of Rule, such as
// [{"rpc":"PlanResourceChange","name":"x","nth":2,"do":"change-known"}]. Nth counts the matching calls within
// a process, or with shared in all processes of the same cloud. All rules that match a call strike, in order.
// A rule that matches but finds nothing to work on makes the call fail with a message that says so, and an
// unknown rpc, deed or field is refused at start: no rule is silently without effect. Deeds, with the
// optional fields they heed:
//
// The call as a whole, before the work:
//
//   - rpc-error, unimplemented (text): a gRPC error of code Unknown, Unimplemented; nothing is done
//   - delay (ms): the work starts later, whatever is cancelled
//   - hang (ms): as delay, for a day by default
//   - hang-until-stop: nothing until the call is cancelled or the provider stopped, then a gRPC error
//   - answer-late (ms): nothing until cancelled or stopped; then, after a pause, the work is done and
//     answered
//   - stderr (text): text on standard error
//   - exit (when, code, text), panic (when, text): the process ends before the work, during (work done, not
//     answered; the default), or after the answer (ms: how long after)
//
// The answer, whatever it is:
//
//   - error, warning (text): a diagnostic besides the answer; for a function, its error. A warning may be
//     about an attribute (attr)
//   - invalid-path (text): an error about an attribute that does not exist
//   - deferred: a deferral that was not allowed
//   - no-private: private data is left out
//   - set-private (text): it is another one
//   - garbage: bytes that are not MessagePack
//   - not-an-object: a string in place of the object
//   - no-value: the object is left out of the message
//
// The object in the answer (attr is a path such as rule.0.rule_id, elements of sets by position; value is
// JSON):
//
//   - change-config (attr, value): an argument that is set gets another value
//   - set-unconfigured (attr, value): an argument that is null and not computed gets a value
//   - change-known (attr, value): a computed value gets another; in apply one that was planned; in plan with
//     nth 2 (and shared, if apply is another process) the second plan differs
//   - unknown (attr): a computed attribute is unknown
//   - set (attr, value): any attribute gets any value
//   - write-only (attr, value): a write-only attribute has a value
//   - echo-write-only (attr): the configured write-only value stands in the computed attribute status, or
//     attr
//   - drop-block, add-block (attr: block type): one nested block fewer, one more
//   - huge (size, attr): a string of 8 MiB, or size bytes
//   - null-object: null; keep-object: the prior object (for delete)
//   - wrong-type (attr): the object with a list of bool where name, or attr, has another type
//
// Single messages:
//
//   - plan, apply: legacy: the legacy type system flag is set
//   - plan: replace (attr), bad-replace: a replacement for name, for an attribute that does not exist
//   - plan, apply, read, import, move: change-identity (text: the name), no-identity
//   - import: empty-import, wrong-type-name (text), twice
//   - open, renew: renew-at (text: a duration from now, may be negative)
//
// Before the handshake, as rpc Start: garbage-stdout (text), wrong-protocol, hang, delay (ms), exit, panic,
// stderr.
//
// SIM_SCHEMA selects a schema with one thing wrong: wo-in-set-block, wo-in-set-attr, wo-computed, wo-data,
// wo-provider, wo-ephemeral; or a correct one that differs: no-capabilities, generate (which writes
// configuration itself), provider-required (whose provider needs the argument account and a block limits
// {per_minute}), wo-in-list-block, wo-in-nested-attr.
package simprovider
