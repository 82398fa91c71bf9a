package schedule

import "slices"

// rewritten is how many tokens that were in the cache are sent anew, of the stream
// as it stands. What is new is written anyway.
func (s *Scheduler) rewritten(now Moment) int {
	tokens := s.unserved(s.sums(), s.dirty, now)
	for i := s.dirty; i < len(s.stream); i++ {
		if !s.unseen(i, now.Call) {
			tokens += s.stream[i].Tokens
		}
	}
	return tokens
}

// rewrite is the price of writing so many tokens instead of reading them, and of
// writing what an epoch brings in.
func (s *Scheduler) rewrite(now Moment, tokens int) float64 {
	return (now.Write-now.Prices.Read)*float64(tokens) + now.Write*float64(s.brings())
}

// renews reports whether an epoch would change the head of the prompt: the first
// one, where it brings in the tool for recalling.
func (s *Scheduler) renews() bool { return len(s.epochs) == 0 && s.set.Schema > 0 }

// unserved is how many tokens before a place, the constant part among them, the
// cache does not serve once the prompt changes there. upTo are the tokens before
// each place.
func (s *Scheduler) unserved(upTo []int, change int, now Moment) int {
	head := now.Prefix + s.schema()
	before := head + upTo[change]
	switch {
	case s.renews():
		return now.Prefix + upTo[change]
	case !now.Ends && before >= now.Least:
		return max(now.Step-1, 0)
	case !now.Ends:
		return before
	}
	n, found := slices.BinarySearch(s.ends, min(change, s.dirty))
	if found {
		n++
	}
	switch {
	case n > 0 && head+upTo[s.ends[n-1]] >= now.Least:
		return upTo[change] - upTo[s.ends[n-1]]
	case head >= now.Least:
		return upTo[change]
	default:
		return before
	}
}

// sums are the tokens before each place, and those of the stream.
func (s *Scheduler) sums() []int {
	out := make([]int, len(s.stream)+1)
	for i := range s.stream {
		out[i+1] = out[i] + s.stream[i].Tokens
	}
	return out
}

// sent notes where the prompt ends that is planned.
func (s *Scheduler) sent() {
	n, _ := slices.BinarySearch(s.ends, s.dirty+1)
	s.ends = append(s.ends[:n], len(s.stream))
}
