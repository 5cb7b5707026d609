// Package registry finds providers in registries: service discovery, lists of versions, places of packages,
// and publishers' signatures.
//
// Start reading at Client. Versions and Archive use a provider's own registry. Archive returns only
// packages listed in a checksum document that is signed with a key that the registry vouches for.
//
// It may import addr and its siblings for requests, settings and checksums. It must not know how packages
// are unpacked or stored.
package registry
