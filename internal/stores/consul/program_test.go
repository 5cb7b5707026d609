//go:build !mayfly_no_consul

package consul_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/consul"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// program starts Consul as a single server and returns its address.
func program(t *testing.T) string {
	t.Helper()
	address := storetest.StartProgram(t, "consul", "see developer.hashicorp.com/consul/install", func(host, port string) []string {
		return []string{
			"agent", "-dev", "-bind", host, "-http-port", port, "-server-port", storetest.FreePort(t), "-serf-lan-port", storetest.FreePort(t),
			"-serf-wan-port", storetest.FreePort(t), "-dns-port", "-1", "-grpc-port", "-1", "-disable-host-node-id",
			"-hcl", "limits { http_max_conns_per_client = 10000 }", // the suites are many clients in one process
		}
	})
	for range 300 { // it serves before it has elected itself
		resp, err := http.Get("http://" + address + "/v1/status/leader")
		if err == nil {
			leader, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if len(leader) > len(`""`) {
				return address
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("Consul has no leader")
	return ""
}

// TestProgram runs the suites against Consul itself.
func TestProgram(t *testing.T) {
	address := program(t)
	request := func(method, key string, body []byte) ([]byte, error) {
		at := url.URL{Scheme: "http", Host: address, Path: "/v1/kv/" + key, RawQuery: "raw"}
		r, err := http.NewRequestWithContext(t.Context(), method, at.String(), bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusNotFound {
			return nil, nil
		}
		return io.ReadAll(resp.Body)
	}
	var n atomic.Int32
	storetest.Run(t, func(*testing.T) storetest.Harness {
		place := fmt.Sprint("app", n.Add(1), "/state")
		key := func(workspace string) string {
			return place + strings.TrimSuffix("-env:"+workspace, "-env:"+store.DefaultWorkspace)
		}
		return storetest.Harness{
			Open: func() store.Store { return open(t, address, consul.Options{Path: place}) },
			Corrupt: func(workspace string, data []byte) error {
				_, err := request(http.MethodPut, key(workspace), data)
				return err
			},
			Stored: func(workspace string) ([]byte, error) { return request(http.MethodGet, key(workspace), nil) },
		}
	})
	t.Run("cuts", func(t *testing.T) {
		storetest.RunCuts(t, storetest.Remote{
			Server: func(*testing.T, string) string { return address },
			Open: func(t *testing.T, place, address string) store.Store {
				return open(t, address, consul.Options{Path: "cuts/" + place})
			},
		})
	})
}

// TestProgramRaces lets two processes race for a state in Consul itself.
func TestProgramRaces(t *testing.T) {
	storetest.RunRaces(t, program, func(t *testing.T, address string) store.Store { return open(t, address, consul.Options{}) })
}
