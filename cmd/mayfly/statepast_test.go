package main

import (
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/state/store"
)

// TestParseMoment tells times from runs.
func TestParseMoment(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]store.Moment{
		"90m":                  {Time: now.Add(-90 * time.Minute)},
		"2029-12-31T10:00:00Z": {Time: time.Date(2029, 12, 31, 10, 0, 0, 0, time.UTC)},
		"2029-12-31 10:00:00":  {Time: time.Date(2029, 12, 31, 10, 0, 0, 0, time.UTC)},
		"2029-12-31 10:00":     {Time: time.Date(2029, 12, 31, 10, 0, 0, 0, time.UTC)},
		"2029-12-31":           {Time: time.Date(2029, 12, 31, 0, 0, 0, 0, time.UTC)},
		"c93d0f27":             {Run: "c93d0f27"},
		"20291231":             {Run: "20291231"},
	} {
		if got := parseMoment(text, now); got.Run != want.Run || !got.Time.Equal(want.Time) {
			t.Errorf("parseMoment(%q): got %v, want %v", text, got, want)
		}
	}
}
