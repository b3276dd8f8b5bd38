package memory

import (
	"iter"

	"assay/internal/pickle"
	"assay/internal/redact"
)

// keys are the values of the member names in one pickle. Equal texts are one
// value there, so a member is found by comparing numbers.
type keys struct {
	address, totalSize, stream, segmentType, poolID, expandable, frames, blocks, device pickle.Value
	size, requested, state, history, realSize                                           pickle.Value
	action, addr, time, metadata, category, deviceFree                                  pickle.Value
	file, line, function                                                                pickle.Value
}

func keysOf(d *pickle.Doc) (k keys) {
	for name, at := range map[string]*pickle.Value{
		"address": &k.address, "total_size": &k.totalSize, "stream": &k.stream, "segment_type": &k.segmentType,
		"segment_pool_id": &k.poolID, "is_expandable": &k.expandable, "frames": &k.frames, "blocks": &k.blocks, "device": &k.device,
		"size": &k.size, "requested_size": &k.requested, "state": &k.state, "history": &k.history, "real_size": &k.realSize,
		"action": &k.action, "addr": &k.addr, "time_us": &k.time, "user_metadata": &k.metadata, "category": &k.category, "device_free": &k.deviceFree,
		"filename": &k.file, "line": &k.line, "name": &k.function,
	} {
		// A text that the pickle does not contain equals none of its keys: no
		// text is None, which is the zero value.
		if v, ok := d.Key(name); ok {
			*at = v
		}
	}
	return k
}

// maxBytes exceeds the memory of any device; larger sizes are damage.
const maxBytes = 1 << 50

// maxMembers is the maximum number of members of a record; PyTorch writes about
// fifteen. Many records may be the same dict, so a large dict would be walked
// for each of them.
const maxMembers = 256

// members returns the alternating keys and values of a record, or nothing if v
// is not a record.
func (r *reader) members(v pickle.Value) []pickle.Value {
	items := r.doc.Members(v)
	if len(items) > 2*maxMembers {
		return nil
	}
	return items
}

// pairs iterates over keys and values. It takes the list instead of the record
// so that the compiler makes a plain loop of it.
func pairs(members []pickle.Value) iter.Seq2[pickle.Value, pickle.Value] {
	return func(yield func(key, to pickle.Value) bool) {
		for i := 0; i+1 < len(members); i += 2 {
			if !yield(members[i], members[i+1]) {
				return
			}
		}
	}
}

// member returns the value of a record for a key, or None.
func (r *reader) member(v pickle.Value, key string) pickle.Value {
	if len(r.members(v)) == 0 {
		return 0
	}
	to, _ := r.doc.Lookup(v, key)
	return to
}

// size returns a number of bytes, or None.
func (r *reader) size(v pickle.Value) int64 {
	n, ok := r.doc.Int(v)
	if !ok || n < 0 || n > maxBytes {
		return None
	}
	return n
}

// nanos returns a time given in µs, or None.
func (r *reader) nanos(v pickle.Value) int64 {
	const most = (1<<63 - 1) / 1000
	if n, ok := r.doc.Int(v); ok && n >= 0 && n <= most {
		return n * 1000
	}
	return None
}

// label returns the number of the user metadata v.
func (r *reader) label(v pickle.Value) int32 {
	text, ok := r.doc.Text(v)
	if !ok || text == "" {
		return 0
	}
	const most = 200 // the maximum length that is shown
	text = redact.Cut(text, most)
	n, ok := r.labels[text]
	if !ok && r.take(int64(2*len(text)+perStack)) {
		n = int32(len(r.out.Labels))
		r.labels[text] = n
		r.out.Labels = append(r.out.Labels, text)
	}
	return n
}

// maxStack is the maximum number of frames of a stack; the innermost ones are
// kept.
const maxStack = 1000

// stack returns the number of a list of frames. The pickle shares lists and
// frames, so most are found by their numbers.
func (r *reader) stack(v pickle.Value) StackID {
	at := r.doc.First(v)
	if at < 0 {
		return 0
	}
	if n := r.seen[at]; n < 0 {
		return StackID(-n - 1)
	}
	items := r.doc.Items(v)
	if len(items) == 0 {
		return 0
	}
	if !r.take(perStack) {
		return 0
	}
	r.list = r.list[:0]
	for _, it := range items[:min(len(items), maxStack)] {
		if f, ok := r.frame(it); ok {
			r.list = append(r.list, f)
		}
	}
	before := r.out.Stacks.Len()
	id := r.out.Stacks.Add(r.list)
	if r.out.Stacks.Len() > before && !r.take(int64(len(r.list))*perFrame) {
		return 0
	}
	r.seen[at] = -int32(id) - 1
	return id
}

func (r *reader) frame(v pickle.Value) (FrameID, bool) {
	at := r.doc.ID(v)
	if at < 0 {
		return 0, false
	}
	if n := r.seen[at]; n > 0 {
		return FrameID(n - 1), true
	}
	items := r.members(v)
	if len(items) == 0 {
		return 0, false
	}
	var f Frame
	for key, to := range pairs(items) {
		switch key {
		case r.keys.file:
			f.File, _ = r.doc.Text(to)
		case r.keys.function:
			f.Function, _ = r.doc.Text(to)
		case r.keys.line:
			f.Line, _ = r.doc.Int(to)
		}
	}
	if !r.take(4 * perStack) {
		return 0, false
	}
	id := r.out.Stacks.Frame(f)
	if r.seen[at] == 0 { // a damaged pickle may use one dict as a stack too
		r.seen[at] = int32(id) + 1
	}
	return id, true
}
