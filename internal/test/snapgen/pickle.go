package snapgen

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

func (f frame) text() string { return fmt.Sprintf("%s:%d %s", f.file, f.line, f.function) }

// A pickler writes protocol 4 in the same way as Python: a shared object is
// written once and then referred to by its number.
type pickler struct {
	w    *bufio.Writer
	memo map[string]int // texts, and "s7" for stack 7
	n    int
}

// Pickle writes the snapshot.
func (r *Run) Pickle(w io.Writer) error {
	p := &pickler{w: bufio.NewWriterSize(w, 1<<20), memo: map[string]int{}}
	p.w.WriteString("\x80\x04")
	p.dict(func() {
		p.text("segments")
		p.list(len(r.segments), func(i int) { r.putSegment(p, r.segments[i]) })
		p.text("device_traces")
		p.list(2, func(device int) {
			events := r.events[r.window():]
			if device == 1 {
				events = nil
			}
			p.list(len(events), func(i int) { r.putEvent(p, events[i]) })
		})
		p.text("allocator_settings")
		p.dict(func() {
			p.text("PYTORCH_CUDA_ALLOC_CONF")
			p.text("")
			p.text("expandable_segments")
			p.bool(r.opt.Expandable)
		})
		p.text("external_annotations")
		p.list(len(r.marks), func(i int) {
			m := r.marks[i]
			p.dict(func() { p.pairs("stage", m.stage, "name", m.name, "device", int64(0), "time_us", m.us) })
		})
	})
	p.w.WriteByte('.')
	return p.w.Flush()
}

func (r *Run) putSegment(p *pickler, s *segment) {
	kind, allocated, active, requested := "large", int64(0), int64(0), int64(0)
	if s.small {
		kind = "small"
	}
	for _, b := range s.blocks {
		if b.state != "inactive" {
			active += b.size
		}
		if b.state == "active_allocated" {
			allocated, requested = allocated+b.size, requested+b.requested
		}
	}
	p.dict(func() {
		p.pairs("device", int64(0), "address", s.addr, "total_size", s.size, "allocated_size", allocated, "active_size", active,
			"requested_size", requested, "stream", int64(0), "segment_type", kind)
		p.text("segment_pool_id")
		p.w.WriteString("K\x00K\x00\x86")
		p.memoize("")
		p.text("is_expandable")
		p.bool(r.opt.Expandable)
		p.text("frames")
		r.putStack(p, s.stack)
		p.text("blocks")
		p.list(len(s.blocks), func(i int) {
			b := s.blocks[i]
			p.dict(func() {
				p.pairs("address", b.addr, "size", b.size, "requested_size", b.requested, "state", b.state)
				p.text("frames")
				r.putStack(p, b.stack)
			})
		})
	})
}

func (r *Run) putEvent(p *pickler, e event) {
	p.dict(func() {
		p.pairs("action", e.action)
		if e.action == "oom" {
			p.pairs("device_free", e.free)
		} else {
			p.pairs("addr", e.addr)
		}
		p.pairs("size", e.size, "stream", int64(0), "time_us", e.us, "compile_context", "N/A", "user_metadata", "")
		p.text("frames")
		if e.action == "snapshot" {
			e.stack = -1
		}
		r.putStack(p, e.stack)
	})
}

// putStack writes a list of frames. Frames are shared. Every second list is
// shared too, as the lists of a block and its entry are.
func (r *Run) putStack(p *pickler, stack int) {
	if stack < 0 {
		p.list(0, nil)
		return
	}
	key := fmt.Sprint("s", stack)
	if n, ok := p.memo[key]; ok && p.n%2 == 0 {
		p.get(n)
		return
	}
	frames := r.stacks[stack]
	p.memo[key] = p.n
	p.list(len(frames), func(i int) {
		f := frames[i]
		name := "f" + f.text()
		if n, ok := p.memo[name]; ok {
			p.get(n)
			return
		}
		p.memo[name] = p.n
		p.dict(func() { p.pairs("name", f.function, "filename", f.file, "line", int64(f.line)) })
	})
}

// memoize numbers the object that was just pushed.
func (p *pickler) memoize(name string) {
	if name != "" {
		p.memo[name] = p.n
	}
	p.n++
	p.w.WriteByte(0x94)
}

func (p *pickler) get(n int) {
	if n < 256 {
		p.w.Write([]byte{'h', byte(n)})
		return
	}
	p.w.WriteByte('j')
	p.w.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
}

func (p *pickler) text(s string) {
	if n, ok := p.memo["t"+s]; ok {
		p.get(n)
		return
	}
	p.w.Write([]byte{0x8c, byte(len(s))})
	p.w.WriteString(s)
	p.memoize("t" + s)
}

func (p *pickler) int(n int64) {
	switch {
	case n >= 0 && n < 256:
		p.w.Write([]byte{'K', byte(n)})
	case n >= 0 && n < 1<<16:
		p.w.Write([]byte{'M', byte(n), byte(n >> 8)})
	case n >= -1<<31 && n < 1<<31:
		p.w.WriteByte('J')
		p.w.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
	default:
		b := binary.LittleEndian.AppendUint64(nil, uint64(n))
		for len(b) > 1 && b[len(b)-1] == 0 && b[len(b)-2] < 0x80 {
			b = b[:len(b)-1]
		}
		p.w.Write([]byte{0x8a, byte(len(b))})
		p.w.Write(b)
	}
}

func (p *pickler) bool(b bool) {
	if b {
		p.w.WriteByte(0x88)
		return
	}
	p.w.WriteByte(0x89)
}

// pairs writes keys and values.
func (p *pickler) pairs(list ...any) {
	for _, v := range list {
		switch v := v.(type) {
		case string:
			p.text(v)
		case int64:
			p.int(v)
		}
	}
}

func (p *pickler) dict(items func()) {
	p.w.WriteByte('}')
	p.memoize("")
	p.w.WriteByte('(')
	items()
	p.w.WriteByte('u')
}

// list writes a list in batches of a thousand items, as Python does.
func (p *pickler) list(n int, item func(int)) {
	const batch = 1000
	p.w.WriteByte(']')
	p.memoize("")
	for from := 0; from < n; from += batch {
		if n-from == 1 {
			item(from)
			p.w.WriteByte('a')
			return
		}
		p.w.WriteByte('(')
		for i := from; i < min(n, from+batch); i++ {
			item(i)
		}
		p.w.WriteByte('e')
	}
}
