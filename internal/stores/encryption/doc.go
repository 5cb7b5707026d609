// Package encryption encrypts state files, journals and saved plans by the rules of an encryption block.
//
// A Set is made from a configuration: one Codec for each kind of file. A codec encrypts with one method, and
// decrypts with that or one of its fallbacks. A method gets its keys from a key provider, which may get a key
// from another one. Data that a key provider needs for decryption, such as a salt, is stored in clear beside
// the encrypted data. The stored form is OpenTofu's.
//
// Keys and passphrases appear in no error, and a guard remembers them. Keys are overwritten when the ciphers
// made of them exist.
//
// It may import config for the declarations, state and state/store, diag, leak, value for a mark, and cty. It
// must not know plans, values of a run or the engine; expressions are evaluated by a function that it is
// given.
package encryption
