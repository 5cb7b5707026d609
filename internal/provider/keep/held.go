package keep

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// held is an open ephemeral resource that this process holds.
type held interface {
	// renew keeps it open, and returns when to do that again.
	renew(ctx context.Context, now time.Time) (next time.Time, err error)
	// close ends it. It is called once.
	close(ctx context.Context) error
}

// heldPrivate is the private data by which a held resource is found.
type heldPrivate struct {
	ID string `json:"held_id"`
}

// hold keeps h until it is closed, and fills in how to find it.
func (p *keepProvider) hold(h held, resp *provider.OpenResponse, renewAt time.Time) diag.List {
	id := rand.Text()
	private, err := json.Marshal(heldPrivate{id})
	if err != nil {
		return explain(err)
	}
	resp.Private, resp.RenewAt = private, renewAt
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holding == nil {
		p.holding = map[string]held{}
	}
	p.holding[id] = h
	return nil
}

// heldBy returns the instance that private data identify. If drop is true, it is not held any more.
func (p *keepProvider) heldBy(private []byte, drop bool) (held, diag.List) {
	var data heldPrivate
	_ = json.Unmarshal(private, &data) // then the ID is empty, and unknown
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holding[data.ID]
	if h == nil {
		return nil, diag.Errorf("Ephemeral resource not identified", "The private data of this ephemeral resource name nothing that the provider holds open. This is an error of the program that runs the provider.")
	}
	if drop {
		delete(p.holding, data.ID)
	}
	return h, nil
}

// abandon closes the instances still held, as far as that takes no time: the provider's process is about to
// end.
func (p *keepProvider) abandon() {
	p.mu.Lock()
	left := p.holding
	p.holding = nil
	p.mu.Unlock()
	for _, h := range left {
		if t, ok := h.(*heldTunnel); ok {
			_ = t.close(context.Background())
		}
	}
}
