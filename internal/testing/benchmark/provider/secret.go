package provider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// opening is the private data that Close needs.
type opening struct {
	At     time.Time
	Millis int64
}

// ValidateEphemeralResourceConfig implements tfprotov6.EphemeralResourceServer: whatever the schema allows is
// valid.
func (*bench) ValidateEphemeralResourceConfig(context.Context, *tfprotov6.ValidateEphemeralResourceConfigRequest) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	return &tfprotov6.ValidateEphemeralResourceConfigResponse{}, nil
}

// OpenEphemeralResource implements tfprotov6.EphemeralResourceServer.
func (*bench) OpenEphemeralResource(_ context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	o, err := decode(secretSchema, req.Config)
	if err != nil {
		return nil, err
	}
	o.pause(pauseOpen)
	private, err := json.Marshal(opening{time.Now(), o.millis()})
	if err != nil {
		return nil, err
	}
	result, err := encode(secretSchema, o.with("value", tftypes.NewValue(tftypes.String, "value of "+o.text("name"))))
	return &tfprotov6.OpenEphemeralResourceResponse{Result: result, Private: private}, err
}

// RenewEphemeralResource implements tfprotov6.EphemeralResourceServer: nothing expires.
func (*bench) RenewEphemeralResource(_ context.Context, req *tfprotov6.RenewEphemeralResourceRequest) (*tfprotov6.RenewEphemeralResourceResponse, error) {
	return &tfprotov6.RenewEphemeralResourceResponse{Private: req.Private}, nil
}

// CloseEphemeralResource implements tfprotov6.EphemeralResourceServer.
func (b *bench) CloseEphemeralResource(_ context.Context, req *tfprotov6.CloseEphemeralResourceRequest) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	var o opening
	if err := json.Unmarshal(req.Private, &o); err != nil {
		return nil, err
	}
	b.counts.closed(time.Since(o.At))
	pause(pauseClose, o.Millis)
	return &tfprotov6.CloseEphemeralResourceResponse{}, nil
}
