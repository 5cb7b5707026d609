// Package tfplugin6 has the messages of the provider plugin protocol, version 6, generated from
// mayfly_wire6.proto. Protocol 5 uses the same messages but for the attributes of a schema, see tfplugin5.
//
// It may import the protobuf runtime only. It must not know the engine's types; package provider/plugin
// translates.
package tfplugin6

//go:generate go run github.com/mayfly-iac/mayfly/internal/provider/protogen -I . mayfly_wire6.proto
