package rankgen

import "slices"

// A Truth is what the files of some ranks of a job tell when they are compared.
type Truth struct {
	Ranks []Rank // by place; those that were not given have no Given
	Rows  map[Row]Sums
}

// A Rank has the sums of one rank. Times are in ns. Of collectives to which several came
// last, the one with the lowest number counts as the last.
type Rank struct {
	Given                         bool
	Number                        int
	Collectives, Incomplete, Last int64
	Transfer, Wait, Caused        int64
	Window                        int64 // from the first start to the last end of its kernels
	Offset                        int64 // of the clock
	Stage                         int   // of the pipeline; -1 without one
	StageWait, Messages           int64 // in sends and receives between stages
	ForBefore, ForAfter           int64 // the part of StageWait for stages before this one, and for later ones
	Split                         int64 // bytes received or sent back in uneven all-to-alls
	Aligned                       bool  // a chain of collectives leads to the first rank of its world
}

// A Row identifies collectives that a report shows together.
type Row struct {
	Group, Ranks, Op string // "" where the era does not say
	Bytes            int64  // 0 where the era does not say, or ranks differ
}

// Sums are over the collectives of a row.
type Sums struct {
	Given             int // ranks of the group that were given
	Count, Incomplete int64
	Transfer, Wait    int64
	Splits            Splits
}

// Splits are the sizes of all-to-alls whose ranks have different ones. Of each, the side
// counts that differs more: what ranks receive, or what they send back.
type Splits struct {
	Count, Max, Mean int64 // instances; bytes of the largest rank, and of the mean
	Wait             int64 // for the rank that had the most to send back
}

// late is the mean wait from which a rank that comes last counts as late, in ns, and the
// part of the transfer that it must be as well.
const (
	late       = 10_000
	lateFactor = 20
)

// Truth returns what the files of the given places tell. An instance is complete if every
// given rank of its group recorded it; of a send, if both ranks did.
func (j *Job) Truth(given []int) Truth {
	t := Truth{Ranks: make([]Rank, len(j.ranks)), Rows: map[Row]Sums{}}
	for _, p := range given {
		t.Ranks[p].Given, t.Ranks[p].Number = true, j.ranks[p].number
	}
	for p := range t.Ranks {
		t.Ranks[p].Stage = -1
		for _, c := range j.ranks[p].comms {
			if c.desc == "mesh_pp" && j.Era != Era2022 && t.Ranks[p].Given {
				t.Ranks[p].Stage = slices.Index(c.places, p)
			}
		}
	}
	for _, in := range j.instances {
		j.count(&t, in)
	}
	j.align(&t, given)
	for _, p := range given {
		t.Ranks[p].Window = j.ranks[p].window()
	}
	return t
}

// window returns the time from the first start to the last end of the kernels that the
// capture of a rank has.
func (r *rank) window() int64 {
	first, last := int64(-1), int64(0)
	for i := range r.events {
		if e := &r.events[i]; e.kind == kernel && !(e.of != nil && !e.part.recorded) && !(e.of == nil && r.skip > 0 && e.after <= r.skip) {
			if first < 0 || e.start < first {
				first = e.start
			}
			last = max(last, e.start+e.dur)
		}
	}
	return last - max(0, first)
}

// count adds one instance to the truth.
func (j *Job) count(t *Truth, in *instance) {
	of, recorded := 0, []int{} // ranks that were given; those that recorded the instance
	for i, p := range in.places {
		if t.Ranks[p].Given {
			of++
			if in.parts[i].recorded {
				recorded = append(recorded, i)
			}
		}
	}
	if len(recorded) == 0 {
		return
	}
	row := j.rowOf(in)
	sums := t.Rows[row]
	here := 0
	for _, p := range in.comm.places {
		if t.Ranks[p].Given {
			here++
		}
	}
	sums.Given = max(sums.Given, here)
	if len(recorded) < max(2, of) {
		sums.Incomplete++
		for _, i := range recorded {
			t.Ranks[in.places[i]].Incomplete++
		}
	} else {
		sums.Count++
		for _, i := range recorded {
			t.Ranks[in.places[i]].Collectives++
		}
		if in.synchronizes() {
			transfer, wait := in.wait(t, recorded)
			sums.Transfer, sums.Wait = sums.Transfer+transfer, sums.Wait+wait
			in.split(t, recorded, &sums.Splits)
		} else if in.op.name == send.name && t.Ranks[in.places[0]].Stage >= 0 {
			for k, i := range recorded {
				r := &t.Ranks[in.places[i]]
				r.Messages++
				wait := max(0, in.parts[recorded[1-k]].arrive-in.parts[i].arrive)
				r.StageWait += wait
				if t.Ranks[in.places[recorded[1-k]]].Stage < r.Stage {
					r.ForBefore += wait
				} else {
					r.ForAfter += wait
				}
			}
		}
	}
	t.Rows[row] = sums
}

