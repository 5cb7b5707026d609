package arch

// storesRules hold for where states and plans are kept.
var storesRules = map[string]rule{
	"stores/planfile": {may: []string{"base/jsonvalue", "addr", "diag", "values/leak", "values/schema", "values/value", "state", "plan"}, why: "a codec needs the model that it encodes and nothing that could put a secret in it"},
	"stores/encryption": {
		may: []string{"base/pattern", "base/cloud/...", "language/config", "diag", "values/leak", "state", "state/store", "values/value", "base/trace"},
		why: "how files are encrypted follows from declarations and bytes: whose files they are, and what is in them, makes no difference",
	},
	"stores/remote": {may: []string{"base/bug", "base/safefile", "state", "state/store", "model/document", "base/trace"}, why: "what all services have in common must not depend on one of them"},
	// A store declares the arguments of its block itself, beside the code that reads them: a backend is one
	// package, and package kinds is the list.
	"stores/azurerm": {may: []string{"stores/backend", "base/cloud", "base/cloud/azure", "state/store", "stores/remote", "stores/objects"}, why: "a service sees stored bytes, locks and its own arguments"},
	"stores/consul": {
		may:     []string{"base/bug", "stores/backend", "base/cloud", "state", "state/store", "stores/remote", "base/trace/requests"},
		modules: []string{"golang.org/x/sync"},
		why:     "a service sees stored bytes, locks and its own arguments",
	},
	"stores/kubernetes": {
		may:     []string{"base/bug", "base/pattern", "stores/backend", "base/cloud", "base/cloud/kubeconfig", "values/schema", "state/store", "stores/remote", "stores/objects"},
		modules: []string{"golang.org/x/sync"},
		why:     "a service sees stored bytes, locks and its own arguments",
	},
	"stores/cos":        {may: []string{"stores/backend", "base/cloud", "base/cloud/tencent", "values/schema", "state/store", "stores/remote", "stores/objects"}, why: "a service sees stored bytes, locks and its own arguments"},
	"stores/oss":        {may: []string{"stores/backend", "base/cloud", "base/cloud/alibaba", "values/schema", "state/store", "stores/remote", "stores/objects"}, why: "a service sees stored bytes, locks and its own arguments"},
	"stores/pg":         {may: []string{"stores/backend", "stores/pg/connect", "state/store", "stores/remote"}, modules: []string{"github.com/lib/pq"}, why: "a service sees stored bytes, locks and its own arguments"},
	"stores/pg/connect": {may: none, modules: []string{"github.com/lib/pq"}, why: "a database is reached in the same way whatever is kept there"},
	"stores/postgres": {
		may: []string{"base/bug", "base/safefile", "addr", "diag", "stores/backend", "stores/pg/connect", "state", "state/store"}, modules: []string{"github.com/google/uuid", "github.com/lib/pq"},
		why: "a store of rows knows the rows of a state, and nothing of who changes them",
	},
	"stores/objects": {may: []string{"base/bug", "base/cloud", "state/store", "stores/remote"}, why: "what all services for objects have in common must not depend on one of them"},
	"stores/gcs":     {may: []string{"stores/backend", "base/cloud", "base/cloud/google", "state/store", "stores/remote", "stores/objects"}, why: "a service sees stored bytes, locks and its own arguments"},
	"stores/s3":      {may: []string{"stores/backend", "base/cloud", "base/cloud/aws", "state/store", "stores/remote", "stores/objects"}, why: "a service sees stored bytes, locks and its own arguments"},
	"stores/tfe":     {may: []string{"stores/backend", "base/cloud", "values/schema", "state/store", "stores/remote"}, why: "a service sees stored bytes, locks and its own arguments"},
	"stores/http":    {may: []string{"stores/backend", "state/store", "stores/remote", "base/trace/requests"}, why: "one store does not know the others"},
	"stores/inmem":   {may: []string{"addr", "diag", "state", "state/store"}, why: "one store does not know the others"},
	"stores/backend": {
		may: []string{"base/pattern", "diag", "values/leak", "values/schema", "values/value", "state/store", "stores/remote"},
		why: "a backend block is a schema and a store: which store, whose state it is, and where the block is written, makes no difference",
	},
	"stores/provided": {may: []string{"addr", "diag", "provider", "stores/backend", "stores/remote", "state/store", "values/schema"}, modules: []string{cty}, why: "a provider that keeps states is a service: who starts it, and which configuration names it, makes no difference"},
	"stores/kinds": {
		may: []string{
			"stores/backend", "state/store", "state/store/local",
			"stores/azurerm", "stores/consul", "stores/cos", "stores/gcs", "stores/http", "stores/inmem", "stores/kubernetes", "stores/oss", "stores/pg", "stores/postgres", "stores/s3", "stores/tfe",
		},
		modules: none, why: "the list of backends has nothing of its own",
	},
}

