package funcs

//lint:file-ignore SA1019 rsadecrypt is defined as PKCS #1 v1.5

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"

	"github.com/hashicorp/go-cty-funcs/crypto"
	"github.com/hashicorp/go-cty-funcs/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/crypto/ssh"
)

var cryptoFuncs = map[string]function.Function{
	"base64sha256": textFunc("str", func(s string) (string, error) {
		sum := sha256.Sum256([]byte(s))
		return base64.StdEncoding.EncodeToString(sum[:]), nil
	}),
	"base64sha512": textFunc("str", func(s string) (string, error) {
		sum := sha512.Sum512([]byte(s))
		return base64.StdEncoding.EncodeToString(sum[:]), nil
	}),
	"md5":        crypto.Md5Func,
	"rsadecrypt": rsadecryptFunc,
	"sha1":       crypto.Sha1Func,
	"sha256":     crypto.Sha256Func,
	"sha512":     crypto.Sha512Func,
	"uuidv5":     uuid.V5Func,
}

// impureFuncs has the functions that return something else at every call.
var impureFuncs = map[string]function.Function{
	"bcrypt":    crypto.BcryptFunc,
	"timestamp": timestampFunc,
	"uuid":      uuid.V4Func,
}

// rsadecryptFunc accepts keys in every format that ssh keys come in, not only PKCS #1 as go-cty-funcs does.
// Its errors show neither ciphertext nor key, and don't say why a decryption failed: that would be an oracle.
var rsadecryptFunc = function.New(&function.Spec{
	Params:       []function.Parameter{stringParam("ciphertext"), stringParam("privatekey")},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		ciphertext, err := base64.StdEncoding.DecodeString(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "failed to decode input: cipher text must be base64-encoded")
		}
		key, err := rsaKey(args[1].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		plain, err := rsa.DecryptPKCS1v15(nil, key, ciphertext)
		if err != nil {
			return cty.NilVal, errors.New("failed to decrypt: the ciphertext was not made for this key")
		}
		return cty.StringVal(string(plain)), nil
	},
})

// rsaKey parses a private key. Errors describe the mistake in its form, and never quote any of it.
func rsaKey(pem string) (*rsa.PrivateKey, error) {
	raw, err := ssh.ParseRawPrivateKey([]byte(pem))
	if _, protected := errors.AsType[*ssh.PassphraseMissingError](err); protected {
		return nil, errors.New("invalid private key: it is protected by a passphrase; give the key without one")
	}
	if err != nil {
		return nil, errors.New("invalid private key: expected an RSA private key in PEM or OpenSSH format")
	}
	key, ok := raw.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("invalid private key: it is not an RSA key")
	}
	return key, nil
}
