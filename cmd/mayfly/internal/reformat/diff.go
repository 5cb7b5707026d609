package reformat

import "github.com/aymanbagabas/go-udiff"

// unifiedDiff shows a difference between two texts in the form that diff -u and patch know.
func unifiedDiff(oldLabel, newLabel, before, after string) string {
	u, err := udiff.ToUnifiedDiff(oldLabel, newLabel, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil {
		return "" // the edits are out of bounds: they come from these very texts
	}
	// The library counts lines of the new text without those that are equal between two changes of one hunk.
	shift := 0
	for _, h := range u.Hunks {
		h.ToLine = h.FromLine + shift
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				shift++
			case udiff.Delete:
				shift--
			}
		}
	}
	return u.String()
}
