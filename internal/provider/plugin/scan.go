package plugin

import (
	"encoding/binary"
	"errors"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// maxDepth limits the nesting of values. The decoder recurses, and values of dynamic type can nest as deep
// as the message is long. It is more than can be stored.
const maxDepth = 5 * value.MaxDepth

var (
	errMalformed = errors.New("it is not valid MessagePack")
	errTooDeep   = errors.New("it is nested too deeply")
)

// scan checks that data is exactly one well-formed MessagePack value, before memory is allocated for the
// lengths that it contains. Without this, a few bytes could announce a list of a billion elements, and the
// decoder would make room for them. For a value that nests deeper than maxDepth, tooDeep gets the range of
// its bytes.
func scan(data []byte, tooDeep func(from, to int) error) error {
	size := len(data)
	open := []uint64{1}  // number of values still to come, per level of nesting
	pending := uint64(1) // the sum of open; each value takes at least a byte
	for len(open) > 0 {
		top := len(open) - 1
		if open[top] == 0 {
			open = open[:top]
			continue
		}
		open[top]--
		pending--
		rest, values, ok := next(data)
		if !ok || pending+values > uint64(len(rest)) {
			return errMalformed
		}
		switch {
		case values == 0:
		case len(open) < maxDepth:
			open = append(open, values)
			pending += values
		default:
			if rest, ok = skip(rest, values); !ok || pending > uint64(len(rest)) {
				return errMalformed
			}
			if err := tooDeep(size-len(data), size-len(rest)); err != nil {
				return err
			}
		}
		data = rest
	}
	if len(data) > 0 {
		return errMalformed
	}
	return nil
}

// refuse is for scan where nothing may be left out.
func refuse(_, _ int) error { return errTooDeep }

// pruned returns data with nil in place of values that nest deeper than maxDepth; false if none does, or if
// it is malformed.
func pruned(data []byte) (out []byte, some bool) {
	kept := 0
	err := scan(data, func(from, to int) error {
		out = append(append(out, data[kept:from]...), codeNil)
		kept = to
		return nil
	})
	return append(out, data[kept:]...), err == nil && kept > 0
}

// skip returns the rest after a number of values, including nested ones.
func skip(data []byte, values uint64) (rest []byte, ok bool) {
	for ; values > 0; values-- {
		var more uint64
		if data, more, ok = next(data); !ok || more > uint64(len(data)) {
			return nil, false
		}
		values += more
	}
	return data, true
}

// next returns the rest after the head of the value at the start of data, where its nested values begin, and
// their number.
func next(data []byte) (rest []byte, values uint64, ok bool) {
	if len(data) == 0 {
		return nil, 0, false
	}
	size, values, ok := item(data)
	if !ok || size > uint64(len(data)) {
		return nil, 0, false
	}
	return data[size:], values, true
}

const codeNil = 0xc0

// sizes has, for the codes from 0xc0 to 0xdf, the number of bytes of the length field and, for those without
// one, of the content. A content of -1 is an array, -2 a map, -3 a reserved code.
var sizes = [32]struct{ length, content int }{
	{0, 0}, {0, -3}, {0, 0}, {0, 0}, // nil, reserved, false, true
	{1, 0}, {2, 0}, {4, 0}, // binary
	{1, 1}, {2, 1}, {4, 1}, // extension: a type byte and the data
	{0, 4}, {0, 8}, // floats
	{0, 1}, {0, 2}, {0, 4}, {0, 8}, // unsigned
	{0, 1}, {0, 2}, {0, 4}, {0, 8}, // signed
	{0, 2}, {0, 3}, {0, 5}, {0, 9}, {0, 17}, // fixed extensions
	{1, 0}, {2, 0}, {4, 0}, // strings
	{2, -1}, {4, -1}, {2, -2}, {4, -2}, // arrays, maps
}

// item returns how many bytes the value at the start of data takes without its nested values, and their
// number.
func item(data []byte) (skip, values uint64, ok bool) {
	code := data[0]
	switch {
	case code < 0x80 || code >= 0xe0:
		return 1, 0, true
	case code < 0x90:
		return 1, 2 * uint64(code&0x0f), true
	case code < 0xa0:
		return 1, uint64(code & 0x0f), true
	case code < 0xc0:
		return 1 + uint64(code&0x1f), 0, true
	}
	size := sizes[code-0xc0]
	if len(data) < 1+size.length {
		return 0, 0, false
	}
	head, n := uint64(1+size.length), uint64(0)
	switch size.length {
	case 1:
		n = uint64(data[1])
	case 2:
		n = uint64(binary.BigEndian.Uint16(data[1:]))
	case 4:
		n = uint64(binary.BigEndian.Uint32(data[1:]))
	}
	switch size.content {
	case -1:
		return head, n, true
	case -2:
		return head, 2 * n, true
	case -3:
		return 0, 0, false
	default:
		return head + n + uint64(size.content), 0, true
	}
}
