package suite

import (
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/inmem"
)

// Keeper keeps the states of runs.
type Keeper interface {
	// State returns a new state for a run of a file, and those that share it.
	State(file string, run *config.TestRun) (store.Manager, error)
	// Done is called when everything in a state has been destroyed.
	Done(store.Manager)
}

// inMemory is a Keeper that leaves nothing behind.
type inMemory struct{}

// State implements Keeper.
func (inMemory) State(string, *config.TestRun) (store.Manager, error) {
	return inmem.New().Manager(store.DefaultWorkspace)
}

// Done implements Keeper.
func (inMemory) Done(store.Manager) {}
