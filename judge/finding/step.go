package finding

import (
	"maps"
	"slices"
)

// A Step is one action that a finding recommends: a remedy, and the words for the blanks in its
// text.
type Step struct {
	ID   string            `json:"id"`
	Args map[string]string `json:"args,omitempty"` // the words, by blank

	// Shown are the facts of the evidence from which it follows, "word" or "word=value": conditions of
	// remedies have such words, too.
	Shown []string `json:"-"`
}

// For returns the step of a remedy that follows from evidence with these facts.
func (s Step) For(facts ...string) Step {
	s.Shown = facts
	return s
}

// Advise returns the step of a remedy. Fill has pairs of a blank and the word that replaces it.
func Advise(id string, fill ...string) Step {
	s := Step{ID: id}
	for i := 0; i+1 < len(fill); i += 2 {
		if s.Args == nil {
			s.Args = map[string]string{}
		}
		s.Args[fill[i]] = fill[i+1]
	}
	return s
}

func (s Step) equal(other Step) bool { return s.ID == other.ID && maps.Equal(s.Args, other.Args) }

// JoinSteps returns the steps of all lists in order, without duplicates.
func JoinSteps(lists ...[]Step) (out []Step) {
	for _, list := range lists {
		for _, s := range list {
			if i := slices.IndexFunc(out, s.equal); i >= 0 {
				out[i].Shown = append(slices.Clip(out[i].Shown), s.Shown...)
				continue
			}
			out = append(out, s)
		}
	}
	return out
}

// Without returns the steps whose ids are not in the list.
func Without(steps []Step, ids []string) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return slices.Contains(ids, s.ID) })
}
