package arch

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
)

// rule says what a package may import of this module, and why not more. A name that ends in "/..." stands for
// a package and all below it.
type rule struct {
	may []string
	why string
	// pure packages work on what they are given: they touch no file, process, socket or environment.
	pure bool
	// modules are the third-party modules that the package may import; nil for any, since dependencies are
	// few and reviewed anyway.
	modules []string
}

const (
	hcl       = "github.com/hashicorp/hcl/v2"
	cty       = "github.com/zclconf/go-cty"
	msgpack   = "github.com/vmihailenco/msgpack/v5"
	addresses = "github.com/opentofu/registry-address/v2"
	uuid      = "github.com/google/uuid"
	distance  = "github.com/agext/levenshtein"
)

// none are the third-party modules of a package that has no business with any.
var none = []string{}

// rules is the import graph, from the bottom up. Every package of the module has its line.
var rules = map[string]rule{
	"bug":              {pure: true, modules: none, why: "what a panic was does not depend on the task"},
	"bounds":           {pure: true, modules: []string{hcl, cty}, why: "what a text or value may ask of the machine does not depend on what it is for"},
	"detach":           {may: []string{"bug"}, pure: true, modules: none, why: "leaving work behind does not depend on what it is"},
	"childenv":         {pure: true, modules: none, why: "which variables a program may see does not depend on what it is started for"},
	"safefile":         {modules: []string{"github.com/google/renameio/v2", "github.com/natefinch/atomic"}, why: "what guards against odd files must not know what files are for"},
	"jsonvalue":        {may: []string{"bounds"}, pure: true, modules: []string{cty}, why: "whether a text is a value of a type depends on nothing else"},
	"addr":             {may: []string{"bounds"}, pure: true, modules: []string{hcl, cty, addresses}, why: "addresses are keys everywhere; what they depended on, everything would"},
	"diag":             {may: []string{"bug"}, pure: true, modules: []string{hcl, cty, distance}, why: "every package reports problems, so reporting must not depend on any"},
	"future":           {pure: true, modules: none, why: "a concurrency primitive is right or wrong by itself"},
	"unify":            {may: []string{"bounds"}, pure: true, modules: []string{hcl, cty}, why: "a conversion is a function of a value and a type"},
	"constraint":       {pure: true, modules: []string{"github.com/apparentlymart/go-versions"}, why: "the normal form of a constraint does not depend on where it is written"},
	"trace":            {pure: true, modules: none, why: "what is noted of a run must not be able to hold a value: it knows names and times only"},
	"trace/requests":   {may: []string{"trace"}, modules: none, why: "a request is noted by its address and status, whatever it asks for"},
	"slot":             {pure: true, modules: none, why: "a bound on operations needs not know them"},
	"lease":            {pure: true, modules: none, why: "lifetimes are counted without knowing what lives; a pool that knew values could print them"},
	"schema":           {may: []string{"addr", "bounds", "diag", "unify"}, pure: true, modules: []string{hcl, cty}, why: "a schema describes values; where it came from is the provider's matter"},
	"value":            {may: []string{"bounds", "jsonvalue", "schema"}, pure: true, modules: []string{cty, msgpack}, why: "sealing a value needs to know its write-only attributes, and what can be read again, and nothing more"},
	"config":           {may: []string{"addr", "bounds", "diag", "lang", "safefile", "unify"}, why: "blocks are read, not evaluated: no schema, value or state can matter here, and of expressions only what they refer to"},
	"docs/schemas":     {pure: true, modules: none, why: "a schema is a text, whoever writes the documents"},
	"config/reference": {pure: true, modules: none, why: "what can be written is a table for readers; those who decode compare themselves with it"},
	"config/format":    {may: []string{"config", "diag"}, pure: true, modules: []string{hcl, cty}, why: "style is a matter of the text: what a configuration means stays with those who read it"},
	"state":            {may: []string{"bug", "jsonvalue", "addr", "bounds", "diag", "schema", "value"}, pure: true, modules: []string{cty, uuid}, why: "the model of what exists outlives every engine; it accepts only sealed values"},
	"state/edit":       {may: []string{"addr", "state"}, pure: true, modules: none, why: "a change by hand is about addresses and objects, whatever the configuration says"},
	"provider":         {may: []string{"addr", "diag", "schema"}, pure: true, modules: []string{cty}, why: "the engine's view of a provider must not tell how providers run"},
	"provider/plugin":  {may: []string{"bug", "jsonvalue", "addr", "diag", "schema", "value", "provider", "provider/plugin/unary", "internal/tfplugin5", "internal/tfplugin6"}, why: "a transport carries requests; it judges none of them"},
	"provider/plugin/unary": {
		may:     []string{"bug", "trace"},
		modules: []string{"golang.org/x/net", "google.golang.org/protobuf"},
		why:     "how a call gets to a server and back has nothing to do with what is asked",
	},
	"provider/mock": {
		may: []string{"jsonvalue", "addr", "diag", "schema", "provider"}, pure: true, modules: []string{cty},
		why: "an answer in place of a provider follows from a schema and from given values: it must not tell that a test asks",
	},
	"provider/builtin": {
		may: []string{"jsonvalue", "addr", "bounds", "diag", "safefile", "schema", "provider", "state"},
		why: "the built-in provider reads other states, and is otherwise a provider like any",
	},
	"provider/processes": {
		may: []string{"bug", "addr", "diag", "schema", "provider", "trace"}, pure: true, modules: []string{cty},
		why: "which processes run, and what they were configured with, has nothing to do with the objects that they are asked about",
	},
	"provider/keep": {
		may: []string{"addr", "childenv", "diag", "jsonvalue", "processgroup", "safefile", "schema", "ssh", "provider", "provider/keep/store", "provider/keep/tunnel", "trace"}, modules: []string{cty},
		why: "the embedded provider learns about a run through the operations of providers only, so that it works under any engine",
	},
	"provider/keep/serve": {
		may: []string{"addr", "diag", "schema", "provider"}, modules: []string{cty, "github.com/hashicorp/terraform-plugin-go"},
		why: "a server of the protocol passes on requests, whatever provider answers them",
	},
	"provider/keep/tunnel": {may: []string{"bug", "ssh"}, why: "a tunnel is usable and testable without any provider"},
	"provider/keep/store":  {may: []string{"safefile"}, why: "the encrypted file is usable and testable without any provider"},

	"ssh": {may: []string{"bug", "lines"}, modules: []string{"golang.org/x/crypto", "golang.org/x/net", "github.com/pkg/sftp", "github.com/xanzy/ssh-agent"}, why: "work on other machines is given plain settings; what they mean in a configuration, and what of them is secret, is decided above"},

	"lines":        {pure: true, modules: none, why: "where a line ends has nothing to do with what it says"},
	"processgroup": {why: "how a system ends processes has nothing to do with what they are for"},

	"provision": {
		may: []string{"bug", "diag", "leak", "lines", "processgroup", "ssh", "value"},
		why: "provisioners are given arguments and where to write: when they run, and what follows from it, is decided above",
	},

	"lang/typearg":  {pure: true, modules: []string{hcl, cty}, why: "that an argument is a type follows from the name of the function alone"},
	"lang":          {may: []string{"addr", "diag", "schema", "value", "lang/typearg"}, pure: true, modules: []string{hcl, cty}, why: "references are found before anything is evaluated"},
	"lang/generate": {may: []string{"jsonvalue", "addr", "schema"}, pure: true, modules: []string{hcl, cty}, why: "text is written from a schema and an object; where the object came from is no matter of its syntax"},
	"lang/marked": {
		may:  []string{"bounds", "lang", "lang/funcs", "lang/typearg", "unify", "value"},
		pure: true, modules: []string{hcl, cty},
		why: "which marks a result has follows from the expression alone: of its references it matters only which are to whole blocks",
	},
	"lang/funcs":    {may: []string{"bounds", "diag", "safefile", "value", "unify", "lang/typearg"}, why: "functions see arguments, not the configuration that calls them; a template has places of its own"},
	"plan":          {may: []string{"addr", "diag", "leak", "schema", "value", "state"}, pure: true, modules: []string{cty}, why: "a plan is data, and ordering it is a pure function: no live value may meet it"},
	"plan/planfile": {may: []string{"jsonvalue", "addr", "diag", "leak", "schema", "value", "state", "plan"}, why: "a codec needs the model that it encodes and nothing that could put a secret in it"},

	"event": {may: []string{"addr", "diag", "plan"}, pure: true, modules: none, why: "what is seen of a run has no values: an observer that knew the engine could reach them"},

	"timing": {may: []string{"addr", "event"}, pure: true, modules: none, why: "how long something took is no reason to know what it was: a record must not be able to hold values"},

	"moves": {may: []string{"addr", "config", "diag", "plan", "state"}, pure: true, modules: []string{hcl}, why: "addresses decide which object is which: no value, provider or evaluation can matter"},

	"selection": {may: []string{"addr", "config", "diag", "plan"}, pure: true, modules: none, why: "what an option names is a matter of addresses and dependencies, which it is given"},

	"leak": {
		may:  []string{"value"},
		pure: true, modules: []string{cty},
		why: "what leaves the process is compared with what was remembered, whatever it is for",
	},
	"contract": {
		may:  []string{"addr", "config", "diag", "leak", "schema", "value"},
		pure: true, modules: []string{hcl, cty},
		why: "whether an answer keeps the rules is a function of values and schemas, independent of the caller",
	},

	"eval/blocks": {
		may:  []string{"addr", "diag", "schema", "config", "lang", "lang/marked", "plan", "value"},
		pure: true, modules: []string{hcl, cty},
		why: "what refers to what is known before anything is evaluated: no value of a run, no state and no host can matter here",
	},
	"eval/coverage": {
		may:  []string{"eval/blocks", "lang", "lang/marked"},
		pure: true, modules: []string{hcl},
		why: "what is exercised is a position in the source text: with no value at hand, none can get into a report",
	},
	"eval": {
		may:  []string{"addr", "bounds", "detach", "diag", "future", "slot", "schema", "unify", "value", "config", "lang", "lang/funcs", "lang/marked", "plan", "state", "eval/blocks", "eval/coverage", "eval/provided"},
		pure: true, modules: []string{hcl, cty},
		why: "evaluation asks its host for results; of state it knows the form of check results only, so that planning and applying evaluate alike",
	},
	"ephemeral": {
		may:  []string{"bug", "addr", "diag", "future", "lease", "slot", "schema", "value", "provider", "provider/processes", "plan", "contract", "event", "eval", "leak", "trace"},
		pure: true,
		why:  "what is open is held by claims and leases alone: which objects are planned or changed meanwhile makes no difference",
	},
	"eval/provided": {may: []string{"schema", "value"}, pure: true, modules: []string{cty}, why: "a function is the same to its callers wherever it runs"},
	"eval/static": {
		may: []string{"addr", "bounds", "detach", "diag", "value", "config", "lang", "lang/funcs", "lang/marked"},
		why: "what must be known before the configuration is complete is evaluated without schemas, providers, plans and state",
	},
	"engine/object": {
		may:  []string{"jsonvalue", "addr", "diag", "schema", "value", "config", "state", "state/scrub", "provider", "provider/processes", "plan", "contract", "event"},
		pure: true, modules: []string{hcl, cty},
		why: "what a provider is asked about an object does not depend on how its configuration was evaluated or what else the run does",
	},
	"engine": {
		may:  []string{"jsonvalue", "addr", "diag", "future", "schema", "value", "config", "state", "provider", "provider/processes", "provision", "lang", "lang/funcs", "lang/generate", "plan", "state/scrub", "contract", "event", "moves", "selection", "ephemeral", "eval", "eval/blocks", "eval/coverage", "slot", "engine/object", "leak", "trace"},
		pure: true,
		why:  "the engine is given a launcher and a journal: it must work without any terminal, store or plugin process",
	},

	"state/scrub": {
		may:  []string{"addr", "diag", "schema", "state", "value"},
		pure: true, modules: []string{cty},
		why: "which stored values must go follows from schemas, which it is given: no provider is asked",
	},

	"state/encryption": {
		may: []string{"cloud/...", "config", "diag", "leak", "state", "state/store", "value", "trace"},
		why: "how files are encrypted follows from declarations and bytes: whose files they are, and what is in them, makes no difference",
	},
	"state/store":         {may: []string{"addr", "diag", "safefile", "state"}, why: "where a state is kept must not depend on what made it"},
	"state/store/local":   {may: []string{"addr", "diag", "safefile", "state", "state/store"}, why: "one store does not know the others"},
	"state/store/remote":  {may: []string{"bug", "addr", "diag", "safefile", "state", "state/store", "trace"}, why: "what all services have in common must not depend on one of them"},
	"state/store/azurerm": {may: []string{"cloud", "cloud/azure", "state/store", "state/store/remote", "state/store/objects"}, why: "a service sees stored bytes and locks"},
	"state/store/consul": {
		may:     []string{"bug", "cloud", "state", "state/store", "state/store/remote", "trace/requests"},
		modules: []string{"golang.org/x/sync"},
		why:     "a service sees stored bytes and locks",
	},
	"state/store/kubernetes": {
		may:     []string{"bug", "cloud", "cloud/kubeconfig", "state/store", "state/store/remote", "state/store/objects", "trace/requests"},
		modules: []string{"golang.org/x/sync"},
		why:     "a service sees stored bytes and locks",
	},
	"state/store/cos":        {may: []string{"cloud", "cloud/tencent", "state/store", "state/store/remote", "state/store/objects"}, why: "a service sees stored bytes and locks"},
	"state/store/oss":        {may: []string{"cloud", "cloud/alibaba", "state/store", "state/store/remote", "state/store/objects"}, why: "a service sees stored bytes and locks"},
	"state/store/pg":         {may: []string{"state/store", "state/store/remote"}, modules: []string{"github.com/lib/pq"}, why: "a service sees stored bytes and locks"},
	"state/store/objects":    {may: []string{"bug", "state/store", "state/store/remote"}, why: "what all services for objects have in common must not depend on one of them"},
	"state/store/gcs":        {may: []string{"cloud", "cloud/google", "state/store", "state/store/remote", "state/store/objects"}, why: "a service sees stored bytes and locks"},
	"state/store/s3":         {may: []string{"cloud", "cloud/aws", "state/store", "state/store/remote", "state/store/objects"}, why: "a service sees stored bytes and locks"},
	"state/store/tfe":        {may: []string{"cloud", "state/store", "state/store/remote"}, why: "a service sees stored bytes and locks"},
	"internal/tfeserver":     {why: "a server for tests knows nothing of what is kept in it"},
	"internal/s3server":      {why: "a server for tests knows nothing of what is kept in it"},
	"internal/alibabaserver": {why: "a server for tests knows nothing of what is kept in it"},
	"internal/azureserver":   {why: "a server for tests knows nothing of what is kept in it"},
	"internal/tencentserver": {why: "a server for tests knows nothing of what is kept in it"},
	"internal/tlsproxy":      {why: "a proxy for tests knows nothing of what passes through it"},
	"internal/consulserver":  {why: "a server for tests knows nothing of what is kept in it"},
	"internal/kubeserver":    {why: "a server for tests knows nothing of what is kept in it"},
	"internal/httpserver":    {why: "a server for tests knows nothing of what is kept in it"},
	"internal/gcsserver":     {why: "a server for tests knows nothing of what is kept in it"},
	"internal/postgres":      {why: "a server for tests knows nothing of what is kept in it"},
	"state/store/http":       {may: []string{"state/store", "state/store/remote", "trace/requests"}, why: "one store does not know the others"},
	"state/store/inmem":      {may: []string{"addr", "diag", "state", "state/store"}, why: "one store does not know the others"},
	"state/store/storetest":  {may: []string{"addr", "diag", "schema", "value", "state", "state/store"}, why: "the conformance suite tests stores through their interface only"},
	"backend": {
		may: []string{"cloud", "cloud/...", "diag", "leak", "schema", "value", "state/store", "state/store/...", "trace/requests"},
		why: "a backend block is a schema and a store: whose state it is, and where the block is written, makes no difference",
	},
	"cloud":         {modules: none, why: "what every vendor's services have in common is HTTP"},
	"cloud/aws":     {may: []string{"cloud"}, modules: []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"}, why: "a vendor's services are called the same way whatever is kept there"},
	"cloud/alibaba": {may: []string{"cloud", "trace/requests"}, modules: []string{"github.com/google/uuid", "google.golang.org/protobuf"}, why: "a vendor's services are called the same way whatever is kept there"},
	"cloud/azure":   {may: []string{"cloud", "trace/requests"}, modules: []string{"github.com/Azure/azure-sdk-for-go"}, why: "a vendor's services are called the same way whatever is kept there"},
	"cloud/google":  {may: []string{"cloud"}, modules: []string{"cloud.google.com/go/auth"}, why: "a vendor's services are called the same way whatever is kept there"},

	"cloud/kubeconfig": {
		may: []string{"safefile"}, modules: []string{"go.yaml.in/yaml", "golang.org/x/term"},
		why: "a cluster is found and logged in to the same way whatever is kept there",
	},
	"cloud/tencent": {may: []string{"cloud", "trace/requests"}, modules: none, why: "a vendor's services are called the same way whatever is kept there"},

	"install":             {may: []string{"bug", "addr", "constraint", "diag", "safefile", "config", "state", "install/...", "trace"}, why: "packages are found and checked by address; nothing of them is run here"},
	"install/web":         {may: []string{"trace/requests"}, why: "requests are the same whatever is asked for"},
	"install/credential":  {may: []string{"childenv", "diag", "safefile", "install/cliconfig", "trace"}, why: "who holds tokens should know little else"},
	"install/login":       {may: []string{"install/cliconfig", "install/web"}, why: "who obtains tokens need not know where they are kept"},
	"install/registry":    {may: []string{"addr", "install/cliconfig", "install/lockfile", "install/web"}, why: "one protocol does not know the others, nor what becomes of packages"},
	"install/fetch":       {may: []string{"childenv", "cloud/...", "install/ocimirror", "install/web", "leak", "trace"}, why: "packages are downloaded by address, independent of what they are for"},
	"install/modules":     {may: []string{"addr", "diag", "safefile", "config", "install/fetch", "install/registry", "install/web", "install/internal/...", "trace"}, why: "the installer writes the manifest and loading reads it: neither knows how packages are got"},
	"install/netmirror":   {may: []string{"addr", "install/lockfile", "install/web"}, why: "one protocol does not know the others, nor what becomes of packages"},
	"install/ocimirror":   {may: []string{"addr", "install/cliconfig", "install/lockfile", "install/web"}, why: "one protocol does not know the others, nor what becomes of packages"},
	"install/cliconfig":   {may: []string{"addr", "diag", "safefile", "install/internal/..."}, why: "settings are read for install, not by it"},
	"install/schemacache": {modules: none, why: "a cache that understood what it keeps would have to be trusted"},
	"install/lockfile":    {may: []string{"addr", "constraint", "diag", "safefile", "install/internal/..."}, why: "a file format is usable without an installer"},

	"install/internal/plainhcl": {may: []string{"diag"}, why: "a helper for two file formats"},

	"view/document": {
		may:  []string{"addr", "constraint", "diag", "schema", "value", "config", "lang", "lang/typearg", "state", "plan"},
		pure: true, why: "programs read the same documents however people are shown what is in them",
	},
	"view": {
		may:  []string{"addr", "diag", "jsonvalue", "schema", "value", "state", "plan", "event", "view/document", "trace"},
		pure: true, why: "rendering is a function of what is rendered; of a run it sees events",
	},
	"view/internal/fixture": {
		may: []string{"addr", "schema", "value", "plan"}, pure: true,
		why: "the plans of tests are read without what is tested with them",
	},
	"view/verdicts": {
		may: []string{"config", "diag", "suite", "view", "view/document", "view/report"}, pure: true,
		why: "the outcomes of tests are shown by themselves: what was run, and how, is done by then",
	},
	"view/coverage": {
		may: []string{"eval/coverage", "view/internal/hypertext"}, pure: true, modules: none,
		why: "what was exercised is shown by names and positions: without a configuration or values at hand it cannot show more",
	},
	"view/timeline": {
		may:  []string{"addr", "event", "view/internal/hypertext"},
		pure: true, modules: none, why: "a timeline shows addresses and times: without values, plans and diagnostics at hand it cannot show more",
	},
	"explain": {
		may:  []string{"addr", "diag", "eval/blocks", "plan", "schema", "value"},
		pure: true, modules: []string{hcl, cty},
		why: "why something changes follows from a plan and from what refers to what: an answer that needed a run could have values of it",
	},
	"view/explanation":        {may: []string{"explain", "view"}, pure: true, modules: none, why: "an answer is rendered as it is: with a plan at hand it could say what the answer does not"},
	"view/internal/hypertext": {pure: true, modules: none, why: "how text is written into a page does not depend on what it says"},
	"view/report": {
		may:  []string{"diag", "event", "plan", "state", "view", "view/document", "view/internal/hypertext", "view/timeline"},
		pure: true, modules: none, why: "a page shows what the text of a plan shows, and is given the reasons as text: it decodes no value itself",
	},
	"view/markdown": {may: []string{"view/report"}, pure: true, modules: none, why: "a comment says what the page says, from the same texts: it sees no plan and no value"},
	".": {
		may: []string{
			"bug", "addr", "diag", "value", "schema", "config", "state", "state/store", "provider", "provider/plugin", "provider/builtin", "provider/keep",
			"plan", "plan/planfile", "ephemeral", "eval", "eval/blocks", "eval/coverage", "eval/static", "event", "engine", "explain", "leak",
			"trace",
		},
		why: "the library has no terminal and installs nothing; both are its caller's business",
	},
	"workdir": {
		may: []string{
			".", "addr", "childenv", "diag", "event", "jsonvalue", "safefile", "schema", "value", "config", "state", "state/encryption", "state/store", "state/store/local", "backend", "provider", "provider/builtin", "provider/plugin",
			"plan", "plan/planfile", "engine", "install/...", "leak", "timing", "trace", "trace/requests",
		},
		why: "a library user gets what the program does with a directory: no command line, no terminal and no rendering can matter here",
	},
	"suite": {
		may: []string{
			"bug", ".", "addr", "bounds", "config", "detach", "diag", "eval/coverage", "lang", "lang/funcs", "lang/marked", "plan", "provider", "provider/mock", "state", "state/store", "state/store/inmem", "value",
			"trace",
		},
		why: "a test run is an operation of the library like any other: nothing of the engine is open to tests alone",
	},
	"cmd/mayfly": {
		may: []string{
			".", "addr", "backend", "diag", "docs/schemas", "safefile", "value", "schema", "config", "config/format", "state", "state/edit", "state/store", "provider", "plan",
			"plan/planfile", "event", "engine", "explain", "view", "view/coverage", "view/document", "view/explanation", "view/markdown", "view/report", "view/timeline", "view/verdicts", "install/...", "lang", "lang/funcs",
			"leak", "selection", "suite", "telemetry", "trace", "workdir", "cmd/mayfly/internal/...",
		},
		why: "commands call the library; evaluation, leases and scheduling are none of their business",
	},
	"cmd/mayfly/internal/metadata": {may: []string{"backend", "config/reference", "docs/schemas", "lang/funcs", "schema", "view/document"}, modules: []string{hcl}, why: "the language and the documents are described by tables, whatever a configuration says"},
	"cmd/mayfly/internal/doctor":   {may: []string{"addr", "bug", "detach", "diag", "install", "install/...", "view", "workdir"}, why: "what keeps a run from working is found without a plan, a running provider or a command line"},
	"cmd/mayfly/internal/usage":    {may: []string{"diag"}, why: "how commands are used follows from the table of commands, not from what they do"},
	"cmd/mayfly/internal/complete": {
		may: []string{"cmd/mayfly/internal/usage", "config", "safefile", "state"},
		why: "what can be typed is read from the table of commands and from names: nothing is evaluated, locked or run for it",
	},
	"cmd/mayfly/internal/term": {
		may:     []string{"bug"},
		modules: []string{"golang.org/x/term", "golang.org/x/sys", "github.com/vbauerster/mpb/v8"},
		why:     "a terminal shows text and takes keys, whatever the program is about",
	},
	"telemetry": {
		may: []string{"bug", "safefile", "trace"}, modules: []string{"google.golang.org/protobuf"},
		why: "what leaves the machine is names and times: a package that knew more could send more",
	},
	"cmd/mayfly/internal/place":     {modules: none, why: "where a run is does not depend on what it does"},
	"cmd/mayfly/internal/harden":    {may: []string{"childenv"}, modules: []string{"golang.org/x/sys"}, why: "a process is protected whatever it does"},
	"cmd/mayfly/internal/interrupt": {may: []string{"bug"}, modules: none, why: "what a signal ends is a matter of contexts, not of what runs in them"},
	"cmd/mayfly/internal/watch":     {modules: []string{"github.com/fsnotify/fsnotify"}, why: "that a file has changed is seen without knowing what it is for"},
	"cmd/mayfly/internal/profile":   {modules: none, why: "where time goes is measured whatever takes it"},
	"cmd/mayfly/internal/logs": {
		may: []string{"addr", "safefile", "trace", "cmd/mayfly/internal/term"}, modules: []string{"github.com/hashicorp/go-hclog"},
		why: "log lines are filtered and written by their level, whatever they are about",
	},
	"cmd/mayfly/internal/reformat": {may: []string{"config/format", "diag", "safefile"}, modules: []string{"github.com/aymanbagabas/go-udiff"}, why: "files are put into the standard style as text"},
	"cmd/mayfly/internal/signin": {
		may: []string{"diag", "install", "install/cliconfig", "install/credential", "install/login", "cmd/mayfly/internal/term"},
		why: "a person logs in to hosts without any configuration, state or provider",
	},
	"cmd/terraform-provider-keep": {may: []string{"provider/keep", "provider/keep/serve"}, why: "the plugin program is the provider and nothing of the engine"},

	"examples/library": {may: []string{".", "event", "plan", "state/store", "state/store/local"}, why: "an example imports what users of the library do"},

	"benchmarks":          {may: []string{"benchmarks/...", "internal/program"}, why: "engines are measured as programs, this one like any other"},
	"benchmarks/work":     {modules: none, why: "configurations are text"},
	"benchmarks/provider": {why: "the provider that counts must not share what it measures"},
	"benchmarks/measure":  {why: "a run's cost does not depend on what runs"},

	"internal/arch":         {modules: none, why: "the tests of the shape must not bend it"},
	"internal/protogen":     {why: "a generator knows its input only"},
	"internal/tfplugin6":    {why: "generated messages"},
	"internal/tfplugin5":    {may: []string{"internal/tfplugin6"}, why: "generated messages, most of them shared with version 6"},
	"internal/simprovider":  {may: []string{"internal/simprovider/simlog"}, why: "the test provider judges the engine, so it must not share its mistakes"},
	"internal/registrytest": {why: "the registries of tests would share the mistakes of what they test"},
	"internal/filetest":     {modules: none, why: "files of tests are written without knowing what they are for"},
	"internal/oddvalue":     {pure: true, modules: []string{cty, "pgregory.net/rapid"}, why: "a value is drawn without knowing how it is stored, and so is what must be read again"},
	"internal/pty":          {why: "a terminal does not know who types"},
	"internal/mutate":       {modules: []string{"golang.org/x/sys"}, why: "guards are removed without knowing what they are for"},
	"internal/powercut":     {may: []string{"internal/sysfault"}, modules: none, why: "a disk does not know what the files on it are for"},
	"internal/sysfault":     {modules: []string{"golang.org/x/sys"}, why: "calls to the system fail without knowing what they are for"},
	"internal/secretscan":   {modules: none, pure: true, why: "secrets are found without knowing what they are"},
	"internal/program":      {why: "programs are built and started, not called"},
	"internal/script":       {may: []string{"...", "."}, why: "the kit of the script tests starts the whole program"},

	"tests/canary":    {may: []string{"tests/internal/..."}, why: "what a command leaves behind is searched as anyone can who has the files"},
	"tests/clients":   {may: []string{"tests/internal/..."}, why: "the clients of the program see it from outside, as users' tools do"},
	"tests/corpus":    {may: []string{"tests/internal/..."}, why: "verdicts on configurations are what the program prints"},
	"tests/documents": {may: []string{"tests/internal/..."}, why: "documents are read as clients read them, from outside"},
	"tests/functions": {
		may: []string{".", "diag", "engine", "lang/funcs", "state/store/inmem", "view", "tests/internal/..."},
		why: "a console is evaluated within the test's process, which a library user could do as well",
	},
	"tests/bench":    {may: []string{"tests/internal/..."}, why: "the benchmarks are run as users who compare engines run them"},
	"tests/interop":  {may: []string{"tests/internal/..."}, why: "other engines are compared with the program, not with its packages"},
	"tests/kill":     {may: []string{"tests/internal/..."}, why: "what survives a killed process shows from outside only"},
	"tests/refusals": {may: []string{"tests/internal/..."}, why: "what users read when a service refuses is what the program prints"},
	"tests/rules":    {why: "a rule holds for what commands print and leave behind"},
	"tests/ssh":      {may: []string{"tests/internal/..."}, why: "what a provisioner does on a host shows on the host"},

	"tests/internal/calls":  {pure: true, modules: none, why: "a table of outcomes is read without knowing what they mean"},
	"tests/internal/corpus": {why: "verdicts of programs are compared without knowing how they are made"},
	"tests/internal/services": {
		may: []string{
			"internal/alibabaserver", "internal/azureserver", "internal/consulserver", "internal/gcsserver", "internal/httpserver", "internal/kubeserver", "internal/postgres", "internal/s3server", "internal/tencentserver", "internal/tfeserver", "internal/tlsproxy",
		},
		why: "servers are started without knowing the program that uses them",
	},
	"internal/baoserver":       {why: "a server is started without knowing the program that uses it"},
	"tests/internal/documents": {why: "what programs print is compared without knowing what it means"},

	"internal/schematest": {may: []string{"docs/schemas"}, why: "a document is judged by its schema, not by what made it"},

	"internal/simprovider/simlog":                     {why: "a transcript is read without the provider that wrote it"},
	"internal/simprovider/cmd/terraform-provider-sim": {may: []string{"internal/simprovider"}, why: "the plugin program is the test provider"},
}

// exceptions are imports beyond the rules, by file. Each is needed: one that is not any more fails the test.
var exceptions = map[string]struct{ pkg, why string }{
	"engine/object/seal.go": {"provider/builtin", "arguments of terraform_data that other engines don't know stay out of the state while they are null"},
}

// hands are the packages of the standard library that reach beyond the process's memory.
var hands = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "io/ioutil"}

