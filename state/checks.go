package state

// statusRank orders the results of conditions from the best to the worst.
var statusRank = map[CheckStatus]int{CheckPass: 0, CheckUnknown: 1, CheckFail: 2, CheckError: 3}

// Worse reports whether s is a worse result than other.
func (s CheckStatus) Worse(other CheckStatus) bool { return statusRank[s] > statusRank[other] }

// MergeChecks lays the newer results over the older ones: objects that have a newer result lose the older,
// and the others keep theirs. It is for runs that evaluate only some conditions, such as those with
// -target. Neither argument is changed.
func MergeChecks(older, newer []CheckResult) []CheckResult {
	byConfig := map[string]int{}
	out := append([]CheckResult(nil), older...)
	for i, r := range out {
		byConfig[r.Config] = i
	}
	for _, r := range newer {
		i, ok := byConfig[r.Config]
		if !ok {
			out = append(out, r)
			continue
		}
		out[i] = mergeCheck(out[i], r)
	}
	return out
}

// mergeCheck merges the results of one block. It has the status of the newer result, or of a kept object if
// that is worse.
func mergeCheck(old, new CheckResult) CheckResult {
	have := map[string]struct{}{}
	merged := CheckResult{Kind: new.Kind, Config: new.Config, Status: new.Status}
	merged.Objects = append(merged.Objects, new.Objects...)
	for _, o := range new.Objects {
		have[o.Addr] = struct{}{}
	}
	for _, o := range old.Objects {
		if _, ok := have[o.Addr]; ok {
			continue
		}
		merged.Objects = append(merged.Objects, o)
		if o.Status.Worse(merged.Status) {
			merged.Status = o.Status
		}
	}
	return merged
}
