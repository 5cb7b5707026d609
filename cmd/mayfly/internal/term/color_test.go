package term

import "testing"

func TestColored(t *testing.T) {
	for _, test := range []struct {
		vars     map[string]string
		terminal bool
		want     bool
	}{
		{want: false},
		{terminal: true, want: true},
		{vars: map[string]string{"FORCE_COLOR": "1"}, want: true},
		{vars: map[string]string{"CLICOLOR_FORCE": "1"}, want: true},
		{vars: map[string]string{"FORCE_COLOR": "0"}, want: false},
		{vars: map[string]string{"FORCE_COLOR": "0"}, terminal: true, want: true},
		{vars: map[string]string{"FORCE_COLOR": "false", "CLICOLOR_FORCE": ""}, want: false},
		{vars: map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, want: false},
		{vars: map[string]string{"NO_COLOR": "1"}, terminal: true, want: false},
		{vars: map[string]string{"TERM": "xterm"}, terminal: true, want: true},
		{vars: map[string]string{"TERM": "dumb"}, terminal: true, want: false},
		{vars: map[string]string{"TERM": "dumb", "FORCE_COLOR": "1"}, terminal: true, want: true},
		{vars: map[string]string{"TERM": "dumb", "FORCE_COLOR": "1"}, want: true},
	} {
		if got := Colored(test.vars, test.terminal); got != test.want {
			t.Errorf("%v, %t: got %t, want %t", test.vars, test.terminal, got, test.want)
		}
	}
}
