package plugin

import (
	"math"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/mayfly-iac/mayfly/internal/provider"
)

// connectInMemory returns a provider that is served in this process: register adds its service to a server.
func connectInMemory(register func(*grpc.Server), protocol int) provider.Provider {
	server := grpc.NewServer(grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32))
	register(server)
	listener := bufconn.Listen(1 << 20)
	go func() { _ = server.Serve(listener) }() // returns when the server is stopped
	return Connect(fakeName, protocol, listener.DialContext, server.Stop)
}
