package simprovider

import (
	"context"
	"net"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// InMemory serves a provider within this process. It returns functions to connect to it and to end it.
func InMemory(provider tfprotov6.ProviderServer) (dial func(context.Context) (net.Conn, error), stop func()) {
	server := grpc.NewServer()
	plug := &tf6server.GRPCProviderPlugin{GRPCProvider: func() tfprotov6.ProviderServer { return provider }, Name: simcloud.Source}
	_ = plug.GRPCServer(nil, server) // only ever fails to make a server, which was made
	listener := bufconn.Listen(1 << 20)
	go func() { _ = server.Serve(listener) }() // returns when the server is stopped
	return listener.DialContext, server.Stop
}
