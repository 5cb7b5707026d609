//go:build unix

package kill

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/simprovider/simlog"
)

var leftOpen = regexp.MustCompile(`(?m)^[│ ]*- ephemeral\.sim_secret\.(e\d+), since ([-0-9]+ [:0-9]+) `)

// settled is how long before the end of a run the provider must have closed an instance for the run to have
// recorded it.
const settled = 500 * time.Millisecond

// checkListed checks that what a run left open is listed by it or by the runs after it, which have printed
// out, and once only, and that nothing else is. What was being opened or closed at the end may be listed.
func (s *site) checkListed(r run, out string) {
	s.Helper()
	since := map[string]time.Time{}
	for _, m := range leftOpen.FindAllStringSubmatch(out, -1) {
		if _, twice := since[m[1]]; twice {
			s.Errorf("ephemeral.sim_secret.%s is listed twice:\n%s", m[1], out)
		}
		at, err := time.ParseInLocation(time.DateTime, m[2], time.Local)
		if err != nil {
			s.Fatal(err)
		}
		since[m[1]] = at
	}
	for _, w := range r.calls.Windows() {
		if _, listed := since[w.Name]; len(w.Closes) == 0 && !listed && !strings.Contains(r.output, "with ephemeral.sim_secret."+w.Name+",") {
			s.Errorf("ephemeral.sim_secret.%s outlived its run, and no command lists it:\n%s\nafter\n%s", w.Name, out, r.output)
		}
		if len(w.Closes) == 0 {
			delete(since, w.Name)
		}
	}
	for name, at := range since {
		closes := r.calls.Calls(simlog.Filter{RPC: "CloseEphemeralResource", Name: name})
		if at.Unix() < r.began.Unix() || at.After(r.ended) {
			s.Errorf("ephemeral.sim_secret.%s is listed as open since %s, which is not in the time of the run", name, at)
		}
		if slices.ContainsFunc(closes, func(c simlog.Call) bool {
			return c.End != nil && c.End.Wall.Before(r.ended.Add(-settled)) && at.Before(c.End.Wall.Truncate(time.Second))
		}) {
			s.Errorf("ephemeral.sim_secret.%s was closed long before the run ended, and is listed:\n%s", name, out)
		}
	}
}
