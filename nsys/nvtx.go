package nsys

import (
	"bytes"
	"strconv"

	"assay/internal/diag"
	"assay/trace"
)

// nvtx adds a range of NVTX. Push/pop ranges nest and become annotations.
// Start/end ranges may overlap and may end on another thread. The ranges that
// torch.autograd.profiler.emit_nvtx writes around operators become operators.
// Marks have no duration and are skipped.
func (l *loader) nvtx(r row) {
	kind := r.Num(2)
	switch kind {
	case nvtxRange, nvtxtRange, nvtxStartEnd, nvtxtStartEnd:
	case nvtxNameThread:
		if text := l.nvtxText(r); len(text) > 0 {
			t := l.thread(r.Num(4))
			l.out.NameThread(t.pid, t.tid, printable(text))
		}
		return
	default:
		return // marks, categories, names of resources; domains were read before
	}
	start := r.Num(0)
	end := r.Num(1)
	if r.Null(1) {
		l.seen.unclosed++
		end = max(start, l.seen.lastEnd) // of device work and calls, which were read before
	}
	if end < start || end-start < 0 {
		l.bad("event-negative-duration", "Rows that end before they start were skipped. The clock of the profiler went backwards. Record again.")
		return
	}
	l.seen.ranges++
	t := l.thread(r.Num(4))
	text := l.nvtxText(r)
	track := l.out.Thread(t.pid, t.tid)
	if kind == nvtxRange && r.Num(7) == 0 && r.Num(5) == 0 {
		if op, ok := parseOp(text); ok {
			l.op(op, start, end-start, track)
			return
		}
	}
	category := "nvtx"
	if domain := r.Num(7); domain != 0 {
		name := l.domain(t.pid, domain)
		category = "nvtx:" + name
		if name == ncclDomain && kind == nvtxRange {
			l.nccl(t.pid, text, r.Text(8), start, end-start, track)
		}
	}
	s := trace.HostSpan{Start: start, Dur: end - start, Kind: trace.Annotation, Name: l.out.Sym(text), Category: l.label(category), Track: track}
	if kind == nvtxRange || kind == nvtxtRange {
		l.out.Span(s)
	} else {
		l.out.Async(s)
	}
}

// nvtxText returns the text of an event. The text of a registered string is in
// StringIds.
func (l *loader) nvtxText(r row) []byte {
	if text := r.Text(3); len(text) > 0 || r.Null(6) {
		return text
	}
	return l.string(r.Num(6))
}

// domain returns the name of a domain, or its number if it has no name.
func (l *loader) domain(pid, id int64) string {
	if name, ok := l.domains[domainKey{pid, id}]; ok {
		return name
	}
	return strconv.FormatInt(id, 10)
}

var domainColumns = []string{"eventType", "globalTid", "domainId", "text", "textId"}

// nvtxDomains reads the names of the domains, which must be known before the
// ranges in them.
func (l *loader) nvtxDomains() {
	const most = 1 << 16
	err := l.src.scan("NVTX_EVENTS", domainColumns, func(r row) bool {
		if r.Num(0) == nvtxDomain {
			name := r.Text(3)
			if len(name) == 0 && !r.Null(4) {
				name = l.string(r.Num(4))
			}
			l.domains[domainKey{l.thread(r.Num(1)).pid, r.Num(2)}] = printable(name)
		}
		return len(l.domains) < most
	})
	if err != nil {
		return // reading the ranges of the same table will report the error
	}
}

// A torchOp is the content of a range that torch.autograd.profiler.emit_nvtx
// writes around an operator.
type torchOp struct {
	name     []byte
	sequence int64 // -1 if none
	op       int64 // its number in the process; 0 if none
	sizes    []byte
}

// parseOp parses the text of such a range:
// "aten::mm, seq = 5, op_id = 7, sizes = [[1, 2]]". At least one part after the
// name must be present.
func parseOp(text []byte) (op torchOp, ok bool) {
	op.sequence = -1
	name, rest, ok := bytes.Cut(text, []byte(", "))
	if !ok || len(name) == 0 {
		return op, false
	}
	op.name, ok = name, false
	if after, found := bytes.CutPrefix(rest, []byte("seq = ")); found {
		if op.sequence, rest, ok = cutNumber(after); !ok {
			return op, false
		}
	}
	if after, found := bytes.CutPrefix(rest, []byte("op_id = ")); found {
		if op.op, rest, ok = cutNumber(after); !ok {
			return op, false
		}
	}
	if after, found := bytes.CutPrefix(rest, []byte("sizes = ")); found {
		op.sizes, _, _ = bytes.Cut(after, []byte(", input_op_ids = "))
		return op, true
	}
	return op, ok && (len(rest) == 0 || bytes.HasPrefix(rest, []byte("input_op_ids = ")))
}

// cutNumber splits a number and the comma after it off the front of a text.
func cutNumber(text []byte) (n int64, rest []byte, ok bool) {
	i := 0
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || i == 0 && text[i] == '-') {
		i++
	}
	n, err := strconv.ParseInt(string(text[:i]), 10, 64)
	if err != nil {
		return 0, nil, false
	}
	rest = text[i:]
	if len(rest) > 0 {
		var comma bool
		if rest, comma = bytes.CutPrefix(rest, []byte(", ")); !comma {
			return 0, nil, false
		}
	}
	return n, rest, true
}

// op adds an operator. It stores the sequence number plus 1, because 0 means that
// there is none.
func (l *loader) op(op torchOp, start, dur int64, track trace.TrackID) {
	l.meta.NVTXOps = true
	name := l.out.Sym(op.name)
	row := trace.Op{Start: start, Dur: dur, Name: name, Track: track, External: trace.IDOf(op.op)}
	if op.sequence >= 0 {
		row.Sequence = trace.IDOf(op.sequence + 1)
		if isBackward(op.name) {
			row.Forward = 1 // any thread but 0: NVTX does not record the thread of the forward pass
		}
	}
	row.Shape = l.out.Shape(trace.Shape{Dims: l.out.Sym(op.sizes)}, name)
	l.out.Op(row)
}

// isBackward reports whether an operator is a node of the backward pass:
// AddmmBackward0.
func isBackward(name []byte) bool {
	base := bytes.TrimRight(name, "0123456789")
	return bytes.HasSuffix(base, []byte("Backward"))
}

// sched adds the times in which a thread existed but did not run: it waited, or
// another thread had its core.
func (l *loader) sched(r row) {
	global, start := r.Num(2), r.Num(0)
	since, off := l.offCPU[global]
	if r.Num(1) == 0 {
		if len(l.offCPU) < maxThreads {
			l.offCPU[global] = start
		}
		return
	}
	delete(l.offCPU, global)
	if !off || start <= since {
		return
	}
	t := l.thread(global)
	l.out.Span(trace.HostSpan{Start: since, Dur: start - since, Kind: trace.OffCPU, Name: l.label(notRunning), Category: l.label("sched"), Track: l.out.Thread(t.pid, t.tid)})
}

// notRunning is the name of the spans in which a thread did not run.
const notRunning = "(thread not running)"

// maxThreads is the maximum number of threads whose scheduling is followed.
const maxThreads = 1 << 20

// unclosedRanges adds an issue that explains how ranges without an end were handled.
func (l *loader) unclosedRanges() {
	l.out.Issue(diag.Issue{Code: "range-not-closed", Severity: diag.Info}, l.seen.unclosed)
}
