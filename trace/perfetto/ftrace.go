package perfetto

import (
	"encoding/binary"

	"assay/internal/protoscan"
	"assay/trace"
)

// Fields of the events of a CPU, of one of them and of a switch of threads; and of the compact form.
const (
	ftraceCPU, ftraceEvent, ftraceCompact = 1, 2, 4
	eventTime, eventSwitch                = 1, 4
	switchFrom, switchTo                  = 2, 6

	compactTimes, compactTo = 1, 3
)

// offCPU is a time during which a thread did not run.
type offCPU struct{ tid, start, dur int64 }

// What is kept of the scheduler: times in bytes with what the growth of their list takes, and CPUs.
const bytesOfOffCPU, mostCPUs = 48, 1 << 12

// A scheduler follows which thread runs on each CPU.
type scheduler struct {
	since   map[int64]int64  // by thread: since when it does not run
	running map[uint64]int64 // by CPU: the thread
}

// ftrace reads the events of one CPU.
func (r *reader) ftrace(b []byte) {
	if r.sched.since == nil {
		r.sched = scheduler{map[int64]int64{}, map[uint64]int64{}}
	}
	var cpu uint64
	protoscan.Each(b, func(f protoscan.Field) {
		switch {
		case f.Number == ftraceCPU && f.Type == protoscan.Varint:
			cpu = f.Bits
		case f.Number == ftraceEvent && f.Type == protoscan.Bytes:
			r.ftraceEvent(cpu, f.Text)
		case f.Number == ftraceCompact && f.Type == protoscan.Bytes:
			r.compactSwitches(cpu, f.Text)
		}
	})
}

func (r *reader) ftraceEvent(cpu uint64, b []byte) {
	var at uint64
	var switched []byte
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case eventTime:
			at = f.Bits
		case eventSwitch:
			switched = f.Text
		}
	})
	if switched == nil || at > latest {
		return
	}
	var from, to int64
	protoscan.Each(switched, func(f protoscan.Field) {
		switch f.Number {
		case switchFrom:
			from = int64(int32(f.Bits))
		case switchTo:
			to = int64(int32(f.Bits))
		}
	})
	r.switched(cpu, int64(at), from, to)
}

// compactSwitches reads switches as lists: times, each since the one before, and the threads that run next.
func (r *reader) compactSwitches(cpu uint64, b []byte) {
	var times, threads []byte
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case compactTimes:
			times = f.Text
		case compactTo:
			threads = f.Text
		}
	})
	at := int64(0)
	for len(times) > 0 && len(threads) > 0 && !r.full {
		delta, n := binary.Uvarint(times)
		to, k := binary.Uvarint(threads)
		if n <= 0 || k <= 0 || delta > latest || at+int64(delta) > latest {
			r.damaged++
			return
		}
		times, threads, at = times[n:], threads[k:], at+int64(delta)
		r.switched(cpu, at, r.sched.running[cpu], int64(int32(to)))
	}
}

// switched notes that a CPU runs another thread from now on. Thread 0 is no thread: the CPU is idle.
func (r *reader) switched(cpu uint64, at, from, to int64) {
	s := &r.sched
	if _, have := s.running[cpu]; have || len(s.running) < mostCPUs {
		s.running[cpu] = to
	}
	if _, have := s.since[from]; from > 0 && (have || r.take(bytesOfThread)) {
		s.since[from] = at
	}
	since, off := s.since[to]
	if to <= 0 || !off {
		return
	}
	delete(s.since, to)
	r.used -= bytesOfThread
	if at > since && r.take(bytesOfOffCPU) {
		r.off = append(r.off, offCPU{to, since, at - since})
	}
}

// processTree takes which thread belongs to which process.
func (r *reader) processTree(b []byte) {
	protoscan.Each(b, func(f protoscan.Field) {
		if f.Number != 2 || f.Type != protoscan.Bytes {
			return
		}
		var tid, pid int64
		protoscan.Each(f.Text, func(f protoscan.Field) {
			switch f.Number {
			case 1:
				tid = int64(int32(f.Bits))
			case 3:
				pid = int64(int32(f.Bits))
			}
		})
		r.threadOf(tid, pid)
	})
}

// addOffCPU adds when the threads that have slices did not run. Of other threads of the machine nothing is known but that.
func (r *reader) addOffCPU() {
	own := map[int64]bool{}
	for _, t := range r.order {
		if t.isThread {
			own[t.tid] = true
		}
	}
	for _, o := range r.off {
		if own[o.tid] {
			r.out.Span(trace.HostSpan{Start: o.start, Dur: o.dur, Kind: trace.OffCPU, Name: r.out.Sym([]byte("(thread not running)")),
				Category: r.out.Sym([]byte("sched")), Track: r.out.Thread(r.threads[o.tid], o.tid)})
		}
	}
}
