package arch

// languageRules hold for what a configuration says.
var languageRules = map[string]rule{
	"language/config":           {may: []string{"addr", "base/bounds", "base/pattern", "diag", "language/lang", "base/safefile", "base/unify"}, why: "blocks are read, not evaluated: no schema, value or state can matter here, and of expressions only what they refer to"},
	"language/config/reference": {pure: true, modules: none, why: "what can be written is a table for readers; those who decode compare themselves with it"},
	"language/config/format":    {may: []string{"language/config", "diag"}, pure: true, modules: []string{hcl, cty}, why: "style is a matter of the text: what a configuration means stays with those who read it"},
	"language/lang/typearg":     {pure: true, modules: []string{hcl, cty}, why: "that an argument is a type follows from the name of the function alone"},
	"language/lang":             {may: []string{"addr", "diag", "values/schema", "values/value", "language/lang/typearg"}, pure: true, modules: []string{hcl, cty}, why: "references are found before anything is evaluated"},
	"language/lang/generate":    {may: []string{"base/jsonvalue", "addr", "values/schema"}, pure: true, modules: []string{hcl, cty}, why: "text is written from a schema and an object; where the object came from is no matter of its syntax"},
	"language/lang/marked": {
		may:  []string{"base/bounds", "language/lang", "language/lang/funcs", "language/lang/typearg", "base/unify", "values/value"},
		pure: true, modules: []string{hcl, cty},
		why: "which marks a result has follows from the expression alone: of its references it matters only which are to whole blocks",
	},
	"language/lang/funcs": {may: []string{"base/bounds", "base/pattern", "diag", "base/safefile", "values/value", "base/unify", "language/lang/typearg"}, why: "functions see arguments, not the configuration that calls them; a template has places of its own"},
	"language/eval/blocks": {
		may:  []string{"addr", "diag", "values/schema", "language/config", "language/lang", "language/lang/marked", "plan", "values/value"},
		pure: true, modules: []string{hcl, cty},
		why: "what refers to what is known before anything is evaluated: no value of a run, no state and no host can matter here",
	},
	"language/eval/blocks/blockstest": {may: []string{"addr", "diag", "values/schema"}, pure: true, modules: []string{cty}, why: "schemas for tests know nothing of the configurations that they are for"},
	"language/eval/blockhash": {
		may:  []string{"addr", "base/bounds", "base/component", "language/config", "language/eval/blocks", "language/lang", "values/schema"},
		pure: true, modules: []string{hcl, cty},
		why: "a hash follows from the configuration and what is given with it: files are read by functions of the language, and sensitive values come hashed",
	},
	"language/eval/coverage": {
		may:  []string{"language/eval/blocks", "language/lang", "language/lang/marked"},
		pure: true, modules: []string{hcl},
		why: "what is exercised is a position in the source text: with no value at hand, none can get into a report",
	},
	"language/eval": {
		may:  []string{"addr", "base/bounds", "base/detach", "diag", "base/future", "base/slot", "values/schema", "base/unify", "values/value", "language/config", "language/lang", "language/lang/funcs", "language/lang/marked", "plan", "state", "language/eval/blocks", "language/eval/coverage", "language/eval/provided"},
		pure: true, modules: []string{hcl, cty},
		why: "evaluation asks its host for results; of state it knows the form of check results only, so that planning and applying evaluate alike",
	},
	"language/eval/provided": {may: []string{"values/schema", "values/value"}, pure: true, modules: []string{cty}, why: "a function is the same to its callers wherever it runs"},
	"language/eval/static": {
		may: []string{"addr", "base/bounds", "base/detach", "diag", "values/value", "language/config", "language/lang", "language/lang/funcs", "language/lang/marked"},
		why: "what must be known before the configuration is complete is evaluated without schemas, providers, plans and state",
	},
}

