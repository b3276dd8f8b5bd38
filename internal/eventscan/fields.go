// Package eventscan takes one trace event apart in a single pass over its
// bytes.
//
// It knows the members of an event and of its args that assay uses ([Field])
// and skips all others. There are three ways to fill [Fields]:
//
//   - [Decode] walks the event with package jsonscan, member by member. It is
//     short, and takes everything that a profiler may write: escapes, numbers
//     in quotes, exponents, keys written twice.
//   - [Scan] does the usual things in place and gives up at the first unusual
//     one, leaving the event to Decode. It never answers differently: what it
//     accepts, Decode would read the same way, and tests hold it to that.
//   - [Memo.Scan] does what Scan does and remembers the bytes between values,
//     which is faster for the thousandth event of a shape. The same promise
//     and the same tests hold.
//
// [Repair] mends events whose quotes were not escaped, which none of them can
// read.
//
// # States of Scan
//
// An event is read in two levels that look alike: the event's own members, and
// the members of its args. At either level Scan is always at one of four
// places, and each is entered at one point of the code:
//
//	member    behind "{" or ",": white space, then a quoted key
//	colon     behind the key: white space, a colon, white space
//	value     at the first byte of a value; which one is decided by the key
//	separator behind the value: white space, then "," (member) or "}" (out)
//
// Between any two of them, every byte before the index has been looked at and
// accepted, and b[i:] is unread. Scan never looks behind len(b): where the
// block ends first, it gives up.
package eventscan

// A Field is a member of an event, or of its args, that Fields holds.
type Field uint8

// The fields. FieldNone stands for every member that is skipped.
const (
	FieldNone Field = iota

	// Members of the event.
	Phase
	Start
	Dur
	Args

	// Members of the event that are text.
	Category
	Name
	PID
	TID
	ID
	ID2

	// Args that are text: strings without their quotes, arrays as written.
	InputDims
	InputTypes
	InputStrides
	ConcreteInputs
	Collective
	Dtype
	GroupName
	GroupRanks
	ArgName
	KernelHash
	SyncKind
	Finished

	// Args that are three integers.
	Grid
	Block

	// Args that are integers.
	ExternalID
	Correlation
	PythonID
	PythonParent
	PythonModule
	Sequence
	ForwardThread
	Device
	Stream
	Bytes
	Registers
	SharedMemory
	InElements
	OutElements
	GroupSize
	MemBytes
	MemAddress
	MemAllocated
	MemReserved
	MemDevice
	MemDeviceType
	WaitStream
	WaitRecord
	GraphID
	GraphNode
	CopySize

	numFields
)

// A FieldSet is a set of fields.
type FieldSet uint64

// SetOf returns the set of the given fields.
func SetOf(xs ...Field) (s FieldSet) {
	for _, x := range xs {
		s |= 1 << x
	}
	return s
}

// Has reports whether x is in the set.
func (s FieldSet) Has(x Field) bool { return s&(1<<x) != 0 }

const (
	firstText = Category
	numTexts  = Grid - firstText
	firstInt  = ExternalID
	numInts   = numFields - firstInt
)

// headSet has the fields that may be part of a head.
const headSet FieldSet = 1<<Phase | 1<<Category | 1<<PID | 1<<TID

// argSet has the bits of the fields that come from args, and of args itself.
const argSet = 1<<numFields - 1<<InputDims | 1<<Args

// Unreadable is the value of a Device that an event has and that is no number, so
// that it differs from one that the event does not have.
const Unreadable = -1<<63 + 1

// Fields is what one event says, before names are interned. Its texts point
// into the block that was scanned, or into memory of their own where they had
// to be unescaped.
//
// Only the fields that Has reports are valid: the others hold what an earlier
// event left.
type Fields struct {
	set     FieldSet
	head    *head // nil if none of the fields is in one
	phase   byte
	times   [2]int64 // Start and Dur
	texts   [numTexts][]byte
	ints    [numInts]int64
	triples [2][3]int64
}

// say adds what a head says.
func (f *Fields) say(h *head) {
	f.head = h
	if f.set |= h.sets; h.sets.Has(Phase) {
		f.phase = h.phase
	}
}

// Has reports whether the event has the field, and in a form that can be used.
func (f *Fields) Has(x Field) bool { return f.set.Has(x) }

// Empty reports whether the event has none of the fields.
func (f *Fields) Empty() bool { return f.set == 0 }

// Phase returns the first letter of "ph", or 0.
func (f *Fields) Phase() byte {
	if !f.Has(Phase) {
		return 0
	}
	return f.phase
}

// Thread tells threads apart: of two events that one Memo read and that have
// the same Thread, other than 0, the process and the thread are the same. 0 says
// nothing.
func (f *Fields) Thread() int {
	if f.head == nil {
		return 0
	}
	return f.head.thread
}

// Class tells kinds of events apart, as Thread does threads: those of the same
// Class have the same phase and category.
func (f *Fields) Class() int {
	if f.head == nil {
		return 0
	}
	return f.head.class
}

// Start returns "ts" in nanoseconds.
func (f *Fields) Start() int64 { return f.times[0] }

// Dur returns "dur" in nanoseconds.
func (f *Fields) Dur() int64 { return f.times[Dur-Start] }

// Text returns a field from Category to Finished, or nil.
func (f *Fields) Text(x Field) []byte {
	switch {
	case !f.Has(x):
		return nil
	case x <= TID && f.head != nil && f.head.sets.Has(x):
		return f.head.texts[x-firstText]
	}
	return f.texts[x-firstText]
}

// Int returns a field from ExternalID on, or otherwise.
func (f *Fields) Int(x Field, otherwise int64) int64 {
	if !f.Has(x) {
		return otherwise
	}
	return f.ints[x-firstInt]
}

// Triple returns Grid or Block, or zeros.
func (f *Fields) Triple(x Field) [3]int64 {
	if !f.Has(x) {
		return [3]int64{}
	}
	return f.triples[x-Grid]
}
