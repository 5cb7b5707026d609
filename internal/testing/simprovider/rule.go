package simprovider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// Rule is one misbehavior: the calls that it affects, and the deed. The package documentation lists the
// deeds.
type Rule struct {
	RPC  string `json:"rpc"`            // protocol 6 name of the method, or Start for the time before the handshake
	Type string `json:"type,omitempty"` // "" matches every type
	Name string `json:"name,omitempty"` // the object's name attribute; "" matches every name
	Nth  int    `json:"nth,omitempty"`  // only the nth call that the fields above match in this process, from 1; 0 matches every one
	// Shared makes Nth count the calls to all processes with the same cloud and rules, such as the planning
	// calls of a plan and a later apply.
	Shared bool `json:"shared,omitempty"`
	// Action restricts plan and apply to create, update or delete.
	Action string `json:"action,omitempty"`

	Do    string          `json:"do"`
	When  string          `json:"when,omitempty"`  // exit, panic: before (the work), during (after the work, before the answer: default), after (the answer)
	Attr  string          `json:"attr,omitempty"`  // attribute path, steps joined by dots: "rule.0.rule_id"; default: the first that fits the deed
	Value json.RawMessage `json:"value,omitempty"` // the value to put there, as JSON of the attribute's type; default: a recognisable one
	Text  string          `json:"text,omitempty"`  // message of an error, lines for stderr
	MS    int             `json:"ms,omitempty"`    // milliseconds, for deeds that take time
	Size  int             `json:"size,omitempty"`  // bytes, for huge
	Code  int             `json:"code,omitempty"`  // exit status
}

// rpcs are the methods that a rule can affect.
var rpcs = []string{
	"Start", "GetMetadata", "GetProviderSchema", "GetResourceIdentitySchemas", "ValidateProviderConfig", "ConfigureProvider", "StopProvider",
	"ValidateResourceConfig", "UpgradeResourceState", "UpgradeResourceIdentity", "ReadResource", "PlanResourceChange", "ApplyResourceChange",
	"ImportResourceState", "MoveResourceState", "GenerateResourceConfig", "ValidateDataResourceConfig", "ReadDataSource", "GetFunctions",
	"CallFunction", "ValidateEphemeralResourceConfig", "OpenEphemeralResource", "RenewEphemeralResource", "CloseEphemeralResource",
	"ValidateListResourceConfig", "ListResource", "ValidateActionConfig", "PlanAction", "InvokeAction",
}

// storeRPCs are the methods about states, of protocol 6 only, that a rule can affect.
var storeRPCs = []string{
	"ValidateStateStoreConfig", "ConfigureStateStore", "ReadStateBytes", "WriteStateBytes", "GetStates", "DeleteState", "LockState", "UnlockState",
}

// The deeds that affect the call as a whole; deeds that change a response are in the table alterations.
const (
	doError       = "error"
	doRPCError    = "rpc-error"
	doUnimpl      = "unimplemented"
	doDelay       = "delay"
	doHang        = "hang"
	doHangStop    = "hang-until-stop"
	doAnswerLate  = "answer-late"
	doExit        = "exit"
	doPanic       = "panic"
	doStderr      = "stderr"
	doGarbageOut  = "garbage-stdout"
	doWrongProto  = "wrong-protocol"
	whenBefore    = "before"
	whenDuring    = "during"
	whenAfter     = "after"
	startRPC      = "Start"
	hangForever   = 24 * time.Hour
	lateByDefault = 50 * time.Millisecond
)

var wholeCallDeeds = []string{
	doError, doRPCError, doUnimpl, doDelay, doHang, doHangStop, doAnswerLate, doExit, doPanic, doStderr,
}

var startDeeds = []string{doGarbageOut, doWrongProto, doHang, doDelay, doExit, doPanic, doStderr}

// ParseRules reads rules in JSON and refuses those that could never apply: with an unknown method, deed or
// field.
func ParseRules(text []byte) ([]Rule, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var rules []Rule
	if err := dec.Decode(&rules); err != nil {
		return nil, fmt.Errorf("misbehaviour rules: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("misbehaviour rules: something follows the list of rules")
	}
	_, err := newRuleSet(rules, nil)
	return rules, err
}

// ruleSet counts the matching calls of each rule.
type ruleSet struct {
	mu    sync.Mutex
	rules []Rule
	seen  []int
	cloud *cloud // keeps the shared counts
}

func newRuleSet(rules []Rule, cl *cloud) (*ruleSet, error) {
	for i, r := range rules {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("misbehaviour rule %d: %w", i+1, err)
		}
	}
	return &ruleSet{rules: rules, seen: make([]int, len(rules)), cloud: cl}, nil
}

