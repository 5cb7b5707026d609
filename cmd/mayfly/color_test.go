package main

import (
	"bytes"
	"testing"
)

func TestColored(t *testing.T) {
	for _, test := range []struct {
		vars     map[string]string
		noColor  bool
		terminal bool
		want     bool
	}{
		{want: false},
		{terminal: true, want: true},
		{terminal: true, noColor: true, want: false},
		{vars: map[string]string{"FORCE_COLOR": "1"}, want: true},
		{vars: map[string]string{"CLICOLOR_FORCE": "1"}, want: true},
		{vars: map[string]string{"FORCE_COLOR": "0"}, want: false},
		{vars: map[string]string{"FORCE_COLOR": "0"}, terminal: true, want: true},
		{vars: map[string]string{"FORCE_COLOR": "false", "CLICOLOR_FORCE": ""}, want: false},
		{vars: map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, want: false},
		{vars: map[string]string{"FORCE_COLOR": "1"}, noColor: true, want: false},
		{vars: map[string]string{"NO_COLOR": "1"}, terminal: true, want: false},
	} {
		a := &app{vars: test.vars, noColor: test.noColor}
		if got := a.colored(test.terminal); got != test.want {
			t.Errorf("%+v: got %t", test, got)
		}
	}
	a := &app{vars: map[string]string{"FORCE_COLOR": "1"}}
	if !a.terminal(&bytes.Buffer{}).Color {
		t.Error("a pipe is not coloured where that is asked for")
	}
}
