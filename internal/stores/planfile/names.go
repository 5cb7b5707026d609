package planfile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// modes has the names of the plan modes, by value.
var modes = [...]string{plan.Normal: "normal", plan.Destroy: "destroy", plan.RefreshOnly: "refresh-only"}

// actions has all actions, by value.
var actions = [...]plan.Action{
	plan.NoOp, plan.Create, plan.Read, plan.Update, plan.Delete, plan.DeleteThenCreate, plan.CreateThenDelete, plan.Forget,
	plan.ForgetThenCreate,
}

// actionsByName is the inverse of Action.String.
var actionsByName = func() map[string]plan.Action {
	byName := make(map[string]plan.Action, len(actions))
	for _, a := range actions {
		byName[a.String()] = a
	}
	return byName
}()

// resourceModes has the resource modes by their names.
var resourceModes = map[string]addr.Mode{
	addr.Managed.String(): addr.Managed, addr.Data.String(): addr.Data, addr.Ephemeral.String(): addr.Ephemeral,
	addr.Action.String(): addr.Action,
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
