package summary

import "encoding/json"

// A Budget is the breakdown of a window into four parts that do not overlap and
// sum to the window. It is computed from the cells whenever JSON is written, so
// that programs that read the JSON need not add up cells. It is ignored when
// JSON is read, so that it cannot contradict them.
type Budget struct {
	ComputeNS     int64 `json:"compute_ns"`
	ExposedCommNS int64 `json:"exposed_comm_ns"`
	ExposedCopyNS int64 `json:"exposed_copy_ns"`
	IdleNS        int64 `json:"idle_ns"`
}

func (a Activity) budget() Budget {
	return Budget{a.Compute(), a.ExposedComm(), a.ExposedCopy(), a.Idle()}
}

// Budget returns the breakdown of the window.
func (d *Device) Budget() (b Budget, known bool) { return d.Activity.budget(), true }

// Budget returns the breakdown of the step, which is not known of one that was logged.
func (s *Step) Budget() (b Budget, known bool) { return s.Activity.budget(), s.Source != SourceLog }

// Budget returns the breakdown of the phase with nested ones, which is not known of one that was logged.
func (p *Phase) Budget() (b Budget, known bool) { return p.Total.budget(), p.Source != SourceLog }

// MarshalJSON writes the fields of d and the member "budget", which has
// compute_ns, exposed_comm_ns, exposed_copy_ns and idle_ns. They are the values
// of [Activity] and sum to window_ns.
func (d Device) MarshalJSON() ([]byte, error) {
	type plain Device // without this method
	return json.Marshal(struct {
		plain
		Budget Budget `json:"budget"`
	}{plain(d), d.Activity.budget()})
}

// MarshalJSON writes the fields of s and the member "budget", which has
// compute_ns, exposed_comm_ns, exposed_copy_ns and idle_ns. They are the values
// of [Activity] and sum to wall_ns. A step that was logged has neither.
func (s Step) MarshalJSON() ([]byte, error) {
	type plain Step // without this method
	budget, known := s.Budget()
	if !known {
		return json.Marshal(struct {
			plain
			Activity any `json:"activity,omitempty"`
		}{plain: plain(s)})
	}
	return json.Marshal(struct {
		plain
		Budget Budget `json:"budget"`
	}{plain(s), budget})
}

// MarshalJSON writes the fields of p and the member "budget", in the same form
// as for a device. Its values are computed from Total, which includes nested
// phases. A phase that was logged has no activity.
func (p Phase) MarshalJSON() ([]byte, error) {
	type plain Phase // without this method
	budget, known := p.Budget()
	if !known {
		return json.Marshal(struct {
			plain
			Activity any `json:"activity,omitempty"`
			Total    any `json:"total,omitempty"`
		}{plain: plain(p)})
	}
	return json.Marshal(struct {
		plain
		Budget Budget `json:"budget"`
	}{plain(p), budget})
}

// JSONShape returns what MarshalJSON encodes.
func (d Device) JSONShape() any {
	type plain Device // without the methods
	return struct {
		plain
		Budget Budget `json:"budget"`
	}{}
}

// JSONShape returns what MarshalJSON encodes.
func (s Step) JSONShape() any {
	type plain Step // without the methods
	return struct {
		plain
		Activity *Activity `json:"activity,omitempty"`
		Budget   *Budget   `json:"budget,omitempty"`
	}{}
}

// JSONShape returns what MarshalJSON encodes.
func (p Phase) JSONShape() any {
	type plain Phase // without the methods
	return struct {
		plain
		Activity *Activity `json:"activity,omitempty"`
		Total    *Activity `json:"total,omitempty"`
		Budget   *Budget   `json:"budget,omitempty"`
	}{}
}
