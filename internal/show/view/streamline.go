package view

import (
	"encoding/json"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
)

// streamLine is one message. Those members that begin with @ are in all messages; of the others, the type
// determines which there are. Outputs is a map of streamOutput.
type streamLine struct {
	Level            string               `json:"@level"`
	Message          string               `json:"@message"`
	Module           string               `json:"@module"`
	Timestamp        string               `json:"@timestamp"`
	Terraform        string               `json:"terraform,omitempty"`
	OpenTofu         string               `json:"tofu,omitempty"`
	Product          string               `json:"mayfly,omitempty"`
	Change           *streamChange        `json:"change,omitempty"`
	Deferral         *streamDeferral      `json:"deferral,omitempty"`
	Changes          *streamCounts        `json:"changes,omitempty"`
	Hook             any                  `json:"hook,omitempty"` // a streamHook or an actionHook
	Outputs          any                  `json:"outputs,omitempty"`
	Diagnostic       *document.Diagnostic `json:"diagnostic,omitempty"`
	Workspaces       []string             `json:"workspaces,omitempty"`
	CurrentWorkspace string               `json:"current_workspace,omitempty"`
	From             string               `json:"from,omitempty"`
	To               string               `json:"to,omitempty"`
	Resources        []string             `json:"resources,omitempty"`
	Invocation       *actionHook          `json:"invocation,omitempty"`
	Round            int                  `json:"round,omitempty"`
	Rounds           *streamRounds        `json:"rounds,omitempty"`
	Scope            *document.Scope      `json:"scope,omitempty"`
	TestMessage
	listMessage

	Type string `json:"type,omitempty"`
	UI   string `json:"ui,omitempty"`
}

// streamHook is the report of an event about an operation. Messages about ephemeral instances have no ID,
// which could be a secret (E80).
type streamHook struct {
	Resource    streamResource `json:"resource"`
	Action      string         `json:"action,omitempty"`
	IDKey       string         `json:"id_key,omitempty"`
	IDValue     string         `json:"id_value,omitempty"`
	Elapsed     *float64       `json:"elapsed_seconds,omitempty"`
	Provisioner string         `json:"provisioner,omitempty"`
	Output      string         `json:"output,omitempty"`
}

// streamResource is the address of an object, whole and in parts. ImpliedProvider is the beginning of the
// type, whatever provider the object has.
type streamResource struct {
	Addr            string   `json:"addr"`
	Module          string   `json:"module"`
	Resource        string   `json:"resource"`
	ImpliedProvider string   `json:"implied_provider"`
	ResourceType    string   `json:"resource_type"`
	ResourceName    string   `json:"resource_name"`
	ResourceKey     addr.Key `json:"resource_key"`
	Deposed         string   `json:"deposed,omitempty"`
}

// streamChange is a planned change or one made outside. It has no values: the document of the plan does.
type streamChange struct {
	Resource         streamResource      `json:"resource"`
	PreviousResource *streamResource     `json:"previous_resource,omitempty"`
	Action           string              `json:"action"`
	Reason           string              `json:"reason,omitempty"`
	Importing        *document.Importing `json:"importing,omitempty"`
	GeneratedConfig  string              `json:"generated_config,omitempty"`
}

// streamDeferral says why a change is left to a later plan, and the addresses that it waits for.
type streamDeferral struct {
	Reason   string   `json:"reason"`
	WaitsFor []string `json:"waits_for,omitempty"`
}

// streamCounts are the numbers of the summary line. Remove counts destroyed objects.
type streamCounts struct {
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Import    int    `json:"import"`
	Remove    int    `json:"remove"`
	Forget    int    `json:"forget"`
	Invoke    int    `json:"action_invocation,omitempty"`
	Defer     int    `json:"defer,omitempty"`
	Operation string `json:"operation"`
}

// streamCountsOf returns the numbers of an operation.
func streamCountsOf(n plan.Counts, operation string) *streamCounts {
	return &streamCounts{
		Add: n.Add, Change: n.Change, Import: n.Import, Remove: n.Destroy, Forget: n.Forget, Invoke: n.Invoke, Defer: n.Defer, Operation: operation,
	}
}

// streamRounds tells how a run of several rounds has ended.
type streamRounds struct {
	Converged bool `json:"converged"`
	Last      int  `json:"last"`
}