// installRules hold for where providers and modules come from.
var installRules = map[string]rule{
	"install":                   {may: []string{"base/bug", "base/compat", "addr", "base/constraint", "diag", "base/safefile", "language/config", "state", "install/...", "base/trace"}, why: "packages are found and checked by address; nothing of them is run here"},
	"install/web":               {may: []string{"base/compat", "base/trace/requests"}, why: "requests are the same whatever is asked for"},
	"install/credential":        {may: []string{"base/childenv", "diag", "base/safefile", "install/cliconfig", "base/trace"}, why: "who holds tokens should know little else"},
	"install/login":             {may: []string{"install/cliconfig", "install/web"}, why: "who obtains tokens need not know where they are kept"},
	"install/registry":          {may: []string{"addr", "install/cliconfig", "install/lockfile", "install/web"}, why: "one protocol does not know the others, nor what becomes of packages"},
	"install/fetch":             {may: []string{"base/childenv", "base/pattern", "base/cloud/...", "install/ocimirror", "install/web", "values/leak", "base/trace"}, why: "packages are downloaded by address, independent of what they are for"},
	"install/modules":           {may: []string{"addr", "diag", "base/safefile", "language/config", "install/fetch", "install/registry", "install/web", "install/internal/...", "base/trace"}, why: "the installer writes the manifest and loading reads it: neither knows how packages are got"},
	"install/netmirror":         {may: []string{"addr", "install/lockfile", "install/web"}, why: "one protocol does not know the others, nor what becomes of packages"},
	"install/ocimirror":         {may: []string{"addr", "install/cliconfig", "install/lockfile", "install/web"}, why: "one protocol does not know the others, nor what becomes of packages"},
	"install/cliconfig":         {may: []string{"addr", "base/compat", "base/pattern", "diag", "base/safefile", "install/internal/..."}, why: "settings are read for install, not by it"},
	"install/schemacache":       {modules: none, why: "a cache that understood what it keeps would have to be trusted"},
	"install/lockfile":          {may: []string{"addr", "base/constraint", "diag", "base/safefile", "install/internal/..."}, why: "a file format is usable without an installer"},
	"install/internal/plainhcl": {may: []string{"diag"}, why: "a helper for two file formats"},
}

// showRules hold for what people and programs see of a run.
var showRules = map[string]rule{
	"show/view/document": {
		may:  []string{"addr", "base/compat", "base/constraint", "diag", "values/schema", "values/value", "language/config", "language/lang", "language/lang/typearg", "state", "plan"},
		pure: true, why: "programs read the same documents however people are shown what is in them",
	},
	"show/view": {
		may:  []string{"addr", "diag", "base/compat", "base/jsonvalue", "values/schema", "values/value", "state", "plan", "event", "show/view/document", "base/trace"},
		pure: true, why: "rendering is a function of what is rendered; of a run it sees events",
	},
	"show/view/internal/fixture": {
		may: []string{"addr", "values/schema", "values/value", "plan"}, pure: true,
		why: "the plans of tests are read without what is tested with them",
	},
	"show/view/verdicts": {
		may: []string{"language/config", "diag", "suite", "show/view", "show/view/document", "show/view/report"}, pure: true,
		why: "the outcomes of tests are shown by themselves: what was run, and how, is done by then",
	},
	"show/view/coverage": {
		may: []string{"language/eval/coverage", "show/view/internal/hypertext"}, pure: true, modules: none,
		why: "what was exercised is shown by names and positions: without a configuration or values at hand it cannot show more",
	},
	"show/view/timeline": {
		may:  []string{"addr", "event", "show/view/internal/hypertext"},
		pure: true, modules: none, why: "a timeline shows addresses and times: without values, plans and diagnostics at hand it cannot show more",
	},
	"show/view/history": {
		may:  []string{"addr", "state", "state/store", "show/view"},
		pure: true, modules: none, why: "who did something, and when, is shown without values: former content is shown as a state is",
	},
	"show/view/explanation":        {may: []string{"engine/explain", "show/view"}, pure: true, modules: none, why: "an answer is rendered as it is: with a plan at hand it could say what the answer does not"},
	"show/view/internal/hypertext": {pure: true, modules: none, why: "how text is written into a page does not depend on what it says"},
	"show/view/report": {
		may:  []string{"diag", "event", "plan", "state", "show/view", "show/view/document", "show/view/internal/hypertext", "show/view/timeline"},
		pure: true, modules: none, why: "a page shows what the text of a plan shows, and is given the reasons as text: it decodes no value itself",
	},
	"show/view/markdown": {may: []string{"show/view/report"}, pure: true, modules: none, why: "a comment says what the page says, from the same texts: it sees no plan and no value"},
	"show/telemetry": {
		may: []string{"base/bug", "base/safefile", "base/trace"}, modules: []string{"google.golang.org/protobuf"},
		why: "what leaves the machine is names and times: a package that knew more could send more",
	},
}
