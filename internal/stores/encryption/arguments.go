package encryption

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"
)

// argument is an argument of a block. An argument that is stored in clear must be neither sensitive nor
// ephemeral; Options.Evaluate checks that.
type argument struct {
	ty       cty.Type // cty.NilType for the name of a key provider
	required bool
	stored   bool // in clear, beside the encrypted data
	secret   bool // a key, or a credential that obtains a key
}

// arguments are evaluated arguments by name. Those that are absent or null have no entry.
type arguments map[string]cty.Value

// has reports whether an argument is given and not null.
func (a arguments) has(name string) bool { _, ok := a[name]; return ok }

// text returns a string, or else otherwise.
func (a arguments) text(name, otherwise string) string {
	if v, ok := a[name]; ok {
		return v.AsString()
	}
	return otherwise
}

// number returns a whole number, or else otherwise. Its error is a clause for a sentence.
func (a arguments) number(name string, otherwise, least, most int) (int, error) {
	v, ok := a[name]
	if !ok {
		return otherwise, nil
	}
	var n int
	if err := gocty.FromCtyValue(v, &n); err != nil || n < least || n > most {
		if most == math.MaxInt {
			return 0, fmt.Errorf("%s must be a whole number, %d or more", name, least)
		}
		return 0, fmt.Errorf("%s must be a whole number from %d to %d", name, least, most)
	}
	return n, nil
}

// list returns the elements of a list of strings, none of them null.
func (a arguments) list(name string) []string {
	v, ok := a[name]
	if !ok {
		return nil
	}
	var out []string
	for _, e := range v.AsValueSlice() {
		if !e.IsNull() {
			out = append(out, e.AsString())
		}
	}
	return out
}

// texts returns a map of strings, without elements that are null.
func (a arguments) texts(name string) map[string]string {
	v, ok := a[name]
	if !ok {
		return nil
	}
	out := map[string]string{}
	elements := v.AsValueMap()
	for _, key := range slices.Sorted(maps.Keys(elements)) {
		if e := elements[key]; !e.IsNull() {
			out[key] = e.AsString()
		}
	}
	return out
}

// family has the types of methods, or of key providers.
type family[T any] struct {
	root, noun, list string              // the beginning of references, and names for messages: of one block, and of a list of types
	common           map[string]argument // of all types
	types            map[string]kind[T]
}

// kind is one type of method or key provider.
type kind[T any] struct {
	arguments map[string]argument
	// open checks the arguments, and returns the key provider or method of the block; it is nil for the
	// method that leaves files unencrypted. Its error is a clause for a sentence, without values of keys. ctx
	// ends requests of the method or the key provider.
	open func(ctx context.Context, a arguments, o Options) (T, error)
}

// boxes makes a box from a key.
type boxes = func(key []byte) (box, error)

// methods has every type of method.
var methods = family[boxes]{root: "method", noun: "encryption method", list: "Methods", common: map[string]argument{}, types: map[string]kind[boxes]{
	"aes_gcm": {arguments: map[string]argument{"keys": {required: true}, "aad": {ty: cty.List(cty.Number)}}, open: openGCM},
	"external": {
		arguments: map[string]argument{"keys": {}, "encrypt_command": {ty: cty.List(cty.String), required: true}, "decrypt_command": {ty: cty.List(cty.String), required: true}},
		open:      openExternal,
	},
	"age":         {arguments: map[string]argument{"recipients": {ty: cty.List(cty.String), required: true, stored: true}, "identity": {ty: cty.String, secret: true}}, open: openAge},
	"unencrypted": {},
}}

// aliasArgument is the argument of every key provider that names its metadata.
const aliasArgument = "encrypted_metadata_alias"

// keyProviders has every type of key provider.
var keyProviders = family[keyProvider]{root: "key_provider", noun: "key provider", list: "Key providers", common: map[string]argument{aliasArgument: {ty: cty.String, stored: true}}, types: map[string]kind[keyProvider]{
	"pbkdf2": {
		arguments: map[string]argument{
			"passphrase": {ty: cty.String, secret: true}, "chain": {}, "key_length": {ty: cty.Number, stored: true}, "iterations": {ty: cty.Number, stored: true},
			"salt_length": {ty: cty.Number}, "hash_function": {ty: cty.String, stored: true},
		},
		open: openPBKDF2,
	},
	"openbao": {
		arguments: map[string]argument{
			"key_name": {ty: cty.String, required: true}, "token": {ty: cty.String, secret: true}, "address": {ty: cty.String},
			"transit_engine_path": {ty: cty.String}, "key_length": {ty: cty.Number}, "associated_data": {ty: cty.String},
		},
		open: openOpenBao,
	},
	"aws_kms": {arguments: awsArguments, open: openAWSKMS},
	"gcp_kms": {arguments: gcpArguments, open: openGCPKMS},

	"azure_vault": {arguments: azureArguments(), open: openAzureVault},

	"static":   {arguments: map[string]argument{"key": {ty: cty.String, required: true, secret: true}}, open: openStatic},
	"xor":      {arguments: map[string]argument{"a": {required: true}, "b": {required: true}}, open: openXOR},
	"external": {arguments: map[string]argument{"command": {ty: cty.List(cty.String), required: true}}, open: openExternalKeys},
}}