// synchronizes reports whether no rank leaves before all have come.
func (in *instance) synchronizes() bool {
	return in.op.name != send.name && in.op.name != Broadcast.name
}

// wait adds a complete instance to the sums of its ranks, and returns what is transfer and
// wait. If ranks are missing, the last of the others may not have been the last, and its
// whole duration counts as transfer.
func (in *instance) wait(t *Truth, recorded []int) (transfer, wait int64) {
	last, end := recorded[0], int64(0)
	for _, p := range in.parts {
		end = max(end, p.arrive+in.transfer)
	}
	for _, i := range recorded {
		if in.parts[i].arrive > in.parts[last].arrive {
			last = i
		}
	}
	transfer = end - in.parts[last].arrive
	for _, i := range recorded {
		r, own := &t.Ranks[in.places[i]], in.parts[last].arrive-in.parts[i].arrive
		r.Transfer += transfer
		r.Wait += own
		wait += own
	}
	r := &t.Ranks[in.places[last]]
	r.Caused += wait
	if wait/int64(len(recorded)-1) >= max(late, transfer/lateFactor) {
		r.Last++
	}
	return transfer, wait
}

// split adds the sizes of a complete all-to-all, if its ranks have different ones.
func (in *instance) split(t *Truth, recorded []int, s *Splits) {
	var received, sent []int64
	for _, i := range recorded {
		received, sent = append(received, in.parts[i].out*elementBytes), append(sent, in.parts[i].in*elementBytes)
	}
	total := func(list []int64) (n int64) {
		for _, v := range list {
			n += v
		}
		return n
	}
	if in.op != AllToAll || slices.Max(received) == slices.Min(received) && slices.Max(sent) == slices.Min(sent) {
		return
	}
	bytes, back := received, false
	if slices.Max(sent)*total(received) > slices.Max(received)*total(sent) {
		bytes, back = sent, true
	}
	s.Count, s.Max, s.Mean = s.Count+1, s.Max+slices.Max(bytes), s.Mean+total(bytes)/int64(len(bytes))
	last, wait := 0, int64(0)
	for k, i := range recorded {
		t.Ranks[in.places[i]].Split += bytes[k]
		if in.parts[i].arrive > in.parts[recorded[last]].arrive {
			last = k
		}
	}
	for _, i := range recorded {
		wait += in.parts[recorded[last]].arrive - in.parts[i].arrive
	}
	if back && bytes[last] == slices.Max(bytes) {
		s.Wait += wait
	}
}

// rowOf returns the row of an instance, with what the era records.
func (j *Job) rowOf(in *instance) Row {
	row := Row{Op: in.op.name, Bytes: in.bytes}
	if in.anonymous {
		row.Bytes = 0
	} else if j.Era != Era2022 {
		row.Group, row.Ranks = in.comm.name, in.comm.ranksText()
	}
	return row
}

// align finds the ranks that a chain of complete collectives joins to the first rank of
// their world.
func (j *Job) align(t *Truth, given []int) {
	next := []int{}
	for _, p := range given {
		if r := j.ranks[p]; !slices.ContainsFunc(given, func(q int) bool { return j.ranks[q].folder == r.folder && j.ranks[q].number < r.number }) {
			t.Ranks[p].Aligned = true
			next = append(next, p)
		}
	}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		for _, in := range j.instances {
			if !in.synchronizes() || !slices.Contains(in.places, from) || !in.complete(t) {
				continue
			}
			for _, p := range in.places {
				if to := &t.Ranks[p]; to.Given && !to.Aligned {
					to.Aligned, to.Offset = true, t.Ranks[from].Offset+j.ranks[p].clock-j.ranks[from].clock
					next = append(next, p)
				}
			}
		}
	}
}

// complete reports whether all given ranks recorded the instance.
func (in *instance) complete(t *Truth) bool {
	for i, p := range in.places {
		if t.Ranks[p].Given && !in.parts[i].recorded {
			return false
		}
	}
	return true
}
