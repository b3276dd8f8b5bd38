package operators

// communications has collectives, and transfers between two processes. Most of their time may
// be waiting, so that a roofline says nothing of them: their bandwidth is compared with that of
// the link.
var communications = []Model{
	{
		names: []string{"record_param_comms", "c10d::*"}, Library: "PyTorch", Unit: UnknownUnit, own: true,
		Args: "tensors", FLOPs: "unknown", Bytes: "unknown; transfers have the bandwidth", never: Communication,
	},
}
