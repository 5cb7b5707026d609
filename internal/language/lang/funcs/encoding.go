package funcs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"unicode/utf8"

	"github.com/hashicorp/go-cty-funcs/encoding"
	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	textencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// base64decode is not go-cty-funcs': that one writes decoded content to the log.
var encodingFuncs = map[string]function.Function{
	"base64decode":     textFunc("str", base64decode),
	"base64encode":     encoding.Base64EncodeFunc,
	"base64gunzip":     textFunc("str", base64gunzip),
	"base64gzip":       textFunc("str", base64gzip),
	"csvdecode":        stdlib.CSVDecodeFunc,
	"jsondecode":       stdlib.JSONDecodeFunc,
	"jsonencode":       stdlib.JSONEncodeFunc,
	"textdecodebase64": charsetFunc("source", decodeText),
	"textencodebase64": charsetFunc("string", encodeText),
	"urldecode":        textFunc("str", urldecode),
	"urlencode":        encoding.URLEncodeFunc,
	"yamldecode":       yamldecodeFunc,
	"yamlencode":       ctyyaml.YAMLEncodeFunc,
}

// textFunc returns a function from one string to another.
func textFunc(param string, f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{stringParam(param)},
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			s, err := f(args[0].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(s), nil
		},
	})
}

// base64decode decodes text. Other bytes cannot be a string of the language: base64gunzip and
// textdecodebase64 are for some of that.
func base64decode(s string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", fmt.Errorf("failed to decode base64 data %q", s)
	}
	if !utf8.Valid(raw) {
		return "", errors.New("the result of decoding the provided string is not valid UTF-8")
	}
	return string(raw), nil
}

// base64gzip compresses text. Equal text gives equal results in all versions, since a different one would
// be a change of whatever has it as an argument.
func base64gzip(s string) (string, error) {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := io.WriteString(w, s); err != nil {
		return "", fmt.Errorf("failed to write gzip data: %w", err)
	}
	// The flush leaves an empty block before the trailer. Existing configurations have it in their states.
	if err := errors.Join(w.Flush(), w.Close()); err != nil {
		return "", fmt.Errorf("failed to write gzip data: %w", err)
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes()), nil
}

// base64gunzip reverses base64gzip. It stops when the result becomes larger than a text can be, since a few
// bytes can stand for gigabytes.
func base64gunzip(s string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", fmt.Errorf("failed to decode base64 data %q", s)
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return "", fmt.Errorf("failed to gunzip bytestream: %w", err)
	}
	text, err := readText(r)
	if errors.Is(err, bounds.ErrText) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("failed to gunzip bytestream: %w", err)
	}
	if !utf8.Valid(text) {
		return "", errors.New("the result of uncompressing the provided string is not valid UTF-8")
	}
	return string(text), nil
}

// urldecode reverses urlencode, and also takes a plus sign for a space.
func urldecode(s string) (string, error) {
	out, err := url.QueryUnescape(s)
	if err != nil {
		return "", fmt.Errorf("failed to decode URL %q: %w", s, err)
	}
	if !utf8.ValidString(out) {
		return "", errors.New("the result of decoding the provided string is not valid UTF-8")
	}
	return out, nil
}

// charsetFunc returns a function of a text and the IANA name of an encoding. Errors of f are about the text.
func charsetFunc(param string, f func(s string, enc textencoding.Encoding, name string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{stringParam(param), stringParam("encoding")},
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			enc, err := ianaindex.IANA.Encoding(args[1].AsString())
			if err != nil || enc == nil {
				return cty.NilVal, function.NewArgErrorf(1, "%q is not a supported IANA encoding name or alias", args[1].AsString())
			}
			name, err := ianaindex.IANA.Name(enc)
			if err != nil {
				name = args[1].AsString()
			}
			s, err := f(args[0].AsString(), enc, name)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.StringVal(s), nil
		},
	})
}

func encodeText(s string, enc textencoding.Encoding, name string) (string, error) {
	raw, err := enc.NewEncoder().Bytes([]byte(s))
	if err != nil {
		return "", fmt.Errorf("the given string contains characters that cannot be represented in %s", name)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// decodeText reverses encodeText. A symbol that the encoding does not define is an error, not a replacement
// character.
func decodeText(s string, enc textencoding.Encoding, name string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		if at, ok := errors.AsType[base64.CorruptInputError](err); ok {
			return "", fmt.Errorf("the given value has an invalid base64 symbol at offset %d", int64(at))
		}
		return "", fmt.Errorf("invalid source string: %w", err)
	}
	text, err := enc.NewDecoder().Bytes(raw)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return "", fmt.Errorf("the given string contains symbols that are not defined for %s", name)
	}
	return string(text), nil
}
