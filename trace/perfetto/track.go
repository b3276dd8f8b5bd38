package perfetto

import "assay/internal/protoscan"

// Fields of the description of a track, a process and a thread.
const (
	trackID, trackName, trackProcess, trackThread, trackParent, trackCounter, trackStatic, trackAtrace = 1, 2, 3, 4, 5, 8, 10, 13

	processID, processName              = 1, 6
	threadProcess, threadID, threadName = 1, 2, 5
)

// A track is a thread, a queue of a GPU, or anything else on which slices nest.
type track struct {
	id, parent uint64
	number     int // in the order in which tracks occur
	name       string
	process    string
	pid, tid   int64
	isProcess  bool
	isThread   bool
	isCounter  bool
	onDevice   bool  // a slice on it is work of a GPU
	device     int64 // of that work, plus 1; 0 if no slice states it
	last       int64 // the time of its last mark
	shuffled   bool  // its marks are not in the order of time
	described  bool
}

// mostTracks is the number of tracks that are kept.
const mostTracks = 1 << 20

// track returns the track of an id, or nil if there are too many.
func (r *reader) track(id uint64) *track {
	t := r.tracks[id]
	if t == nil {
		if len(r.order) >= mostTracks || !r.take(bytesOfTrack) {
			return nil
		}
		t = &track{id: id, number: len(r.order)}
		r.tracks[id] = t
		r.order = append(r.order, t)
	}
	return t
}

// describe takes the description of a track.
func (r *reader) describe(b []byte) {
	var it track
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case trackID:
			it.id = f.Bits
		case trackParent:
			it.parent = f.Bits
		case trackName, trackStatic, trackAtrace:
			if f.Type == protoscan.Bytes {
				it.name = cut(f.Text)
			}
		case trackProcess:
			it.isProcess = true
			protoscan.Each(f.Text, func(f protoscan.Field) {
				switch f.Number {
				case processID:
					it.pid = int64(int32(f.Bits))
				case processName:
					it.process = cut(f.Text)
				}
			})
		case trackThread:
			it.isThread = true
			protoscan.Each(f.Text, func(f protoscan.Field) {
				switch f.Number {
				case threadProcess:
					it.pid = int64(int32(f.Bits))
				case threadID:
					it.tid = int64(f.Bits)
				case threadName:
					if it.name == "" {
						it.name = cut(f.Text)
					}
				}
			})
		case trackCounter:
			it.isCounter = true
		}
	})
	t := r.track(it.id)
	if t == nil || !r.take(len(it.name)+len(it.process)-len(t.name)-len(t.process)) {
		return
	}
	it.number, it.described, it.last, it.shuffled = t.number, true, t.last, t.shuffled
	*t = it
	if it.isThread {
		r.threadOf(it.tid, it.pid)
	}
}

// threadOf takes the process of a thread.
func (r *reader) threadOf(tid, pid int64) {
	if _, have := r.threads[tid]; have || r.take(bytesOfThread) {
		r.threads[tid] = pid
	}
}

// What a track and a thread take of the memory.
const bytesOfTrack, bytesOfThread = 256, 64

// mostParents is the number of tracks within each other that are followed.
const mostParents = 32

// processOf returns the number and the name of the process to which a track belongs.
func (r *reader) processOf(t *track) (pid int64, name string) {
	pid = t.pid
	for range mostParents {
		if t == nil {
			break
		}
		if t.isProcess {
			if t.process == "" {
				return t.pid, t.name
			}
			return t.pid, t.process
		}
		if pid == 0 {
			pid = t.pid
		}
		next := r.tracks[t.parent]
		if next == t {
			break
		}
		t = next
	}
	return pid, ""
}

// firstTrack is the number of the thread of the first track that is no thread. Numbers of threads are below.
const firstTrack = 1 << 32

// threadOf returns the number of the thread of a track.
func (t *track) threadOf() int64 {
	if t.isThread {
		return t.tid
	}
	return firstTrack + int64(t.number)
}

// endsFirst reports whether ends come before begins of the same time.
func (t *track) endsFirst() bool { return t.onDevice || t.shuffled }