// providerRules hold for what Mayfly knows of providers.
var providerRules = map[string]rule{
	"provider":        {may: []string{"addr", "diag", "values/schema"}, pure: true, modules: []string{cty}, why: "the engine's view of a provider must not tell how providers run"},
	"provider/plugin": {may: []string{"base/bug", "base/compat", "base/jsonvalue", "addr", "diag", "values/schema", "values/value", "provider", "provider/plugin/unary", "provider/tfplugin5", "provider/tfplugin6"}, why: "a transport carries requests; it judges none of them"},
	"provider/plugin/unary": {
		may:     []string{"base/bug", "base/trace"},
		modules: []string{"golang.org/x/net", "google.golang.org/protobuf"},
		why:     "how a call gets to a server and back has nothing to do with what is asked",
	},
	"provider/mock": {
		may: []string{"base/jsonvalue", "addr", "diag", "values/schema", "provider"}, pure: true, modules: []string{cty},
		why: "an answer in place of a provider follows from a schema and from given values: it must not tell that a test asks",
	},
	"provider/builtin": {
		may: []string{"base/jsonvalue", "addr", "base/bounds", "diag", "base/safefile", "values/schema", "provider", "state"},
		why: "the built-in provider reads other states, and is otherwise a provider like any",
	},
	"provider/processes": {
		may: []string{"base/bug", "addr", "diag", "values/schema", "provider", "base/trace"}, pure: true, modules: []string{cty},
		why: "which processes run, and what they were configured with, has nothing to do with the objects that they are asked about",
	},
	"provider/keep": {
		may: []string{"addr", "base/childenv", "diag", "base/jsonvalue", "base/processgroup", "base/safefile", "values/schema", "base/ssh", "provider", "provider/keep/store", "provider/keep/tunnel", "base/trace"}, modules: []string{cty},
		why: "the embedded provider learns about a run through the operations of providers only, so that it works under any engine",
	},
	"provider/keep/serve": {
		may: []string{"addr", "diag", "values/schema", "provider"}, modules: []string{cty, "github.com/hashicorp/terraform-plugin-go"},
		why: "a server of the protocol passes on requests, whatever provider answers them",
	},
	"provider/keep/tunnel": {may: []string{"base/bug", "base/ssh"}, why: "a tunnel is usable and testable without any provider"},
	"provider/keep/store":  {may: []string{"base/effort", "base/safefile"}, why: "the encrypted file is usable and testable without any provider"},
	"provider/protogen":    {why: "a generator knows its input only"},
	"provider/tfplugin6":   {why: "generated messages"},
	"provider/tfplugin5":   {may: []string{"provider/tfplugin6"}, why: "generated messages, most of them shared with version 6"},
}

