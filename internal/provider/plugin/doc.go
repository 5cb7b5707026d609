// Package plugin is the client of provider plugins: it starts their processes, negotiates the protocol
// version (5 or 6) and carries the operations of package provider over gRPC.
//
// Start reading at [Start] (or [Reattach], [Connect]), which return a client. The operations are in
// resource.go, ephemeral.go and function.go, each written as an exchange: encode, call, decode. After the
// first failure, the other steps do nothing. Values travel as MessagePack of the schema's type (wire.go);
// schemas stay encoded until a type is used (index.go, catalog.go, schema.go). Package unary makes the calls;
// server.go starts and ends processes and receives their output, over a connection of its own.
//
// It may import addr, diag, schema, provider, and the generated messages. It must not
// know plans, state, configuration files or where plugin executables come from. It checks that responses
// are well-formed, not that they keep the resource contract.
package plugin
