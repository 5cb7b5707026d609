package cloud

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace/requests"
)

// Keys are credentials that requests are signed with.
type Keys struct {
	ID, Secret string
	Token      string    // of temporary ones; "" for none
	Until      time.Time // when they expire; the zero value for never
}

// Source returns keys. It is safe for concurrent use.
type Source func(ctx context.Context) (Keys, error)

// Static returns a source of keys that do not change.
func Static(k Keys) Source { return func(context.Context) (Keys, error) { return k, nil } }

// renewal is how long before their end keys are renewed.
const renewal = 5 * time.Minute

// Renewed returns a source of the keys of another one, which it asks again shortly before they expire.
// Requests for keys that come meanwhile wait.
func Renewed(source Source) Source {
	var mu sync.Mutex
	var last Keys
	return func(ctx context.Context) (Keys, error) {
		mu.Lock()
		defer mu.Unlock()
		if last.ID != "" && (last.Until.IsZero() || time.Until(last.Until) > renewal) {
			return last, nil
		}
		k, err := source(ctx)
		if err != nil {
			return Keys{}, err
		}
		last = k
		return k, nil
	}
}

// Client returns a client for requests to services, which follows no redirects: a signature or a token is
// for one server. The transport may be nil for the usual one.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: requests.Noted(transport), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
