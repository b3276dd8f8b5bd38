package memory

import (
	"fmt"
	"math"

	"assay/internal/diag"
	"assay/internal/pickle"
)

// traces reads the history of each device: one list per device.
func (r *reader) traces(list pickle.Value) {
	any := false
	lists := r.doc.Items(list)
	for number, entries := range lists {
		items := r.doc.Items(entries)
		if n := len(items); !r.doc.Complete && number == len(lists)-1 && n > 0 {
			items = items[:n-1] // the file may end within the last entry
		}
		if len(items) == 0 {
			continue
		}
		any = true
		if d := r.device(int64(number)); d != nil {
			r.entries(d, items)
		}
	}
	r.at = place{"device_traces", -1, -1}
	if !any && r.doc.Complete {
		r.issue("memory-history-missing", diag.Info, "")
	}
}

// entries reads the history of a device.
func (r *reader) entries(d *Device, items []pickle.Value) {
	if room := max(0, r.left/perEntry); len(d.Entries) == 0 {
		d.Entries = make([]Entry, 0, min(int64(len(items)), room))
	}
	for i, v := range items {
		r.at = place{"device_traces", int(d.Number), i}
		if !r.take(perEntry) {
			return
		}
		r.out.Records++
		e, ok := r.entry(v)
		if !ok {
			r.unusable()
			continue
		}
		d.Entries = append(d.Entries, e)
	}
}

func (r *reader) entry(v pickle.Value) (e Entry, ok bool) {
	e.Time, e.Size = None, None
	label := int32(0)
	for key, to := range pairs(r.members(v)) {
		switch key {
		case r.keys.action:
			e.Action, ok = r.action(to)
		case r.keys.addr, r.keys.deviceFree:
			e.Address, _ = r.doc.Int(to)
		case r.keys.size:
			e.Size = r.size(to)
		case r.keys.stream:
			n, _ := r.doc.Int(to)
			e.Stream = int32(min(max(n, math.MinInt32), math.MaxInt32))
		case r.keys.time:
			e.Time = r.nanos(to)
		case r.keys.frames:
			e.Stack = r.stack(to)
		case r.keys.category:
			label = r.label(to)
		case r.keys.metadata:
			e.Label = r.label(to)
		}
	}
	if label != 0 {
		e.Label = label
	}
	if e.Action == OutOfMemory && (e.Address < 0 || e.Address > maxBytes) {
		e.Address = None
	}
	return e, ok && (e.Size >= 0 || e.Action == Other || e.Action == Taken)
}

// action parses a name. An unknown action is counted, because it may have
// changed the memory.
func (r *reader) action(v pickle.Value) (Action, bool) {
	if a, ok := r.actions[v]; ok {
		return a, true
	}
	name, ok := r.doc.Text(v)
	if !ok {
		return Other, false
	}
	a := ActionOf(name)
	switch {
	case a != Other || name == "annotate" || name == "other":
	case name == "free":
		a = FreeCompleted
	default:
		r.issue("memory-action-unknown", diag.Suspect, fmt.Sprintf("Entries with unknown actions such as %.40q were left out. If they change memory, the allocated memory is wrong. Use a newer assay.", name))
		return a, true
	}
	r.actions[v] = a
	return a, true
}

// annotations reads the marks set by the program.
func (r *reader) annotations(root pickle.Value) {
	list, _ := r.doc.Lookup(root, "external_annotations")
	for i, v := range r.doc.Items(list) {
		r.at = place{"external_annotations", i, -1}
		if !r.take(perEntry) {
			return
		}
		a := Annotation{Time: None}
		a.Time = r.nanos(r.member(v, "time_us"))
		a.Name, _ = r.doc.Text(r.member(v, "name"))
		a.Device, _ = r.doc.Int(r.member(v, "device"))
		text, _ := r.doc.Text(r.member(v, "stage"))
		if a.End = text == "END"; a.Time >= 0 && (a.End || text == "START") {
			r.out.Annotations = append(r.out.Annotations, a)
		}
	}
}

func (r *reader) settings(root pickle.Value) {
	v, ok := r.doc.Lookup(root, "allocator_settings")
	if !ok || r.doc.Kind(v) != pickle.Dict {
		return
	}
	s := Settings{Known: true, MaxSplit: None}
	if conf, ok := r.doc.Lookup(v, "PYTORCH_CUDA_ALLOC_CONF"); ok {
		s.Configuration, _ = r.doc.Text(conf)
	}
	if on, ok := r.doc.Lookup(v, "expandable_segments"); ok {
		s.Expandable, _ = r.doc.Bool(on)
	}
	if most, ok := r.doc.Lookup(v, "max_split_size"); ok {
		s.MaxSplit = r.size(most)
	}
	r.out.Settings = s
}
