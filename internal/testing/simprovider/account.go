package simprovider

import (
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// typeAccount has a password that its reads compare with the state instead of returning it, as databases do
// that keep a hash, and a token that only its creation returns.
const typeAccount = "sim_account"

func accountSchema() *tfprotov6.Schema {
	return plainResource(
		attr("password", tftypes.String, optional, sensitive), attr("note", tftypes.String, optional),
		attr("strict", tftypes.String, optional), attr("rotate", tftypes.String, optional),
		attr("token", tftypes.String, computed, sensitive), attr("serial", tftypes.Number, computed),
	)
}

// readAccount returns the answer of a read, made of the state and the cloud. A right password in the state is
// left there; in place of a wrong one, the answer has a hash of the real one. strict decides about a state
// without the password.
func readAccount(state, cloud object) (object, error) {
	cloud["token"] = state["token"]
	real := cloud["password"]
	cloud["password"] = state["password"]
	switch {
	case !isKnownNonNull(real):
		cloud["password"] = real
	case !isKnownNonNull(state["password"]):
		switch state.text("strict") {
		case "gone":
			return nil, nil
		case "error":
			return nil, errors.New("the state has no password")
		case "other":
			cloud["password"] = str("hash:" + simlog.Hash(textOf(real)))
		}
	case state.text("password") != textOf(real):
		cloud["password"] = str("hash:" + simlog.Hash(textOf(real)))
	}
	return cloud, nil
}

// planAccount has the plan make a new token if rotate changes, and none in other updates.
func planAccount(prior, next object) object {
	if prior != nil && prior["rotate"].Equal(next["rotate"]) {
		next["token"] = prior["token"]
		return next
	}
	next["token"] = unknown(tftypes.String)
	return next
}

// replacesAccount reports whether a change replaces the account: one of the password, if strict says so, and
// only if the state has the earlier one.
func replacesAccount(prior, planned object) bool {
	return prior.text("strict") == "replace" && isKnownNonNull(prior["password"]) && !prior["password"].Equal(planned["password"])
}

// deleteAccount refuses to delete without the password, if strict says so.
func deleteAccount(prior object) error {
	if prior.text("strict") == "delete" && !isKnownNonNull(prior["password"]) {
		return fmt.Errorf("%s cannot be deleted without its password", prior.text("name"))
	}
	return nil
}
