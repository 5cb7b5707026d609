// Package timeline shows how long ephemeral instances were exposed (E84). From the events of a run, a
// Recorder notes when each was opened, renewed, used and closed and the other events meanwhile, and writes
// that as one HTML page with a chart and tables.
//
//	rec := timeline.New()
//	p, diags := mayfly.Open(ctx, mayfly.Options{Observer: event.Observers(mine, rec), ...})
//	...
//	err := rec.Write(w)
//
// The page has addresses, names of operations and times, nothing else: the Recorder keeps no value, no
// identifier of an object, no line of output and no diagnostic. It needs no script and nothing from
// elsewhere, and says so to the browser in a content security policy.
//
// In reading order: page.go writes the document, chart.go and tables.go write the same content twice, as a
// picture and as text; model.go computes that content from the records of recorder.go; scale.go places times
// on the axis; markup.go escapes.
//
// It may import the same packages as view. It must not know values, and it opens no file.
package timeline
