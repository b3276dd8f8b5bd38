package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A direction is what a copy or memset does, as far as its name tells.
type direction string

// The directions. A copy from the host whose memory its name does not tell is
// neither from pageable nor from pinned memory.
const (
	fromPageable direction = "copies from pageable host memory to the device"
	fromPinned   direction = "copies from pinned host memory to the device"
	fromHost     direction = "copies from the host to the device"
	toHost       direction = "copies from the device to the host"
	onDevice     direction = "copies within the device"
	toPeer       direction = "copies between devices"
	fill         direction = "memsets"
	unknownCopy  direction = "copies of a kind that their names do not tell"
)

// directionOf reads the names of CUPTI, as "Memcpy HtoD (Pageable -> Device)", of
// ROCm, as "CopyHostToDevice", and of nsys, as "[CUDA memcpy Host-to-Device]".
func directionOf(k summary.Copy) direction {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(k.Name, w) })
	}
	switch {
	case k.Class == "memset" || has("Memset"):
		return fill
	case has("HtoD", "HostToDevice", "Host-to-Device", "H2D") && has("Pageable"):
		return fromPageable
	case has("HtoD", "HostToDevice", "Host-to-Device", "H2D") && has("Pinned"):
		return fromPinned
	case has("HtoD", "HostToDevice", "Host-to-Device", "H2D"):
		return fromHost
	case has("DtoH", "DeviceToHost", "Device-to-Host", "D2H"):
		return toHost
	case has("DtoD", "DeviceToDevice", "Device-to-Device", "D2D"):
		return onDevice
	case has("PtoP", "PeerToPeer", "Peer-to-Peer", "P2P"):
		return toPeer
	}
	return unknownCopy
}

// A copyKind is every copy of one direction.
type copyKind struct {
	direction
	runs, ns    int64
	all         int64 // ns of all copies and memsets, of whatever direction
	told, bytes int64 // told: time of the rows that give their bytes
}

// copyKinds sums the copies by direction, those with the most work first.
func (c *court) copyKinds() []copyKind {
	sums := map[direction]copyKind{}
	all := int64(0)
	for _, k := range c.Copies {
		sum := sums[directionOf(k)]
		sum.runs = summary.Plus(sum.runs, k.Count)
		sum.ns = summary.Plus(sum.ns, k.TotalNS)
		all = summary.Plus(all, k.TotalNS)
		if k.Bytes != nil {
			sum.told = summary.Plus(sum.told, k.TotalNS)
			sum.bytes = summary.Plus(sum.bytes, *k.Bytes)
		}
		sums[directionOf(k)] = sum
	}
	var out []copyKind
	for d, sum := range sums {
		sum.direction, sum.all = d, all
		out = append(out, sum)
	}
	slices.SortFunc(out, func(a, b copyKind) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.direction, b.direction))
	})
	return out
}

// matters reports whether a kind is a quarter of the work or more.
func (k copyKind) matters() bool { return k.ns >= k.all/4 }

// copyEvidence describes the largest kind and all others that matter.
func copyEvidence(kinds []copyKind) (out []string) {
	for i, k := range kinds {
		if i > 0 && !k.matters() {
			break
		}
		line := fmt.Sprintf("%s are %s of copy and memset work (%s in %s", k.direction,
			unit.Share(k.ns, k.all), fraction(k.ns, k.all), plural(k.runs, "run"))
		if k.told == k.ns && k.bytes > 0 {
			line += fmt.Sprintf(", %s at %s", unit.Bytes(k.bytes), unit.Rate(k.bytes, k.told))
		}
		out = append(out, line+")")
	}
	return out
}

// copyAdvice is about the largest kind first, then about all others that
// matter.
func copyAdvice(kinds []copyKind) (out []string) {
	for i, k := range kinds {
		if i > 0 && !k.matters() {
			break
		}
		for _, line := range k.advice() {
			if !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	if len(out) == 0 {
		return unknownCopy.advice()
	}
	return out
}

const advicePinned = "copy from pinned memory and do not wait: pin_memory=True in the DataLoader, tensor.to(device, non_blocking=True)"

func (d direction) advice() []string {
	overlap := "overlap them with compute: prefetch the next batch on a stream of its own, tensor.to(device, non_blocking=True)"
	less := "send less: keep constants on the GPU, send integers and raw images and convert them there; if parameters or the optimizer are offloaded to the host, offload less"
	switch d {
	case fromPageable:
		return []string{advicePinned + "; copies from pageable memory are slow and block the host", less}
	case fromPinned:
		return []string{overlap, less}
	case fromHost:
		return []string{advicePinned, overlap, less}
	case toHost:
		return []string{
			"read results back less often: .item(), .cpu(), .tolist() and print of a tensor copy to the host and wait for it; log every few steps, and keep metrics on the GPU until then",
			"if the copies are needed (offloading, checkpoints): into pinned memory with non_blocking=True, on a stream of their own",
		}
	case onDevice:
		return []string{
			"copy less within the device: avoid .contiguous(), .clone() and torch.cat in the step; views (view, expand, narrow, unbind) and writing into a preallocated output cost nothing",
			"fuse: torch.compile and fused operators leave out the intermediate tensors that are copied",
		}
	case toPeer:
		return []string{
			"move less between devices: keep the layers that follow each other on one device, use collectives (NCCL) in place of .to() between GPUs",
			overlap,
		}
	case fill:
		return []string{
			"fill less: optimizer.zero_grad(set_to_none=True), torch.empty in place of torch.zeros where all is overwritten, preallocated buffers",
		}
	}
	return []string{
		"find who copies: in the trace, follow the arrow from the largest copy to its launch and to the operator around that",
		less,
	}
}
