package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/mayfly-iac/mayfly/addr"
)

// cursor walks through valid JSON once. encoding/json takes a pass over a value for each level at which it is
// kept for later; here, text that is not decoded now is passed over once and shared with the source. Its
// methods rely on json.Valid having accepted src: they check no bounds, and on invalid text could read past
// its end.
type cursor struct {
	src []byte
	at  int
	bad bool // a value doesn't fit the destination
}

// plainV4 decodes a file of version 4 that has no unknown members. It returns nil for any other. The
// resources are nearly all of a large file. Everything else is copied into a small document and left to
// encoding/json.
func plainV4(src []byte) *fileV4 {
	if !json.Valid(src) {
		return nil
	}
	var resources []resourceV4
	rest := []byte{'{'}
	c := &cursor{src: src}
	c.object(func(name []byte) {
		if string(name) == `"resources"` {
			c.array(func() { resources = append(resources, c.resource()) })
			return
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, name...), ':'), c.value()...)
	})
	var doc fileV4
	if c.bad || json.Unmarshal(append(rest, '}'), &doc) != nil || doc.Version != formatVersion {
		return nil
	}
	doc.Resources = resources
	return &doc
}

// resource decodes an entry of the resources. plainV4 is only called if all member names are known, so any
// other name here is a known one with an escape in it.
func (c *cursor) resource() (r resourceV4) {
	c.object(func(name []byte) {
		switch string(name) {
		case `"module"`:
			r.Module = c.text()
		case `"mode"`:
			r.Mode = c.text()
		case `"type"`:
			r.Type = c.text()
		case `"name"`:
			r.Name = c.text()
		case `"each"`:
			r.Each = c.text()
		case `"provider"`:
			r.Provider = c.text()
		case `"instances"`:
			c.array(func() { r.Instances = append(r.Instances, c.instance()) })
		default: // a name with an escape
			c.bad = true
			c.value()
		}
	})
	return r
}

// instance decodes an entry of the instances of a resource. Attributes are passed over and share their text
// with src; decoder.compactObject copies them.
func (c *cursor) instance() (in instanceV4) {
	c.object(func(name []byte) {
		switch string(name) {
		case `"attributes"`:
			in.Attributes = c.value()
		case `"sensitive_attributes"`:
			in.Sensitive = c.value()
		case `"identity"`:
			in.Identity = c.value()
		case `"status"`:
			in.Status = c.text()
		case `"deposed"`:
			in.Deposed = c.text()
		case `"provider"`:
			in.Provider = c.text()
		case `"index_key"`:
			in.IndexKey = c.value()
		case `"schema_version"`:
			c.into(&in.SchemaVersion)
		case `"identity_schema_version"`:
			c.into(&in.IdentityVersion)
		case `"private"`:
			c.into(&in.Private)
		case `"dependencies"`:
			c.array(func() { in.Dependencies = append(in.Dependencies, c.text()) })
		case `"depends_on"`:
			c.into(&in.DependsOn)
		case `"attributes_flat"`:
			c.into(&in.AttributesFlat)
		case `"create_before_destroy"`:
			c.into(&in.CreateBeforeDestroy)
		case `"skip_destroy"`:
			c.into(&in.SkipDestroy)
		case `"ephemeral_attributes"`:
			c.into(&in.Withheld)
		default: // a name with an escape
			c.bad = true
			c.value()
		}
	})
	return in
}

// text decodes a string. Strings without escapes, almost all there are, need no decoder.
func (c *cursor) text() (s string) {
	b := c.value()
	if plainText(b) {
		return string(b[1 : len(b)-1])
	}
	c.decode(b, &s)
	return s
}

// into decodes a value as encoding/json does.
func (c *cursor) into(target any) {
	b := c.value()
	if whole, ok := target.(*int64); ok {
		if n, ok := smallNumber(b); ok {
			*whole = n
			return
		}
	}
	c.decode(b, target)
}

// decode has encoding/json decode b, and notes a failure instead of returning it, so that the walk stays
// simple.
func (c *cursor) decode(b []byte, target any) {
	if json.Unmarshal(b, target) != nil {
		c.bad = true
	}
}

// smallNumber reads a whole number of a few digits. It accepts fewer than 16 digits, so that neither int64
// nor float64 loses any.
func smallNumber(b []byte) (n int64, ok bool) {
	for _, d := range b {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int64(d-'0')
	}
	return n, 0 < len(b) && len(b) < 16
}

// object calls f at the value of each member, which f must pass over. The name has its quotes. Null has no
// members.
func (c *cursor) object(f func(name []byte)) {
	if !c.enter('{') {
		return
	}
	for c.next() != '}' {
		name := c.value()
		c.next()
		c.at++ // the colon
		f(name)
		if c.next() == ',' {
			c.at++
		}
	}
	c.at++
}

// array calls f at each element, which f must pass over. Null has no elements.
func (c *cursor) array(f func()) {
	if !c.enter('[') {
		return
	}
	for c.next() != ']' {
		f()
		if c.next() == ',' {
			c.at++
		}
	}
	c.at++
}

// enter passes over the opening bracket of a value. It passes over a value of any other kind and returns
// false.
func (c *cursor) enter(bracket byte) bool {
	if c.next() == bracket {
		c.at++
		return true
	}
	if string(c.value()) != "null" {
		c.bad = true
	}
	return false
}

// next passes over white space and returns the byte behind it.
func (c *cursor) next() byte {
	for {
		switch b := c.src[c.at]; b {
		case ' ', '\n', '\r', '\t':
			c.at++
		default:
			return b
		}
	}
}

// value passes over a value and returns its text.
func (c *cursor) value() []byte {
	first := c.next()
	start := c.at
	switch first {
	case '"':
		end, _ := stringEnd(c.src, start+1)
		c.at = end + 1
	case '{', '[':
		c.at = bracketEnd(c.src, start)
	default:
		for c.at < len(c.src) && bytes.IndexByte([]byte(",]} \n\r\t"), c.src[c.at]) < 0 {
			c.at++
		}
	}
	return c.src[start:c.at:c.at]
}

// bracketEnd returns where the object or array that starts at start ends.
func bracketEnd(src []byte, start int) int {
	for at, depth := start, 0; ; at++ {
		switch src[at] {
		case '"':
			at, _ = stringEnd(src, at+1)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
}

// decodeKey converts an instance key: absent, a string, or a number.
func decodeKey(k json.RawMessage) (addr.Key, error) {
	if n, ok := smallNumber(k); ok {
		return addr.IntKey(int(n)), nil
	}
	if n, err := strconv.Atoi(string(k)); err == nil && n >= 0 {
		return addr.IntKey(n), nil
	}
	var key any
	if len(k) > 0 && json.Unmarshal(k, &key) != nil {
		return addr.NoKey, errors.New("it is not valid")
	}
	switch key := key.(type) {
	case nil:
		return addr.NoKey, nil
	case string:
		return addr.StringKey(key), nil
	case float64: // in an unusual form, which is exact up to 2^53
		if key < 0 || key != math.Trunc(key) || key > 1<<53 {
			return addr.NoKey, errors.New("it is not a whole number, zero or greater")
		}
		return addr.IntKey(int(key)), nil
	default:
		return addr.NoKey, errors.New("it is neither a string nor a number")
	}
}