func TestLayers(t *testing.T) {
	seen, excused := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		seen[s.pkg] = true
		r, ok := rules[s.pkg]
		if !ok || s.test {
			continue
		}
		for _, bad := range r.breaches(s.imports()) {
			if exceptions[s.name].pkg == bad {
				excused[s.name] = true
				continue
			}
			t.Errorf("%s: package %s must not import %s: %s", s.name, s.pkg, bad, r.why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exceptions)) {
		if !excused[name] {
			t.Errorf("%s does not import %s: the exception is needed no more", name, exceptions[name].pkg)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(seen)) {
		if _, ok := rules[pkg]; !ok {
			t.Errorf("package %s has no rule about what it may import: add one, with its reason, to the table in layers_test.go", pkg)
		}
	}
}

// breaches returns the imports that the rule forbids.
func (r rule) breaches(imports []string) []string {
	var bad []string
	for _, path := range imports {
		if own, ok := strings.CutPrefix(path+"/", module+"/"); ok {
			if own = cmp.Or(strings.TrimSuffix(own, "/"), "."); !covered(r.may, own) {
				bad = append(bad, own)
			}
			continue
		}
		first, _, _ := strings.Cut(path, "/")
		switch {
		case !strings.Contains(first, "."): // the standard library
			if r.pure && slices.Contains(hands, path) {
				bad = append(bad, path)
			}
		case r.modules != nil && !slices.ContainsFunc(r.modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }):
			bad = append(bad, path)
		}
	}
	return bad
}

