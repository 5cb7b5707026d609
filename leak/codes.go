package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
)

// alphabets are those of Base64: the standard one, and that for URLs and names of files.
var alphabets = []*base64.Encoding{base64.StdEncoding, base64.URLEncoding}

// lineLengths are those of Base64 in lines: PEM, and MIME with most programs.
var lineLengths = []int{64, 76}

// codes calls f for the hexadecimal and Base64 spellings of bytes that are varied enough to be recognized.
// The text is overwritten after the call.
//
// Base64 writes three bytes in four characters, so it is different for each remainder of the number of bytes
// before, such as those of the user in "user:password". Of each, codes has the characters that depend on the
// bytes alone, which are ten for eight bytes; of the first also all with the padding.
func codes(b []byte, f func(text []byte)) {
	give := func(text []byte) {
		if len(text) >= MinLength && isSecret(asText(text)) {
			f(text)
		}
	}
	space := make([]byte, hex.EncodedLen(len(b)))
	hex.Encode(space, b)
	give(space)
	upper := bytes.ToUpper(space)
	give(upper)
	clear(space)
	clear(upper)
	for before := range 3 {
		in := append(make([]byte, before, before+len(b)), b...)
		for _, alphabet := range alphabets {
			text := alphabet.AppendEncode(nil, in)
			alone := text[[]int{0, 2, 3}[before] : len(in)*8/6]
			if alphabet == base64.StdEncoding || bytes.ContainsAny(text, "-_") {
				give(alone)
				if before == 0 && len(text) > len(alone) {
					give(text)
				}
			}
			clear(text)
		}
		clear(in)
	}
}

// inLines calls f for each line of Base64 as programs write it that end lines, if there are several. In
// output that comes line by line, there is nothing else to recognize.
func inLines(s string, f func(line string)) {
	for _, alphabet := range alphabets {
		text := alphabet.EncodeToString([]byte(s))[:len(s)*8/6]
		for _, n := range lineLengths {
			for from := 0; len(text) > n && from < len(text); from += n {
				f(text[from:min(from+n, len(text))])
			}
		}
	}
}
