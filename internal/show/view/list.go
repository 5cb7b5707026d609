package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/event"
)

// ListResult writes the line about a result of a list: the address of the list, the identity of the object,
// and its name for people.
func ListResult(w io.Writer, r *event.ListResult, o Options) error {
	line := o.paint(bold, r.List.String()) + "   " + oneLine(r.IdentityText)
	if r.Name != "" {
		line += "   " + oneLine(r.Name)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// lineBreaks escapes white space that would make one result look like several.
var lineBreaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// oneLine returns a text of a provider as a part of a line.
func oneLine(text string) string { return lineBreaks.Replace(visible(text)) }
