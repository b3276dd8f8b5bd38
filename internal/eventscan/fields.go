package eventscan

// A Field is a member of an event, or of its args, that Fields holds.
type Field uint8

// The fields. FieldNone represents every member that is skipped.
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
	CommsID
	ArgName
	KernelHash
	LaunchedKernel
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
	RecordFunction
	StepNumber
	ForwardThread
	Device
	Stream
	Bytes
	Registers
	SharedMemory
	InElements
	OutElements
	GroupSize
	CollectiveSeq
	SourceRank
	TargetRank
	PluginRank
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

// Unreadable is the value of a Device that is not a number. It differs from the value
// of a missing Device.
const Unreadable = -1<<63 + 1

// Fields has the content of one event, before names are interned. Its texts
// point into the scanned block, or into separate memory if they had to be
// unescaped.
//
// Only the fields for which Has returns true are valid. The others contain
// values of an earlier event.
type Fields struct {
	set     FieldSet
	head    *head // nil if none of the fields is in a head
	phase   byte
	times   [2]int64 // Start and Dur
	texts   [numTexts][]byte
	ints    [numInts]int64
	triples [2][3]int64
}

// useHead takes the fields of a head.
func (f *Fields) useHead(h *head) {
	f.head = h
	if f.set |= h.sets; h.sets.Has(Phase) {
		f.phase = h.phase
	}
}

// Has reports whether the event has the field in a usable form.
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

// Thread returns the number of the event's process and thread. Two events that
// one Memo read and that have the same Thread, other than 0, have the same
// process and thread. 0 means unknown.
func (f *Fields) Thread() int {
	if f.head == nil {
		return 0
	}
	return f.head.thread
}

// Class returns the number of the event's phase and category, with the same
// guarantee as Thread.
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

// Int returns the field x, which is ExternalID or a later one, or the value
// otherwise if the event does not have it.
func (f *Fields) Int(x Field, otherwise int64) int64 {
	if !f.Has(x) {
		return otherwise
	}
	return f.ints[x-firstInt]
}

// Triple returns Grid or Block, or zeros if the event does not have it.
func (f *Fields) Triple(x Field) [3]int64 {
	if !f.Has(x) {
		return [3]int64{}
	}
	return f.triples[x-Grid]
}
