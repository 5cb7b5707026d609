package diag

import (
	"errors"
	"io/fs"
	"strings"
)

// Sentence returns the text of an error as a sentence, with a capital at its start and a full stop at its end. A text that
// starts with a name, such as that of a file, keeps it as it is.
func Sentence(err error) string {
	text := strings.TrimRight(err.Error(), ".")
	first, _, _ := strings.Cut(text, " ")
	if word := strings.Trim(first, ",:"); word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz'-") == "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text + "."
}

// reasons are texts of the operating system that are no phrases by themselves, with what is written instead.
var reasons = map[string]string{
	"is a directory":        "it is a directory",
	"not a directory":       "part of its path is a file, not a directory",
	"file exists":           "there is something else of that name",
	"read-only file system": "the file system is read-only",
}

// Reason returns why an operation on a file failed, without the operation and the path: the message around it names both.
func Reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	text := err.Error()
	if phrase, ok := reasons[text]; ok {
		return phrase
	}
	return text
}