// engineRules hold for what is planned, opened and changed.
var engineRules = map[string]rule{
	"engine/lease": {pure: true, modules: none, why: "lifetimes are counted without knowing what lives; a pool that knew values could print them"},
	"engine/edit":  {may: []string{"addr", "state"}, pure: true, modules: none, why: "a change by hand is about addresses and objects, whatever the configuration says"},
	"engine/provision": {
		may: []string{"base/bug", "diag", "values/leak", "base/lines", "base/processgroup", "base/ssh", "values/value"},
		why: "provisioners are given arguments and where to write: when they run, and what follows from it, is decided above",
	},
	"engine/timing":    {may: []string{"addr", "event"}, pure: true, modules: none, why: "how long something took is no reason to know what it was: a record must not be able to hold values"},
	"engine/deferral":  {may: []string{"addr", "base/component", "base/future", "plan", "state"}, pure: true, modules: none, why: "waiting follows from addresses and dependencies: no provider or value can matter"},
	"engine/gone":      {may: []string{"addr", "base/future", "diag", "language/eval", "plan"}, pure: true, modules: none, why: "what the configuration declares follows from evaluating it: what is planned for an object makes no difference"},
	"engine/included":  {may: []string{"addr", "base/future", "engine/deferral", "language/eval", "plan"}, pure: true, modules: none, why: "which values are included follows from what is planned: how that was done makes no difference"},
	"engine/moves":     {may: []string{"addr", "language/config", "diag", "plan", "state"}, pure: true, modules: []string{hcl}, why: "addresses decide which object is which: no value, provider or evaluation can matter"},
	"engine/order":     {may: []string{"addr", "base/future", "event", "language/eval", "language/eval/blocks", "plan"}, pure: true, modules: none, why: "which step comes next follows from the steps and the references: what one does makes no difference"},
	"engine/rescue":    {may: []string{"addr", "diag", "state", "state/store"}, modules: none, why: "results are kept in the same way whatever the run was for: no plan or provider can matter"},
	"engine/rounds":    {may: []string{"addr", "diag", "plan", "state"}, pure: true, modules: []string{cty}, why: "whether a run gets on follows from its plans and from the objects that others change: no provider can matter, and values are kept without being looked at"},
	"engine/selection": {may: []string{"addr", "language/config", "diag", "plan"}, pure: true, modules: none, why: "what an option names is a matter of addresses and dependencies, which it is given"},
	"engine/contract": {
		may:  []string{"addr", "language/config", "diag", "values/leak", "values/schema", "values/value"},
		pure: true, modules: []string{hcl, cty},
		why: "whether an answer keeps the rules is a function of values and schemas, independent of the caller",
	},
	"engine/ephemeral": {
		may:  []string{"base/bug", "addr", "diag", "base/future", "engine/lease", "base/slot", "values/schema", "values/value", "provider", "provider/processes", "plan", "engine/contract", "event", "language/eval", "values/leak", "base/trace"},
		pure: true,
		why:  "what is open is held by claims and leases alone: which objects are planned or changed meanwhile makes no difference",
	},
	"engine/ephemeral/transcript": {why: "scenarios are played by the whole engine; beside them, tests of the package would have it compiled anew"},
	"engine/object": {
		may:  []string{"base/jsonvalue", "addr", "diag", "values/schema", "values/value", "language/config", "state", "engine/scrub", "provider", "provider/processes", "plan", "engine/contract", "engine/withheld", "values/fingerprint", "event", "base/trace"},
		pure: true, modules: []string{hcl, cty},
		why: "what a provider is asked about an object does not depend on how its configuration was evaluated or what else the run does",
	},
	"engine/listing": {
		may:  []string{"addr", "diag", "event", "base/future", "engine/contract", "engine/ephemeral", "engine/object", "language/eval", "language/lang/generate", "provider", "plan", "values/schema"},
		pure: true, modules: []string{cty},
		why: "what a list finds does not depend on the other lists of a query",
	},
	"engine": {
		may:  []string{"base/jsonvalue", "addr", "diag", "base/future", "values/schema", "values/value", "language/config", "state", "provider", "provider/processes", "engine/provision", "language/lang", "language/lang/funcs", "language/lang/generate", "plan", "engine/scrub", "engine/exposed", "engine/contract", "event", "engine/accepted", "engine/changed", "engine/given", "engine/gone", "engine/included", "engine/listing", "engine/idle", "engine/journal", "engine/order", "engine/moves", "engine/part", "engine/rounds", "engine/computed", "engine/deferral", "engine/scope", "engine/selection", "engine/settle", "engine/turn", "engine/ephemeral", "language/eval", "language/eval/blocks", "language/eval/coverage", "base/slot", "engine/object", "engine/withheld", "values/fingerprint", "values/leak", "base/trace"},
		pure: true,
		why:  "the engine is given a launcher and a journal: it must work without any terminal, store or plugin process",
	},
	"engine/accepted": {
		may: []string{"addr", "language/eval/blocks"}, pure: true, modules: []string{cty},
		why: "what was accepted is remembered by name and value: it is the same whoever asks",
	},
	"engine/changed": {
		may: []string{"addr", "diag", "base/future", "engine/moves", "engine/part", "language/eval", "language/eval/blockhash", "language/eval/blocks", "language/lang", "plan", "state"}, pure: true, modules: none,
		why: "what has work follows from hashes, records and references: no provider can matter, or how they are stored",
	},
	"engine/given": {
		may: []string{"addr", "base/future", "engine/object", "language/config", "language/eval", "values/schema", "values/value", "values/fingerprint", "state"}, pure: true, modules: []string{hcl, cty},
		why: "the hash follows from an evaluated configuration: neither what is planned nor who keeps the hash can matter",
	},
	"engine/hashes": {
		may: []string{"addr", "language/eval/blockhash", "language/eval/blocks", "language/lang/funcs", "values/fingerprint", "state"}, pure: true, modules: []string{cty},
		why: "hashes follow from what a run is given: neither providers nor stores can matter",
	},
	"engine/part": {
		may: []string{"addr", "diag", "engine/moves", "language/eval/blocks", "plan", "state"}, pure: true, modules: none,
		why: "which rows a plan needs follows from the configuration and the rows: it must not matter how they are stored",
	},
	"engine/scope": {
		may: []string{"addr", "base/future", "engine/turn", "language/eval", "plan", "state"}, pure: true, modules: none,
		why: "what a run relies on follows from read-sets alone: no value or provider can matter",
	},
	"engine/settle": {
		may: []string{"addr", "base/future", "engine/changed", "engine/part", "engine/scope", "language/eval", "language/eval/blocks", "plan", "state"}, pure: true, modules: none,
		why: "what is right follows from the plan and what has become of it: no provider can matter, or how it is recorded",
	},
	"engine/turn": {
		may: []string{"addr", "base/future", "diag", "language/eval", "language/eval/blocks", "plan", "state", "values/value"}, pure: true, modules: none,
		why: "the values at the end of a run follow from its plan and the objects: no provider or store can matter",
	},
	"engine/computed": {
		may: []string{"addr", "diag", "state", "values/schema", "values/value"}, pure: true, modules: []string{cty},
		why: "who uses a value is noted as it is found out: neither plans nor values are needed to tell",
	},
	"engine/idle": {
		may: []string{"addr", "diag", "base/future", "engine/computed", "engine/contract", "language/config", "language/eval", "language/eval/blocks", "plan", "values/value"}, pure: true, modules: []string{cty},
		why: "who would use a value is asked of the configuration and the state, without planning or opening anything for it",
	},
	"engine/journal": {
		may: []string{"addr", "diag", "base/future", "base/slot", "state"}, pure: true, modules: none,
		why: "an operation is recorded in the same way whatever it does",
	},
	"engine/withheld": {
		may: []string{"addr", "diag", "plan", "state", "values/fingerprint", "values/schema"}, pure: true,
		why: "what is sent and stored in place of a secret is decided in one place, from values alone",
	},
	"engine/exposed": {may: []string{"language/config", "values/leak", "state"}, pure: true, modules: []string{cty}, why: "what is in the open anyway follows from files, variables and the stored state"},
	"engine/scrub": {
		may:  []string{"addr", "diag", "values/schema", "state", "values/value"},
		pure: true, modules: []string{cty},
		why: "which stored values must go follows from schemas, which it is given: no provider is asked",
	},
	"engine/explain": {
		may:  []string{"addr", "diag", "language/eval/blocks", "plan", "values/schema", "values/value"},
		pure: true, modules: []string{hcl, cty},
		why: "why something changes follows from a plan and from what refers to what: an answer that needed a run could have values of it",
	},
}