// covered reports whether a list of rule names has the package.
func covered(may []string, pkg string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		base, tree := strings.CutSuffix(m, "...")
		return m == pkg || tree && (strings.HasPrefix(pkg, base) || pkg+"/" == base)
	})
}

// TestLayersPointDown takes the table itself to task: an allowed import must be of a package with a rule, and
// no two packages may allow each other.
func TestLayersPointDown(t *testing.T) {
	var visit func(pkg string, path []string)
	visit = func(pkg string, path []string) {
		if i := slices.Index(path, pkg); i >= 0 {
			t.Fatalf("the table allows a cycle: %s", strings.Join(append(path[i:], pkg), " → "))
		}
		for _, m := range rules[pkg].may {
			if strings.HasSuffix(m, "...") {
				continue
			}
			if _, ok := rules[m]; !ok {
				t.Errorf("the rule of %s allows %s, which has no rule", pkg, m)
			}
			visit(m, append(slices.Clone(path), pkg))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(rules)) {
		visit(pkg, nil)
		if rules[pkg].why == "" {
			t.Errorf("the rule of %s has no reason", pkg)
		}
	}
}

func TestBreaches(t *testing.T) {
	r := rule{may: []string{"addr", "install/...", "."}, pure: true, modules: []string{cty}}
	imports := []string{
		"fmt", "os", "os/exec", module, module + "/addr", module + "/addr/x", module + "/install", module + "/install/lockfile", module + "/installer",
		cty + "/cty", cty + "-yaml", hcl,
	}
	want := []string{"os", "os/exec", "addr/x", "installer", cty + "-yaml", hcl}
	if got := r.breaches(imports); !slices.Equal(got, want) {
		t.Errorf("breaches: %q, want %q", got, want)
	}
}
