package arch

// baseRules hold for what everything else stands on.
var baseRules = map[string]rule{
	"base/bug":            {pure: true, modules: none, why: "what a panic was does not depend on the task"},
	"base/bounds":         {pure: true, modules: []string{hcl, cty}, why: "what a text or value may ask of the machine does not depend on what it is for"},
	"base/compat":         {may: []string{"base/pattern"}, pure: true, modules: none, why: "a name and a version are chosen by a text, whatever they have an effect on"},
	"base/component":      {pure: true, modules: none, why: "which nodes lead to each other does not depend on what they stand for"},
	"base/effort":         {pure: true, modules: none, why: "how much work a hash is does not depend on what is hashed"},
	"base/detach":         {may: []string{"base/bug"}, pure: true, modules: none, why: "leaving work behind does not depend on what it is"},
	"base/childenv":       {pure: true, modules: none, why: "which variables a program may see does not depend on what it is started for"},
	"base/safefile":       {modules: []string{"github.com/google/renameio/v2", "github.com/natefinch/atomic"}, why: "what guards against odd files must not know what files are for"},
	"base/jsonvalue":      {may: []string{"base/bounds"}, pure: true, modules: []string{cty}, why: "whether a text is a value of a type depends on nothing else"},
	"base/future":         {pure: true, modules: none, why: "a concurrency primitive is right or wrong by itself"},
	"base/unify":          {may: []string{"base/bounds"}, pure: true, modules: []string{hcl, cty}, why: "a conversion is a function of a value and a type"},
	"base/constraint":     {pure: true, modules: []string{"github.com/apparentlymart/go-versions"}, why: "the normal form of a constraint does not depend on where it is written"},
	"base/trace":          {pure: true, modules: none, why: "what is noted of a run must not be able to hold a value: it knows names and times only"},
	"base/trace/requests": {may: []string{"base/trace"}, modules: none, why: "a request is noted by its address and status, whatever it asks for"},
	"base/slot":           {pure: true, modules: none, why: "a bound on operations needs not know them"},
	"base/ssh":            {may: []string{"base/bug", "base/lines"}, modules: []string{"golang.org/x/crypto", "golang.org/x/net", "github.com/pkg/sftp", "github.com/xanzy/ssh-agent"}, why: "work on other machines is given plain settings; what they mean in a configuration, and what of them is secret, is decided above"},
	"base/cloud":          {may: []string{"base/trace/requests"}, modules: none, why: "what every vendor's services have in common is HTTP"},
	"base/cloud/aws":      {may: []string{"base/pattern", "base/cloud"}, modules: []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"}, why: "a vendor's services are called the same way whatever is kept there"},
	"base/cloud/alibaba":  {may: []string{"base/cloud"}, modules: []string{"github.com/google/uuid", "google.golang.org/protobuf"}, why: "a vendor's services are called the same way whatever is kept there"},
	"base/cloud/azure":    {may: []string{"base/cloud"}, modules: []string{"github.com/Azure/azure-sdk-for-go"}, why: "a vendor's services are called the same way whatever is kept there"},
	"base/cloud/google":   {may: []string{"base/cloud"}, modules: []string{"cloud.google.com/go/auth"}, why: "a vendor's services are called the same way whatever is kept there"},
	"base/cloud/kubeconfig": {
		may: []string{"base/safefile"}, modules: []string{"go.yaml.in/yaml", "golang.org/x/term"},
		why: "a cluster is found and logged in to the same way whatever is kept there",
	},
	"base/cloud/tencent": {may: []string{"base/cloud"}, modules: none, why: "a vendor's services are called the same way whatever is kept there"},
	"base/pattern":       {pure: true, modules: none, why: "a regular expression is compiled without knowing what it matches"},
	"base/lines":         {pure: true, modules: none, why: "where a line ends has nothing to do with what it says"},
	"base/processgroup":  {why: "how a system ends processes has nothing to do with what they are for"},
}

// valuesRules hold for values, what they look like, and which may be kept.
var valuesRules = map[string]rule{
	"values/schema": {may: []string{"addr", "base/bounds", "diag", "base/unify"}, pure: true, modules: []string{hcl, cty}, why: "a schema describes values; where it came from is the provider's matter"},
	"values/value":  {may: []string{"base/bounds", "base/jsonvalue", "values/schema"}, pure: true, modules: []string{cty, msgpack}, why: "sealing a value needs to know its write-only attributes, and what can be read again, and nothing more"},
	"values/fingerprint": {
		may:     []string{"base/effort", "base/jsonvalue"},
		modules: []string{cty, msgpack, "golang.org/x/crypto/argon2"}, why: "what is made of a secret depends on its bytes and a salt, and not on whose it is",
	},
	"values/leak": {
		may:  []string{"base/pattern", "values/value"},
		pure: true, modules: []string{cty},
		why: "what leaves the process is compared with what was remembered, whatever it is for",
	},
}

// namesRules hold for the names of objects and what is reported of them.
var namesRules = map[string]rule{
	"addr": {may: []string{"base/bounds"}, pure: true, modules: []string{hcl, cty, addresses}, why: "addresses are keys everywhere; what they depended on, everything would"},
	"diag": {may: []string{"base/bug", "base/pattern"}, pure: true, modules: []string{hcl, cty, distance}, why: "every package reports problems, so reporting must not depend on any"},
}

// modelRules hold for states, plans and events.
var modelRules = map[string]rule{
	"state":                 {may: []string{"base/bug", "base/jsonvalue", "addr", "base/bounds", "diag", "values/fingerprint", "values/schema", "values/value"}, pure: true, modules: []string{cty, msgpack, uuid}, why: "the model of what exists outlives every engine; it accepts only sealed values"},
	"plan":                  {may: []string{"addr", "base/component", "diag", "values/leak", "values/schema", "values/value", "state"}, pure: true, modules: []string{cty}, why: "a plan is data, and ordering it is a pure function: no live value may meet it"},
	"event":                 {may: []string{"addr", "diag", "plan"}, pure: true, modules: none, why: "what is seen of a run has no values: an observer that knew the engine could reach them"},
	"state/store":           {may: []string{"addr", "diag", "base/safefile", "state"}, why: "where a state is kept must not depend on what made it"},
	"model/document":        {may: []string{"addr", "state", "state/store"}, pure: true, modules: []string{uuid}, why: "what keeps results from getting lost is the same on every medium, and knows none"},
	"state/store/local":     {may: []string{"addr", "diag", "base/safefile", "state", "state/store", "model/document"}, why: "one store does not know the others"},
	"state/store/storetest": {may: []string{"addr", "diag", "values/schema", "values/value", "state", "state/store"}, why: "the conformance suite tests stores through their interface only"},
}

// libraryRules hold for the packages that do the work for other programs.
var libraryRules = map[string]rule{
	".": {
		may: []string{
			"base/bug", "base/compat", "addr", "diag", "values/value", "values/schema", "language/config", "state", "state/store", "provider", "provider/plugin", "provider/builtin", "provider/keep",
			"plan", "stores/planfile", "engine/changed", "engine/ephemeral", "engine/given", "engine/hashes", "engine/part", "engine/rescue", "engine/rounds", "language/eval", "language/eval/blocks", "language/eval/coverage", "language/eval/static", "event", "engine", "engine/explain", "values/leak",
			"base/trace",
		},
		why: "the library has no terminal and installs nothing; both are its caller's business",
	},
	"workdir": {
		may: []string{
			".", "addr", "base/childenv", "diag", "event", "base/jsonvalue", "base/safefile", "values/schema", "values/value", "language/config", "state", "stores/encryption", "state/store", "state/store/local", "stores/backend", "stores/kinds", "stores/provided", "provider", "provider/builtin", "provider/plugin",
			"plan", "stores/planfile", "engine", "install/...", "values/leak", "engine/timing", "base/compat", "base/trace", "base/trace/requests",
		},
		why: "a library user gets what the program does with a directory: no command line, no terminal and no rendering can matter here",
	},
	"suite": {
		may: []string{
			"base/bug", ".", "addr", "base/bounds", "language/config", "base/detach", "diag", "language/eval/coverage", "language/lang", "language/lang/funcs", "language/lang/marked", "plan", "provider", "provider/mock", "state", "state/store", "stores/inmem", "values/value",
			"base/trace",
		},
		why: "a test run is an operation of the library like any other: nothing of the engine is open to tests alone",
	},
}
