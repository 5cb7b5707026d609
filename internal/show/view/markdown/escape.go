package markdown

import (
	"strings"
	"unicode/utf8"
)

// harmless are the characters besides letters that prose may have. Without digits, points and other signs
// there are no addresses, mentions, references and hashes for a host to find.
const harmless = " ,;()-"

// prose returns a text of the program itself, in which names may occur. Words with anything that could mean
// something to a host are written as code, except for numbers at their beginning.
func prose(s string) string {
	words := strings.Split(oneLine(s), " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ",.;:!")
		if strings.IndexFunc(bare, meaningful) >= 0 && (strings.Trim(bare, "0123456789") != "" || len(bare) > 6) {
			words[i] = code(bare) + word[len(bare):]
		}
	}
	return strings.Join(words, " ")
}

func meaningful(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(harmless, r))
}

// code returns a text as code in HTML, on one line.
func code(s string) string { return "<code>" + escaper.Replace(oneLine(s)) + "</code>" }

// oneLine returns a text without line breaks: an empty line would end the markup around it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// escaper writes characters that HTML or Markdown could take for markup as references.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "`", "&#96;", "*", "&#42;", "_", "&#95;",
	"[", "&#91;", "]", "&#93;", "@", "&#64;", "#", "&#35;", "|", "&#124;", "\\", "&#92;", "~", "&#126;", "$", "&#36;", "!", "&#33;", ":", "&#58;")

// block returns a text in a fenced block. The fence is longer than any run of the same sign in the text, so
// that the text cannot end it.
func block(language, text string) string {
	text = strings.ToValidUTF8(strings.Trim(text, "\n"), "\uFFFD")
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + text + "\n" + fence + "\n"
}

// diff returns the text of a change with the symbols of its lines in the first column, where hosts look for
// those that they colour.
func diff(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(rest)]
		symbol, after, _ := strings.Cut(rest, " ")
		switch symbol {
		case "+", "-":
			lines[i] = symbol + indent + " " + after
		case "~":
			lines[i] = "!" + indent + " " + after
		case "-/+", "+/-", "./+":
			lines[i] = "! " + rest
		default:
			if indent == "" {
				lines[i] = " " + line
			}
		}
	}
	return strings.Join(lines, "\n")
}

// shorten returns at most n bytes of a text, up to the end of a letter.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// clip returns the lines of a text that have room, and how many others there are. A line that is too long by
// itself is cut.
func clip(text string) (shown string, left int) {
	text = strings.Trim(text, "\n")
	if len(text) <= maxDetail {
		return text, 0
	}
	shown = shorten(text, maxDetail)
	if end := strings.LastIndexByte(shown, '\n'); end > 0 {
		shown = shown[:end]
	}
	return shown, strings.Count(text, "\n") - strings.Count(shown, "\n")
}
