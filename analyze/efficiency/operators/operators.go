package operators

// A Unit is the kind of execution unit that does the arithmetic of an operator.
type Unit uint8

// Only matrix work counts for MFU. Vector work counts one FLOP per element and step of
// arithmetic, also for an exponential. None has no arithmetic.
const (
	UnknownUnit Unit = iota
	Matrix
	Vector
	None
)

// A Reason is why FLOPs or bytes are unknown.
type Reason uint8

// The reasons, those first that a user can fix most easily.
const (
	Known          Reason = iota
	NoShapes              // the capture has no input dimensions: record_shapes=True
	NoConcrete            // the capture has no values of arguments
	NoTypes               // the capture has dimensions of tensors but no types, as NVTX ranges do
	TypeOfList            // a list of tensors has no type
	LengthsOnGPU          // sequence lengths are in tensors
	Routing               // how many experts were hit is not recorded
	NoFormula             // there is no formula for the operator
	GraphReplay           // a replay has no operators
	BadArguments          // the arguments do not fit the formula
	CompiledRegion        // a compiled region without shapes
	TooLarge              // the number does not fit into 63 bits
	Communication         // data moves between GPUs: transfers have its bandwidth
	NotStated             // the compiler does not state it
)

// A Call is one call of an operator: its name and arguments.
type Call struct {
	Op   string
	Args []Arg
	// Kernel is the name of the first kernel or copy that the call launched. Some types
	// are only in there.
	Kernel    string
	HasValues bool   // the capture records the values of arguments
	NoTypes   bool   // it records dimensions without types; lists of tensors are then their tensors, one after the other
	Why       Reason // NoShapes or BadArguments if Args are not usable
}

// An Arg is one argument of a call.
type Arg struct {
	Type    string    // as recorded: "c10::BFloat16", "Scalar", "TensorList", ""
	Dims    []int64   // dimensions of a tensor; nil if it has none
	Strides []int64   // nil if not recorded
	List    [][]int64 // the dimensions of the tensors of a list
	Value   string    // as recorded; "" if not recorded
}

// Work is what one call does.
type Work struct {
	Unit  Unit
	Type  string // type of the operands, which determines the peak, as recorded
	FLOPs Count
	Model Count // FLOPs without what the backward pass computes a second time
	Bytes Count
	// BytesEstimated says that Bytes are no exact compulsory traffic.
	BytesEstimated bool
	// Weights has the bytes of the weights that the call reads, 0 if it has none. It is part
	// of Bytes. Of matrix work it is not known where a formula does not say which operand
	// has the weights.
	Weights Count
}

// A Cache says how a call uses the cache of keys and values of a server.
type Cache struct {
	Use CacheUse
	// PerToken has the bytes of the keys and values of one token in the cache of one layer.
	PerToken Count
}

// A CacheUse says whether a call attends to cached keys or writes them.
type CacheUse uint8

// The uses. A layer has one call of each.
const (
	NoCache CacheUse = iota
	ReadsCache
	WritesCache
)

// A Count is a number of FLOPs or bytes, or the reason why it is not known.
type Count struct {
	N   int64
	Why Reason // Known if N is the number

	// Min and Max limit a number that is not known. Both are 0 if the arguments do not.
	Min, Max int64
}

// Ends returns the least and the most that the number can be, or false if the arguments do
// not limit it. Both are the number if it is known.
func (c Count) Ends() (least, most int64, ok bool) {
	if c.Why == Known {
		return c.N, c.N, true
	}
	return c.Min, c.Max, c.Max > 0
}
