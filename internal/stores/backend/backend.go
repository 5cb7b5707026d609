// Package backend describes kinds of backends, and state stores of providers: the arguments of the block,
// the environment variables that stand in for them, and how a configuration opens a store. Everything else,
// such as recording a backend, moving states from one to another and reading states of others, works on the
// value of its configuration.
//
// Each store declares its kind; package kinds lists them. A kind is declared by its arguments even if a build
// tag such as mayfly_no_http leaves its client out of the program, so that a block is checked by them.
//
// It may import store, remote, schema, value, leak and diag. It must not know any store, the working
// directory, providers or plans.
package backend

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Names of kinds.
const (
	// Local is the name of the kind that keeps the states of a configuration without a backend block.
	Local = "local"
	// Cloud is the name of the kind that a cloud block stands for.
	Cloud = "cloud"
)

// Kind is one kind of backend. It is immutable and safe for concurrent use.
type Kind struct {
	Name string
	// Block has the arguments. In the value of a configuration, an absent one is null, and so is an empty
	// text. Complete requires the ones marked Required: a block may leave them to the environment or to
	// init.
	Block *schema.Block
	// env has the environment variables that stand in for an argument, in order of falling precedence.
	env map[string][]string
	// where has the names of the arguments that say where states are.
	where []string
	// solid has the names of the arguments that cannot be empty texts.
	solid   []string
	service Service
	// Provided is set for a state store of a provider.
	Provided *Provided
}

// Service opens a kind of backend. The zero value is for a kind that this program cannot open.
type Service struct {
	// Open opens the store. The configuration has been completed, and has no marks.
	Open func(ctx context.Context, cfg Config, env Env) (store.Store, error)
	// Connect returns the service. A store in a service has it in place of Open.
	Connect func(ctx context.Context, cfg Config, env Env) (remote.Service, error)
	// Place says for a message where the state of the default workspace is, without credentials.
	Place func(cfg Config) string
	// PlaceIn is Place for another workspace; nil if Place says it all beside the name of the workspace.
	PlaceIn func(cfg Config, workspace string) string
	// Identity returns a text that is the same for configurations that keep states in the same places,
	// however they write it. It has no credentials. Without it, the arguments that say where states are
	// are compared.
	Identity func(cfg Config) string
	// Workspaces reports whether a configuration has room for workspaces other than the default one; nil
	// for one that always has.
	Workspaces func(cfg Config) bool
	// Only returns the name of the only workspace of a configuration, where that is not the default one; ""
	// otherwise. It is nil for a kind without such configurations.
	Only func(cfg Config) string
}

// LeftOut is embedded in types whose method Service is in a file that a build tag may leave out of the
// program: that method hides this one.
type LeftOut struct{}

// Service returns nothing.
func (LeftOut) Service() Service { return Service{} }

// Env is the environment in which a store is opened.
type Env struct {
	Files   StateFiles               // for the local backend; others have no use for them
	Cipher  store.Cipher             // that encrypts stored data; nil for none
	Lookup  func(name string) string // the value of an environment variable; "" if it is not set
	Version string                   // of the program, for the states of new workspaces
	Dir     string                   // that relative paths start from; "" for the working directory
	// Host finds a service of a host by the user's settings; nil if hosts cannot be asked.
	Host func(ctx context.Context, host, service string) (HostService, error)
	// JournalDir is a directory of this machine, created when needed, for the journals of services that have
	// no room for them.
	JournalDir string
	// Place says for messages where the states are, for a state store of a provider.
	Place string
}

// HostService is how a service of a host is reached, as services are discovered by the hosts' names.
type HostService struct {
	Address   *url.URL
	Token     string            // of the user for the host; "" for none
	Transport http.RoundTripper // refuses to send tokens unencrypted
}

// StateFiles name files that replace the files of the local backend, for whatever workspace.
type StateFiles struct {
	State  string // to read; if it is empty, the state of the workspace
	Out    string // to write; the one that is read if empty
	Backup string // for the previous state; the one that is written with ".backup" if empty, none if "-"
	Stamp  string // if not empty, stands in the usual name of the backup, so that it replaces no other
}

// Usable returns the names of the kinds of a table that can be opened, in order.
func Usable(table map[string]*Kind) []string {
	var names []string
	for name, k := range table {
		if k.Usable() && name != Cloud { // which has a block of its own
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Usable reports whether this program can open stores of the kind.
func (k *Kind) Usable() bool { return k.service.Open != nil || k.service.Connect != nil }

// String names the kind within a sentence.
func (k *Kind) String() string {
	if k.Provided != nil {
		return k.Provided.String()
	}
	return fmt.Sprintf("backend %q", k.Name)
}

// Open opens the store of a configuration, which Complete has completed. Errors name arguments and have none
// of their values.
func (k *Kind) Open(ctx context.Context, cfg cty.Value, env Env) (store.Store, error) {
	if !k.Usable() {
		return nil, fmt.Errorf("the %s cannot be used by this version of Mayfly", k)
	}
	if env.Lookup == nil {
		env.Lookup = func(string) string { return "" }
	}
	if k.Provided != nil {
		env = k.Provided.env(cfg, env)
	}
	cfg, _ = cfg.UnmarkDeep()
	if k.service.Open != nil {
		return k.service.Open(ctx, Config{cfg}, env)
	}
	s, err := k.service.Connect(ctx, Config{cfg}, env)
	if err != nil {
		return nil, err
	}
	return remote.New(s, remote.Options{Cipher: env.Cipher, JournalDir: env.JournalDir, Version: env.Version}), nil
}

// Place says for a message where the state of the default workspace is. The configuration need not be
// complete.
func (k *Kind) Place(cfg cty.Value) string {
	switch {
	case k.Provided != nil:
		return k.Provided.placeOf(cfg)
	case k.service.Place == nil:
		return "the " + k.String()
	}
	cfg, _ = cfg.UnmarkDeep()
	return k.service.Place(Config{cfg})
}

// PlaceIn is Place for a workspace, whose name is shown beside it.
func (k *Kind) PlaceIn(cfg cty.Value, workspace string) string {
	if k.service.PlaceIn == nil || workspace == store.DefaultWorkspace {
		return k.Place(cfg)
	}
	cfg, _ = cfg.UnmarkDeep()
	return k.service.PlaceIn(Config{cfg}, workspace)
}

// Identity returns a text that is the same for configurations that keep states in the same places. The
// configuration need not be complete.
func (k *Kind) Identity(cfg cty.Value) string {
	if k.Provided != nil {
		return k.Provided.identity(cfg)
	}
	cfg, _ = cfg.UnmarkDeep()
	if k.service.Identity == nil {
		var sb strings.Builder
		for _, name := range k.where {
			fmt.Fprintf(&sb, "%s=%#v\n", name, cfg.GetAttr(name))
		}
		return sb.String()
	}
	return k.service.Identity(Config{cfg})
}

// Workspaces reports whether a configuration has room for workspaces other than the default one.
func (k *Kind) Workspaces(cfg cty.Value) bool {
	cfg, _ = cfg.UnmarkDeep()
	return k.service.Workspaces == nil || k.service.Workspaces(Config{cfg})
}

// Only returns the name of the only workspace of a configuration, if that is not the default one; ""
// otherwise. The store knows it as the default one too.
func (k *Kind) Only(cfg cty.Value) string {
	if k.service.Only == nil {
		return ""
	}
	cfg, _ = cfg.UnmarkDeep()
	return k.service.Only(Config{cfg})
}
