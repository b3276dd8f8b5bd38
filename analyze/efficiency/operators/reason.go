package operators

var reasonNames = [...]string{
	Known: "", NoShapes: "no shapes", NoConcrete: "no values of arguments", NoTypes: "no types of tensors", TypeOfList: "type of a list", LengthsOnGPU: "lengths on the GPU",
	Routing: "routing", NoFormula: "no formula", GraphReplay: "graph replay", BadArguments: "unexpected arguments", CompiledRegion: "compiled region", TooLarge: "too large a number",
	Communication: "communication", NotStated: "not stated",
}

// String returns the reason as rows of summaries have it, "" if the number is known.
func (r Reason) String() string { return reasonNames[r] }
