// Package tfplugin5 has the messages of the provider plugin protocol, version 5, that differ from version 6,
// generated from mayfly_wire5.proto.
//
// It may import the protobuf runtime and tfplugin6. It must not know the engine's types; package
// provider/plugin translates.
package tfplugin5

//go:generate go run github.com/mayfly-iac/mayfly/internal/provider/protogen -I .:../tfplugin6 mayfly_wire5.proto
