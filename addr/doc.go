// Package addr defines addresses of the language: modules, resources, instances, provider configurations and
// the keys between them.
//
// All types are comparable values that serve as map keys; module paths are interned, so an address costs a
// few words however deep it is. It may import the registry address library, HCL's syntax (to parse addresses)
// and cty (instance keys are values). It must not know configuration, state or plans.
package addr
