package rule

// The rules on what machines say of their GPUs, links and ports.
const (
	GPUFault    = "gpu-fault"
	LinkFault   = "link-fault"
	UnlikePeers = "unlike-peers"
)
