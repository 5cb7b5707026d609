// Package store is the encrypted file behind the keep provider: secrets, notes and leases in one file that
// only its key or passphrase opens.
//
// It may import age, the file-lock and atomic-replace libraries and the standard library. It must not know
// the plugin protocol, the provider framework, or anything of the engine.
//
// # Files
//
// For a store at PATH there are up to three files in use:
//
//   - PATH, the store: an age v1 binary file, encrypted to exactly one recipient. It is there as long as it
//     holds something: removing the last secret, note and lease removes it;
//   - PATH.key, the key file (another place may be chosen): one age identity in the format of age-keygen,
//     mode 0600. It is made together with the first store and stays when that is removed. A store whose key
//     file is gone is refused, because a new key could not open it;
//   - PATH.lock, an empty file that carries the advisory lock. It stays behind on purpose: deleting a lock
//     file races with its next user.
//
// With a passphrase there is no key file; the recipient is age's scrypt recipient with a work factor of 2^15
// (a tenth or two of a second per change; reading again costs none unless another process wrote meanwhile).
//
// # Format, version 1
//
// The plaintext is one JSON object:
//
//	format    "mayfly-keep"
//	version   1
//	secrets   object, by name: value (base64 of the bytes), version (1, 2, … counts stored values), description (optional)
//	notes     object, by name: text
//	leases    object, by lease id: token_sha256 (base64), ttl_ms, expires_at (RFC 3339, UTC), purpose (optional)
//
// A reader refuses a higher version, and members it doesn't know: writing the file again would lose them. Of
// a lease's token only the SHA-256 is kept; the token is 32 random bytes, so the plain hash can't be guessed
// back. Expired leases are dropped by the next write.
//
// # Guarantees
//
//   - Every change is a read-modify-write under the exclusive lock, so processes that change the store at
//     once lose nothing.
//   - The file is replaced as a whole: written beside, synced, renamed, folder synced. A reader sees the old
//     or the new content.
//   - A file that can't be decrypted or understood is never written to.
//   - Work is bounded: the file by 64 MiB, a value by 1 MiB, the number of live leases by 4096, the wait for
//     the lock by a minute. One operation costs time linear in the file, which is meant for hundreds of
//     secrets.
//   - Buffers of plaintext are cleared after use as far as they are ours; strings and library-internal copies
//     can't be.
package store
