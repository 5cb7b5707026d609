package diag

import (
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// Place returns where a range begins, as FILE:LINE, for the text of a message that names a second place. The
// Subject has the columns of the text to be changed.
func Place(rng hcl.Range) string { return rng.Filename + ":" + strconv.Itoa(rng.Start.Line) }

// wholeRange matches how messages of package hcl name a second place, up to the line, and the columns.
var wholeRange = pattern.New(`( (?:already set|already defined|directive|if started) at [^\n]*?:\d+),\d+-(?:\d+,)?\d+`)

// shortPlaces rewrites a message of package hcl so that it names places as Place does.
func shortPlaces(text string) string { return wholeRange().ReplaceAllString(text, "$1") }
