package logs

import (
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		line  string
		level hclog.Level
		text  string
	}{
		"record":   {`{"@level":"warn","@message":"m","b":2,"a":"x","@timestamp":"t"}`, hclog.Warn, "m: a=x: b=2"},
		"prefix":   {"[ERROR] broken", hclog.Error, "broken"},
		"brackets": {"[main] started", hclog.Debug, "[main] started"},
		"bracket":  {"warn] main", hclog.Debug, "warn] main"},
		"text":     {"hello", hclog.Debug, "hello"},
		"no level": {`{"@message":"m"}`, hclog.NoLevel, "m"},
		"JSON":     {`{"a":1}`, hclog.Debug, `{"a":1}`},
		"empty":    {"", hclog.Debug, ""},
	} {
		t.Run(name, func(t *testing.T) {
			level, text := parse(test.line)
			if level != test.level || text != test.text {
				t.Errorf("got %s %q, want %s %q", level, text, test.level, test.text)
			}
		})
	}
}
