package simprovider

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-mux/tf6to5server"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// Options configure a server. The zero value is a well-behaved provider with a temporary cloud and no
// transcript.
type Options struct {
	Dir    string // the cloud
	Log    string // the transcript
	Rules  []Rule // the misbehaviours
	Schema string // the schema variant

	// Lenient permits the use of dead leases and closing in the wrong order, for comparison with engines
	// that do so.
	Lenient bool
	// Clock returns the monotonic nanoseconds of the transcript; nil means the wall clock, which is virtual
	// in a synctest bubble.
	Clock func() int64
	// PID is the process ID in the transcript; 0 means this process.
	PID int
	// Exit ends the process for the rules that crash it; nil means os.Exit. If Exit returns, the call
	// continues with an error.
	Exit func(code int)
}

// FromEnv reads the options from the environment.
func FromEnv() (Options, error) {
	o := Options{Dir: os.Getenv(simcloud.EnvDir), Log: os.Getenv(simcloud.EnvLog), Schema: os.Getenv(simcloud.EnvSchema), Lenient: os.Getenv(simcloud.EnvLenient) != ""}
	path := os.Getenv(simcloud.EnvMisbehave)
	if path == "" {
		return o, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return o, fmt.Errorf("reading the misbehaviour rules: %w", err)
	}
	o.Rules, err = ParseRules(text)
	return o, err
}

// New6 returns a protocol 6 server for in-process use. Each server is one provider instance: it is
// configured once.
func New6(o Options) (tfprotov6.ProviderServer, error) {
	c, err := newCore(o, 6)
	if err != nil {
		return nil, err
	}
	return upgraded(c), nil
}

// New5 returns a protocol 5 server, the same provider without nested attributes.
func New5(o Options) (tfprotov5.ProviderServer, error) {
	c, err := newCore(o, 5)
	if err != nil {
		return nil, err
	}
	return downgraded(o, c)
}

// server5 is a core in protocol 5.
type server5 struct {
	tfprotov5.ProviderServer
	core *core
}

// downgraded serves a core in protocol 5. The adapter asks one server for its schemas and calls another: the
// first has neither a transcript nor rules.
func downgraded(o Options, c *core) (tfprotov5.ProviderServer, error) {
	first, err := newCore(Options{Dir: o.Dir, Schema: o.Schema}, 5)
	if err != nil {
		return nil, err
	}
	servers := []tfprotov6.ProviderServer{first, c}
	adapter, err := tf6to5server.DowngradeServer(context.Background(), func() tfprotov6.ProviderServer {
		next := servers[0]
		servers = servers[1:]
		return next
	})
	return server5{adapter, c}, err
}

// GetProviderSchema adds the capabilities that the adapter leaves out.
func (s server5) GetProviderSchema(ctx context.Context, req *tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	resp, err := s.ProviderServer.GetProviderSchema(ctx, req)
	if err == nil {
		resp.ServerCapabilities = (*tfprotov5.ServerCapabilities)(s.core.capabilities())
	}
	return resp, err
}

// newServer6 returns a protocol 6 server configured by the environment. It panics if the environment is
// invalid: a test must not run with a provider other than the one it describes.
func newServer6() tfprotov6.ProviderServer { return must(fromEnv(New6)) }

// newServer5 is newServer6 for protocol 5.
func newServer5() tfprotov5.ProviderServer { return must(fromEnv(New5)) }

func fromEnv[S any](make func(Options) (S, error)) (S, error) {
	o, err := FromEnv()
	if err != nil {
		var none S
		return none, err
	}
	return make(o)
}

func must[S any](s S, err error) S {
	if err != nil {
		panic(fmt.Sprintf("simprovider: %s", err))
	}
	return s
}

func newCore(o Options, protocol int) (*core, error) {
	if o.Schema != "" && !slices.Contains(variants, o.Schema) {
		return nil, fmt.Errorf("%s is %q; it must be one of %q", simcloud.EnvSchema, o.Schema, variants)
	}
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "sim-cloud-*")
		if err != nil {
			return nil, err
		}
		o.Dir = dir
	}
	if o.Clock == nil {
		o.Clock = func() int64 { return time.Now().UnixNano() }
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	if o.Exit == nil {
		o.Exit = os.Exit
	}
	cl, err := newCloud(o.Dir)
	if err != nil {
		return nil, err
	}
	rules, err := newRuleSet(o.Rules, cl)
	if err != nil {
		return nil, err
	}
	cl.lenient = o.Lenient
	rec, err := newRecorder(o.Log, o.Clock, o.PID)
	if err != nil {
		return nil, err
	}
	c := &core{
		variant: o.Schema, rules: rules, cloud: cl, rec: rec, exit: o.Exit,
		running:   runningCalls{cancel: map[int]context.CancelCauseFunc{}},
		provider:  providerSchema(o.Schema),
		resources: resourceSchemas(o.Schema, protocol),
	}
	c.dataSources, c.ephemerals = &dataSources{c, dataSchemas(o.Schema)}, &ephemerals{c, ephemeralSchemas(o.Schema)}
	c.lists, c.actions = &lists{c, listSchemas()}, &actions{c, actionSchemas()}
	if protocol >= 6 {
		c.stores = stateStoreSchemas()
	}
	return c, nil
}
