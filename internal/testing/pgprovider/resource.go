package pgprovider

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/lib/pq"
)

// ValidateResourceConfig accepts each configuration that is as the schema says.
func (p *provider) ValidateResourceConfig(context.Context, *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return &tfprotov6.ValidateResourceConfigResponse{}, nil
}

// UpgradeResourceState returns the state as it is: there is one version of each schema.
func (p *provider) UpgradeResourceState(_ context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	typ := kinds[req.TypeName].schema.ValueType()
	value, err := req.RawState.Unmarshal(typ)
	if err != nil {
		return nil, err
	}
	state, err := tfprotov6.NewDynamicValue(typ, value)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &state}, err
}

// ReadResource returns the object as the server has it, and null if it has none.
func (p *provider) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	k := kinds[req.TypeName]
	state, err := decode(req.CurrentState, k.schema)
	if err == nil {
		state, err = p.read(ctx, k, state)
	}
	if err != nil {
		return &tfprotov6.ReadResourceResponse{Diagnostics: failure("The object cannot be read", err)}, nil
	}
	out, err := encode(state, k.schema)
	return &tfprotov6.ReadResourceResponse{NewState: out}, err
}

func (p *provider) read(ctx context.Context, k *kind, state object) (object, error) {
	columns := make([]string, len(k.columns))
	var to []any
	for i := range columns {
		to = append(to, &columns[i])
	}
	err := p.connected(func(db *sql.DB) error {
		return db.QueryRowContext(ctx, k.read, state.text("name")).Scan(to...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i, name := range k.columns {
		state[name] = tftypes.NewValue(tftypes.String, columns[i])
		if name == "oid" {
			n, ok := new(big.Float).SetString(columns[i])
			if !ok {
				return nil, fmt.Errorf("the object identifier is %q", columns[i])
			}
			state[name] = tftypes.NewValue(tftypes.Number, n)
		}
	}
	return state, nil
}

// connected calls the function with a connection of its own, which is closed then: no database can be dropped
// while one is open.
func (p *provider) connected(do func(*sql.DB) error) error {
	p.mu.Lock()
	connector := p.connector
	p.mu.Unlock()
	if connector == nil {
		return errors.New("the settings of the server are not known yet")
	}
	db := sql.OpenDB(connector)
	return errors.Join(do(db), db.Close())
}

// PlanResourceChange plans the proposed state. Computed attributes of a new object are unknown.
func (p *provider) PlanResourceChange(_ context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	k := kinds[req.TypeName]
	prior, err := decode(req.PriorState, k.schema)
	if err != nil {
		return nil, err
	}
	planned, err := decode(req.ProposedNewState, k.schema)
	if err != nil {
		return nil, err
	}
	resp := &tfprotov6.PlanResourceChangeResponse{PlannedState: req.ProposedNewState}
	if planned == nil {
		return resp, nil
	}
	for _, a := range k.schema.Block.Attributes {
		switch {
		case a.WriteOnly:
			planned[a.Name] = tftypes.NewValue(a.Type, nil)
		case prior == nil && a.Computed:
			planned[a.Name] = tftypes.NewValue(a.Type, tftypes.UnknownValue)
		case prior != nil && a.Required && !planned[a.Name].Equal(prior[a.Name]):
			resp.RequiresReplace = append(resp.RequiresReplace, tftypes.NewAttributePath().WithAttributeName(a.Name))
		}
	}
	resp.PlannedState, err = encode(planned, k.schema)
	return resp, err
}

// ApplyResourceChange makes, changes or removes the object.
func (p *provider) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	k := kinds[req.TypeName]
	prior, err := decode(req.PriorState, k.schema)
	if err != nil {
		return nil, err
	}
	planned, err := decode(req.PlannedState, k.schema)
	if err != nil {
		return nil, err
	}
	config, err := decode(req.Config, k.schema)
	if err != nil {
		return nil, err
	}
	state, err := p.apply(ctx, k, prior, planned, config)
	if err != nil {
		return &tfprotov6.ApplyResourceChangeResponse{NewState: req.PriorState, Diagnostics: failure("The object cannot be changed", err)}, nil
	}
	out, err := encode(state, k.schema)
	return &tfprotov6.ApplyResourceChangeResponse{NewState: out}, err
}

func (p *provider) apply(ctx context.Context, k *kind, prior, planned, config object) (object, error) {
	statement, err := k.remove+" "+pq.QuoteIdentifier(prior.text("name")), error(nil)
	switch {
	case prior == nil:
		statement, err = k.create(planned, config)
	case planned != nil:
		statement, err = k.update(planned, config)
	}
	if err != nil {
		return nil, err
	}
	err = p.connected(func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, statement)
		return err
	})
	if err != nil || planned == nil {
		return nil, err
	}
	return p.read(ctx, k, planned)
}
