package provider

import "github.com/mayfly-iac/mayfly/addr"

// Recording is the part of a provider's schemas that some resource types need, in the encoding of the plugin
// protocol. It serves programs that show objects without the provider.
type Recording struct {
	Protocol   int    // the version of the protocol, 5 or 6
	Schemas    []byte // as in a response to GetProviderSchema
	Identities []byte // as in a response to GetResourceIdentitySchemas, nil if there are none
}

// Recorder is a Catalog whose schemas can be recorded.
type Recorder interface {
	// Record returns a recording with the schemas of the wanted types, of the provider's configuration and of
	// its functions. Equal schemas give equal bytes.
	Record(wanted func(mode addr.Mode, typeName string) bool) Recording
}
