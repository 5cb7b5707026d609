// Package registry finds providers in registries: service discovery, the lists of versions, the places of
// packages, and the publishers' signatures.
//
// Start reading at Client. Versions and Archive ask a provider's own registry; Archive hands out nothing that
// isn't in a checksum document which is signed with one of the keys that the registry vouches for.
//
// It may import addr and its siblings for requests, settings and checksums. It must not know how packages are
// unpacked or kept.
package registry
