package memory

import (
	"cmp"
	"maps"
	"slices"

	"assay/internal/diag"
	"assay/internal/pickle"
)

// maxDevices is far above the number of devices of one process; a larger number
// means that the file is damaged.
const maxDevices = 1024

// device returns the device of a number, or nil.
func (r *reader) device(number int64) *Device {
	d := r.devices[number]
	if d == nil {
		if number < 0 || number >= maxDevices {
			return nil
		}
		d = &Device{Number: number}
		r.devices[number] = d
	}
	return d
}

// segments reads all segments with their blocks.
func (r *reader) segments(list pickle.Value) {
	for i, v := range r.doc.Items(list) {
		r.at = place{"segments", i, -1}
		if r.full {
			return
		}
		r.segment(v)
	}
}

func (r *reader) segment(v pickle.Value) {
	r.out.Records++
	s := Segment{Size: None, Address: None}
	var blocks pickle.Value
	number := int64(0)
	for key, to := range pairs(r.members(v)) {
		switch key {
		case r.keys.address:
			s.Address, _ = r.doc.Int(to)
		case r.keys.totalSize:
			s.Size = r.size(to)
		case r.keys.stream:
			s.Stream, _ = r.doc.Int(to)
		case r.keys.device:
			number, _ = r.doc.Int(to)
		case r.keys.segmentType:
			text, _ := r.doc.Text(to)
			s.Small = text == "small"
		case r.keys.expandable:
			s.Expandable, _ = r.doc.Bool(to)
		case r.keys.poolID:
			s.Private = r.isPrivate(to)
		case r.keys.frames:
			s.Stack = r.stack(to)
		case r.keys.blocks:
			blocks = to
		}
	}
	d := r.device(number)
	if d == nil || s.Size < 0 {
		r.unusable()
		return
	}
	if !r.take(perSegment) {
		return
	}
	r.blocks(d, &s, blocks)
	d.Segments = append(d.Segments, s)
}

// isPrivate reports whether a pool is not the shared pool, (0, 0).
func (r *reader) isPrivate(pool pickle.Value) bool {
	items := r.doc.Items(pool)
	return slices.ContainsFunc(items[:min(len(items), 2)], func(v pickle.Value) bool {
		n, ok := r.doc.Int(v)
		return ok && n != 0
	})
}

// blocks reads the blocks of a segment. Blocks are contiguous, so a block without
// an address, as PyTorch wrote them until 2.0, begins at the end of the one before.
func (r *reader) blocks(d *Device, s *Segment, list pickle.Value) {
	s.First = len(d.Blocks)
	at, sum := s.Address, int64(0)
	for i, v := range r.doc.Items(list) {
		if !r.take(perBlock) {
			break
		}
		r.at.j = i
		r.out.Records++
		b, ok := r.block(v, at)
		if !ok {
			r.unusable()
			continue
		}
		d.Blocks = append(d.Blocks, b)
		at = b.Address + b.Size
		sum = min(sum+b.Size, maxBytes)
	}
	r.at.j = -1
	s.Count = len(d.Blocks) - s.First
	if sum != s.Size && !r.full && r.doc.Complete {
		r.issue("segment-unlike-its-blocks", diag.Suspect, "")
	}
}

func (r *reader) block(v pickle.Value, at int64) (Block, bool) {
	b := Block{Address: at, Size: None, Requested: None}
	var history pickle.Value
	known := false
	for key, to := range pairs(r.members(v)) {
		switch key {
		case r.keys.address:
			b.Address, _ = r.doc.Int(to)
		case r.keys.size:
			b.Size = r.size(to)
		case r.keys.requested:
			b.Requested = r.size(to)
		case r.keys.state:
			b.State, known = r.state(to)
		case r.keys.frames:
			b.Stack = r.stack(to)
		case r.keys.history:
			history = to
		}
	}
	if past := r.doc.Items(history); len(past) > 0 && b.State != Inactive {
		r.history(&b, past[0])
	}
	return b, b.Size >= 0 && known
}

// history fills a block from the first entry of its history, which is the latest.
// Later versions of PyTorch write the same data into the block itself.
func (r *reader) history(b *Block, v pickle.Value) {
	for key, to := range pairs(r.members(v)) {
		switch key {
		case r.keys.realSize:
			b.Requested = cmp.Or(r.size(to), b.Requested)
		case r.keys.frames:
			b.Stack = cmp.Or(r.stack(to), b.Stack)
		}
	}
}

// state parses the state of a block. It accepts two names for a pending block: the
// one that PyTorch writes and the one in its documentation.
func (r *reader) state(v pickle.Value) (State, bool) {
	text, _ := r.doc.Text(v)
	switch text {
	case "active_allocated":
		return Allocated, true
	case "active_pending_free", "active_awaiting_free":
		return Waiting, true
	case "inactive":
		return Inactive, true
	}
	return Inactive, false
}

// done sorts the devices by number and drops those without memory.
func (r *reader) done() error {
	for _, number := range slices.Sorted(maps.Keys(r.devices)) {
		if d := r.devices[number]; len(d.Segments)+len(d.Entries) > 0 {
			r.out.Devices = append(r.out.Devices, *d)
		}
	}
	return nil
}
