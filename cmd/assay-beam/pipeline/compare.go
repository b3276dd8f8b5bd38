package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/ingest/partial"
)

// planFn makes the plan from the outlines of all records.
type planFn struct{}

func (f *planFn) ProcessElement(_ int, outlines func(*[]byte) bool, emit func([]byte)) error {
	var list []partial.Outline
	for b := []byte(nil); outlines(&b); {
		var o partial.Outline
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		list = append(list, o)
	}
	plan, err := partial.NewPlan(list)
	if err != nil {
		return err
	}
	b, err := encoded(plan)
	if err == nil {
		emit(b)
	}
	return err
}

// planOf returns the plan of a side input; it is empty if no file could be read.
func planOf(side func(*[]byte) bool) (partial.Plan, error) {
	var b []byte
	if !side(&b) {
		return partial.Plan{}, nil
	}
	return decoded[partial.Plan](b)
}

// splitFn emits the collectives of a record by job and group.
type splitFn struct {
	plan *partial.Plan // of the bundle
}

func (f *splitFn) StartBundle(_ func(*[]byte) bool, _ func(string, []byte)) { f.plan = nil }

func (f *splitFn) ProcessElement(name string, b []byte, side func(*[]byte) bool, emit func(string, []byte)) error {
	if f.plan == nil {
		plan, err := planOf(side)
		if err != nil {
			return err
		}
		f.plan = &plan
	}
	r, err := decoded[record](b)
	if err != nil {
		return err
	}
	place, ok := f.plan.Of[name]
	if !ok || r.Collectives == nil {
		return nil
	}
	list, err := collective.Decode(bytes.NewReader(r.Collectives), name, 1<<62)
	if err != nil {
		return err
	}
	for i, gpu := range list {
		at := place.Members[i]
		if at < 0 {
			continue
		}
		m := f.plan.Jobs[place.Job].Members[at]
		m.Columns = gpu.Columns
		for _, share := range ranks.Split(m) {
			b, err := packShare(at, m, share)
			if err != nil {
				return err
			}
			emit(strconv.Itoa(place.Job)+" "+share.Key, b)
		}
	}
	return nil
}

// A packedShare is a ranks.Given whose columns are in the form of a file.
type packedShare struct {
	ranks.Given
	Columns []byte
}

func packShare(at int, m ranks.Member, share ranks.Share) ([]byte, error) {
	var text bytes.Buffer
	if err := collective.Encode(&text, []collective.OfGPU{{Device: m.Device, Columns: share.Columns}}); err != nil {
		return nil, err
	}
	m.Columns, share.Columns = nil, nil
	return encoded(packedShare{ranks.Given{Place: at, Member: m, Share: share}, text.Bytes()})
}

// shares returns what the members of one group have.
func shares(packed func(*[]byte) bool) (out []ranks.Given, err error) {
	for b := []byte(nil); packed(&b); {
		p, err := decoded[packedShare](b)
		if err != nil {
			return nil, err
		}
		list, err := collective.Decode(bytes.NewReader(p.Columns), "group", 1<<62)
		if err != nil {
			return nil, err
		}
		p.Given.Share.Columns = list[0].Columns
		out = append(out, p.Given)
	}
	return out, nil
}

// jobOf returns the number of the job that a key begins with.
func jobOf(key string) (int, error) {
	number, _, _ := strings.Cut(key, " ")
	return strconv.Atoi(number)
}

// A shape is the outline of a group of a job.
type shape struct {
	Job     int
	Outline ranks.Outline
}

// outlineFn emits the outlines of groups under one key.
type outlineFn struct{}

func (f *outlineFn) ProcessElement(key string, packed func(*[]byte) bool, emit func(int, []byte)) error {
	job, err := jobOf(key)
	if err != nil {
		return err
	}
	list, err := shares(packed)
	if err != nil {
		return err
	}
	b, err := encoded(shape{job, ranks.OutlineOf(list)})
	if err == nil {
		emit(0, b)
	}
	return err
}

// alignFn makes the plans of all jobs from the outlines of their groups.
type alignFn struct{}

func (f *alignFn) ProcessElement(_ int, shapes func(*[]byte) bool, emit func([]byte)) error {
	of := map[int][]ranks.Outline{}
	members := map[int]int{}
	for b := []byte(nil); shapes(&b); {
		s, err := decoded[shape](b)
		if err != nil {
			return err
		}
		of[s.Job] = append(of[s.Job], s.Outline)
		for _, place := range s.Outline.Places {
			members[s.Job] = max(members[s.Job], place+1)
		}
	}
	plans := map[int]ranks.Plan{}
	for job, list := range of {
		plans[job] = ranks.NewPlan(members[job], list)
	}
	b, err := encoded(plans)
	if err == nil {
		emit(b)
	}
	return err
}

// A found is what was found in a group of a job.
type found struct {
	Job    int
	Solved []byte // JSON of a ranks.Solved, which has pointers to 0
}

// solveFn compares the members of each group.
type solveFn struct {
	plans map[int]ranks.Plan // of the bundle
}

func (f *solveFn) StartBundle(_ func(*[]byte) bool, _ func(int, []byte)) { f.plans = nil }

func (f *solveFn) ProcessElement(key string, packed, side func(*[]byte) bool, emit func(int, []byte)) error {
	if f.plans == nil {
		var b []byte
		if !side(&b) {
			return fmt.Errorf("group %q: there is no plan", key)
		}
		plans, err := decoded[map[int]ranks.Plan](b)
		if err != nil {
			return err
		}
		f.plans = plans
	}
	job, err := jobOf(key)
	if err != nil {
		return err
	}
	list, err := shares(packed)
	if err != nil {
		return err
	}
	text, err := json.Marshal(ranks.Solve(list, f.plans[job]))
	if err != nil {
		return err
	}
	b, err := encoded(found{job, text})
	if err == nil {
		emit(0, b)
	}
	return err
}
