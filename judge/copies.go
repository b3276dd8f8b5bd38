package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// A direction is the direction of a copy, by its name, or memset.
type direction string

// The directions. fromHost is a copy from CPU memory whose name does not say whether it
// is pageable or pinned.
const (
	fromPageable direction = "copies from pageable CPU memory to the GPU"
	fromPinned   direction = "copies from pinned CPU memory to the GPU"
	fromHost     direction = "copies from CPU to GPU"
	toHost       direction = "copies from GPU to CPU"
	onDevice     direction = "copies within a GPU"
	toPeer       direction = "copies between GPUs"
	fill         direction = "memsets"
	unknownCopy  direction = "copies of unknown direction"
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
	runs, ns     int64
	all          int64 // ns of all copies and memsets, of whatever direction
	sized, bytes int64 // sized: ns of the rows that give their bytes
}

// copyKinds sums the copies by direction, those with the most work first.
func (c *evaluator) copyKinds() []copyKind {
	sums := map[direction]copyKind{}
	all := int64(0)
	for _, k := range c.Copies {
		sum := sums[directionOf(k)]
		sum.runs = summary.Plus(sum.runs, k.Count)
		sum.ns = summary.Plus(sum.ns, k.TotalNS)
		all = summary.Plus(all, k.TotalNS)
		if k.Bytes != nil {
			sum.sized = summary.Plus(sum.sized, k.TotalNS)
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

// A copy under smallCopy bytes takes less time than its launch. manyRuns is more than a
// step needs.
const (
	smallCopy = 64 << 10
	manyRuns  = 100
)

// small reports whether a kind is of many small copies.
func (k copyKind) small() bool {
	return k.direction != fill && k.runs >= manyRuns && k.sized == k.ns && k.bytes/k.runs < smallCopy
}

// copyEvidence describes the largest kind and all others that matter.
func copyEvidence(kinds []copyKind) (out []string) {
	for i, k := range kinds {
		if i > 0 && !k.matters() {
			break
		}
		line := fmt.Sprintf("%s: %s of copy and memset time (%s, %s", k.direction,
			unit.Share(k.ns, k.all), fraction(k.ns, k.all), label.Plural(k.runs, "operation"))
		if k.sized == k.ns && k.bytes > 0 {
			line += fmt.Sprintf(", %s at %s", unit.Bytes(k.bytes), unit.Rate(k.bytes, k.sized))
		}
		if k.small() {
			line += fmt.Sprintf(", mean %s", unit.Bytes(k.bytes/k.runs))
		}
		out = append(out, line+")")
	}
	return out
}

// copyAdvice is about the largest kind first, then about all others that
// matter.
func copyAdvice(kinds []copyKind) (out []Step) {
	for i, k := range kinds {
		if i > 0 && !k.matters() {
			break
		}
		if k.small() {
			out = joinSteps(out, []Step{advise("pack-small-copies")})
		}
		out = joinSteps(out, k.advice())
	}
	if len(out) == 0 {
		return unknownCopy.advice()
	}
	return out
}

func (d direction) advice() []Step {
	switch d {
	case fromPageable:
		return []Step{advise("copy-pinned-not-pageable"), advise("copy-less-to-device"), advise("offload-less")}
	case fromPinned:
		return []Step{advise("overlap-copies"), advise("copy-less-to-device"), advise("offload-less")}
	case fromHost:
		return []Step{advise("copy-pinned"), advise("overlap-copies"), advise("copy-less-to-device"), advise("offload-less")}
	case toHost:
		return []Step{advise("read-back-less"), advise("read-back-pinned")}
	case onDevice:
		return []Step{advise("copy-less-on-device"), advise("fuse-copies")}
	case toPeer:
		return []Step{advise("copy-less-to-peers"), advise("replace-data-parallel"), advise("overlap-copies")}
	case fill:
		return []Step{advise("fill-less")}
	}
	return []Step{advise("find-who-copies"), advise("copy-less-to-device"), advise("offload-less")}
}
