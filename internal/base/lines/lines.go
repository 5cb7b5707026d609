// Package lines cuts the output of commands into lines of bounded length.
//
// It imports the standard library only. It must not know whose output it is.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// Longest is the number of bytes from which a line is passed on in pieces.
const Longest = 64 << 10

// Read reads r to its end and calls pass with each line, without its end. A longer line comes in pieces of at
// most one and a half times Longest bytes, of which all but the last have ends set to false, as has a last
// line without a line end. Pieces end after a space where there is one in their second half, so that a word
// that is to be masked is not cut.
func Read(r io.Reader, pass func(text string, ends bool)) {
	br := bufio.NewReaderSize(r, Longest)
	var begun []byte // of a line whose first pieces were passed on
	for {
		chunk, err := br.ReadSlice('\n')
		text := slices.Concat(begun, chunk)
		begun = nil
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			end := pieceEnd(text)
			pass(string(text[:end]), false)
			begun = text[end:]
		case err == nil:
			pass(string(bytes.TrimRight(text, "\r\n")), true)
		default:
			if text = bytes.TrimRight(text, "\r"); len(text) > 0 {
				pass(string(text), false)
			}
			return
		}
	}
}

// pieceEnd returns where a piece of text ends.
func pieceEnd(text []byte) int {
	half := len(text) / 2
	if space := bytes.LastIndexAny(text[half:], " \t"); space >= 0 {
		return half + space + 1
	}
	return len(text)
}
