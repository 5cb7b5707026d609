package plan

// Ranks returns how long the work behind each step takes if everything that can runs at once: the longest
// path that begins with the step, where the step of a change takes as long as weight says, and any other no
// time. Steps with the longest way still behind them should start first, or else the end of the work waits
// for them. The steps must have an order. Ranks takes linear time.
func Ranks(steps []Step, weight func(*Step) int64) []int64 {
	needs := make([]int32, len(steps))
	order := make([]int32, 0, len(steps))
	for i := range steps {
		if needs[i] = steps[i].Needs; needs[i] == 0 {
			order = append(order, int32(i))
		}
	}
	for at := 0; at < len(order); at++ {
		for _, e := range steps[order[at]].Next {
			if needs[e.To]--; needs[e.To] == 0 {
				order = append(order, e.To)
			}
		}
	}
	ranks := make([]int64, len(steps))
	for at := len(order) - 1; at >= 0; at-- {
		i := order[at]
		for _, e := range steps[i].Next {
			ranks[i] = max(ranks[i], ranks[e.To])
		}
		if steps[i].Change != nil {
			ranks[i] += weight(&steps[i])
		}
	}
	return ranks
}