// streamOutput is an output with its value after an apply, or with its planned action. Sensitive ones have no
// value.
type streamOutput struct {
	document.OutputValue
	Action string `json:"action,omitempty"`
}

// streamResourceOf returns the message part about an object.
func streamResourceOf(o addr.Object) streamResource {
	a := o.Instance
	implied, _, _ := strings.Cut(a.Resource.Type, "_")
	return streamResource{
		Addr: a.String(), Module: a.Module.String(), Resource: a.Local(), ImpliedProvider: implied, ResourceType: a.Resource.Type,
		ResourceName: a.Resource.Name, ResourceKey: document.Key(a.Key), Deposed: string(o.Deposed),
	}
}

// streamChangeOf returns the message part about a change. A change without action is reported by its effect
// on the state, as import or move. So is a deferred import, whose object is not known yet.
func streamChangeOf(c *plan.Change) *streamChange {
	out := &streamChange{Resource: streamResourceOf(c.Object()), Action: streamAction(c.Action), Reason: streamReason(c.Reason), GeneratedConfig: c.GeneratedConfig}
	if c.Moved() {
		prev := streamResourceOf(addr.Object{Instance: c.PrevAddr, Deposed: c.Deposed})
		out.PreviousResource = &prev
	}
	if c.Importing != nil {
		out.Importing = document.ImportingOf(c.Importing)
	}
	switch {
	case c.Importing != nil && (c.Action == plan.NoOp || c.Action == plan.Create):
		out.Action = "import"
	case c.Action == plan.NoOp && c.Moved():
		out.Action = "move"
	}
	return out
}

// streamAction returns the stream's word for an action; some differ from the plan document's.
func streamAction(a plan.Action) string {
	switch a {
	case plan.NoOp:
		return "noop"
	case plan.Forget:
		return "remove"
	case plan.DeleteThenCreate, plan.CreateThenDelete, plan.ForgetThenCreate:
		return "replace"
	default:
		return a.String()
	}
}

// streamReason returns the stream's word for a reason; for replacements it differs from the plan document's.
func streamReason(r plan.Reason) string {
	switch r {
	case plan.ReplaceTainted:
		return "tainted"
	case plan.ReplaceRequested:
		return "requested"
	case plan.ReplaceTriggered:
		return "replace_triggered_by"
	case plan.ReplaceCannotUpdate:
		return "cannot_update"
	default:
		return string(r)
	}
}

// TestMessage has the members that a message about tests has besides a text.
type TestMessage struct {
	File      string              `json:"@testfile,omitempty"`
	Run       string              `json:"@testrun,omitempty"`
	Abstract  map[string][]string `json:"test_abstract,omitzero"`
	OfFile    *TestStatus         `json:"test_file,omitempty"`
	OfRun     *TestStatus         `json:"test_run,omitempty"`
	Plan      json.RawMessage     `json:"test_plan,omitempty"`
	State     json.RawMessage     `json:"test_state,omitempty"`
	Cleanup   *TestCleanup        `json:"test_cleanup,omitempty"`
	Summary   *TestSummary        `json:"test_summary,omitempty"`
	Coverage  json.RawMessage     `json:"test_coverage,omitempty"`
	Interrupt *TestInterrupt      `json:"test_interrupt,omitempty"`
}

// TestInterrupt lists the objects that an interrupted test file leaves: objects in the state of the module
// under test, objects in the states of other modules by run, and objects that may exist without being in a
// state.
type TestInterrupt struct {
	State   []TestObject            `json:"state,omitempty"`
	States  map[string][]TestObject `json:"states,omitempty"`
	Planned []string                `json:"planned,omitempty"`
}

// TestStatus is the outcome of a file or a run.
type TestStatus struct {
	Path   string `json:"path"`
	Run    string `json:"run,omitempty"`
	Status string `json:"status"`
}

// TestCleanup lists the objects that could not be destroyed.
type TestCleanup struct {
	Failed []TestObject `json:"failed_resources"`
}

// TestObject is the address of an object.
type TestObject struct {
	Instance string `json:"instance"`
	Deposed  string `json:"deposed_key,omitempty"`
}

// TestSummary counts runs.
type TestSummary struct {
	Status  string `json:"status"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Errored int    `json:"errored"`
	Skipped int    `json:"skipped"`
}