func (r Rule) check() error {
	if !slices.Contains(rpcs, r.RPC) && !slices.Contains(storeRPCs, r.RPC) {
		return fmt.Errorf("rpc %q is none of %q", r.RPC, rpcs)
	}
	_, alters := alterations[r.Do]
	known := alters || slices.Contains(wholeCallDeeds, r.Do)
	if r.RPC == startRPC {
		known = slices.Contains(startDeeds, r.Do)
	}
	if !known {
		return fmt.Errorf("%q cannot be done in %s", r.Do, r.RPC)
	}
	if !slices.Contains([]string{"", whenBefore, whenDuring, whenAfter}, r.When) {
		return fmt.Errorf("when is %q; it must be before, during or after", r.When)
	}
	if r.When != "" && r.Do != doExit && r.Do != doPanic {
		return fmt.Errorf("when has no meaning for %q", r.Do)
	}
	return nil
}

// match counts the call for every matching rule and returns those that apply, in the order of the file.
func (s *ruleSet) match(e simlog.Entry) ([]Rule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Rule
	for i, r := range s.rules {
		fits := r.RPC == e.RPC && (r.Type == "" || r.Type == e.Type) && (r.Name == "" || r.Name == e.Name) &&
			(r.Action == "" || r.Action == e.Action)
		if !fits {
			continue
		}
		s.seen[i]++
		if r.Shared {
			n, err := s.cloud.count(fmt.Sprintf("rule-%d", i))
			if err != nil {
				return nil, fmt.Errorf("counting the calls of misbehaviour rule %d: %w", i+1, err)
			}
			s.seen[i] = int(n)
		}
		if r.Nth == 0 || r.Nth == s.seen[i] {
			out = append(out, r)
		}
	}
	return out, nil
}

func (r Rule) pause(otherwise time.Duration) time.Duration {
	if r.MS > 0 {
		return time.Duration(r.MS) * time.Millisecond
	}
	return otherwise
}

func (r Rule) message(otherwise string) string {
	if r.Text != "" {
		return r.Text
	}
	return otherwise
}

// when returns the moment of a crash.
func (r Rule) when() string {
	if r.When == "" {
		return whenDuring
	}
	return r.When
}

// guard runs the work between the deeds that come before it and those between it and its response.
func guard[R any](ctx context.Context, c *core, rules []Rule, finish func(*R, error), work func(context.Context) (*R, error)) (*R, error) {
	crash := func(r Rule) error {
		err := fmt.Errorf("the provider crashes on purpose: %s %s the work", r.Do, r.when())
		finish(nil, err)
		c.crash(r)
		return err
	}
	var late []Rule
	for _, r := range rules {
		switch {
		case (r.Do == doExit || r.Do == doPanic) && r.when() == whenBefore:
			return nil, crash(r)
		case r.Do == doAnswerLate:
			late = append(late, r)
		default:
			if err := r.before(ctx); err != nil {
				return nil, err
			}
		}
	}
	if len(late) > 0 {
		<-ctx.Done()
		time.Sleep(late[0].pause(lateByDefault))
		ctx = context.WithoutCancel(ctx)
	}
	resp, err := work(ctx)
	for _, r := range rules {
		if (r.Do == doExit || r.Do == doPanic) && r.when() == whenDuring {
			return nil, crash(r)
		}
	}
	return resp, err
}

// before carries out a deed that delays or replaces the work. An error is returned in place of the
// response.
func (r Rule) before(ctx context.Context) error {
	switch r.Do {
	case doRPCError:
		return status.Error(codes.Unknown, r.message("the simulated provider refuses the call"))
	case doUnimpl:
		return status.Error(codes.Unimplemented, r.message("the simulated provider does not implement the method"))
	case doDelay:
		time.Sleep(r.pause(lateByDefault))
	case doHang:
		time.Sleep(r.pause(hangForever))
	case doHangStop:
		<-ctx.Done()
		return status.Error(codes.Canceled, "the call hung until it was cancelled")
	case doStderr:
		fmt.Fprintln(realStderr, r.message("a line on the provider's standard error"))
	}
	return nil
}

// realStderr is the process's standard error: the plugin library replaces os.Stderr when it serves.
var realStderr = os.Stderr

// crash ends the process; it returns only if Options.Exit does.
func (c *core) crash(r Rule) {
	if r.Text != "" {
		fmt.Fprintln(realStderr, r.Text)
	}
	if r.Do == doPanic {
		panic(r.message("the simulated provider panics on purpose"))
	}
	code := cmp.Or(r.Code, 3)
	c.exit(code)
}

// afterAnswer carries out the crashes that follow the response, once the transport has had time to send it.
func (c *core) afterAnswer(rules []Rule) {
	for _, r := range rules {
		if (r.Do == doExit || r.Do == doPanic) && r.when() == whenAfter {
			time.AfterFunc(r.pause(lateByDefault), func() { c.crash(r) })
		}
	}
}
