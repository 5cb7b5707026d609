package usage

import (
	"testing"
	"time"

	"github.com/urfave/cli/v3"
)

func TestDescribeOption(t *testing.T) {
	for _, test := range []struct {
		flag       cli.Flag
		name, text string
	}{
		{&cli.IntFlag{Name: "n", Usage: "Run `N`.", Value: 10}, "-n=N", "Run N. The default is 10."},
		{&cli.DurationFlag{Name: "d", Usage: "Wait `DURATION`.", Value: 90 * time.Second}, "-d=DURATION", "Wait DURATION. The default is 1m30s."},
		{&cli.StringFlag{Name: "s", Usage: "Take `FILE`.", Value: "x"}, "-s=FILE", `Take FILE. The default is "x".`},
		{&cli.BoolFlag{Name: "b", Usage: "Don't.", Value: true}, "-b=false", "Don't."},
		{&cli.GenericFlag{Name: "o", Usage: "Write to `FILE`.", Value: optional{}}, "-o[=FILE]", "Write to FILE."},
		{&cli.GenericFlag{Name: "l", Usage: "Take `FILE`."}, "-l=FILE", "Take FILE. May be given several times."},
	} {
		if name, text := Describe(test.flag); name != test.name || text != test.text {
			t.Errorf("got %q, %q, want %q, %q", name, text, test.name, test.text)
		}
	}
}

// optional is the value of an option that may be left out.
type optional struct{ cli.Value }

func (optional) IsBoolFlag() bool { return true }
