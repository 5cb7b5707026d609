package diag

import (
	"errors"
	"io/fs"
	"strings"
)

// Sentence returns the text of an error as a sentence, with a capital letter at the start and a full stop
// at the end. A text that starts with a name, such as a file name, keeps its first letter.
func Sentence(err error) string {
	text := strings.TrimRight(err.Error(), ".")
	first, _, _ := strings.Cut(text, " ")
	if word := strings.Trim(first, ",:"); word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz'-") == "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text + "."
}

// operations maps the operating system's operations on files to words for a sentence.
var operations = map[string]string{
	"open": "opened", "read": "read", "write": "written", "mkdir": "created", "remove": "removed", "unlinkat": "removed", "chmod": "changed",
}

// Problem returns the text of an error for use within a sentence, also if it is an operating system error
// about a file.
func Problem(err error) string {
	pe, ok := err.(*fs.PathError)
	if !ok || operations[pe.Op] == "" {
		return err.Error()
	}
	return pe.Path + " could not be " + operations[pe.Op] + ": " + Reason(err)
}

// reasons replaces operating system texts that do not fit into a sentence.
var reasons = map[string]string{
	"is a directory":        "it is a directory",
	"not a directory":       "part of its path is a file, not a directory",
	"file exists":           "there is something else of that name",
	"read-only file system": "the file system is read-only",
}

// Reason returns why an operation on a file failed, without the operation and the path, which the
// surrounding message names.
func Reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	text := err.Error()
	if phrase, ok := reasons[text]; ok {
		return phrase
	}
	return text
}

// Argument quotes a text, such as an address, as one argument of a command line if necessary.
func Argument(text string) string {
	if strings.ContainsAny(text, "\"[]*?$ ") {
		return "'" + text + "'"
	}
	return text
}
