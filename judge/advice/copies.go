package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// A Direction is the direction of a copy, by its name, or memset.
type Direction string

// The directions. fromHost is a copy from CPU memory whose name does not say whether it
// is pageable or pinned.
const (
	FromPageable Direction = "copies from pageable CPU memory to the GPU"
	FromPinned   Direction = "copies from pinned CPU memory to the GPU"
	FromHost     Direction = "copies from CPU to GPU"
	ToHost       Direction = "copies from GPU to CPU"
	OnDevice     Direction = "copies within a GPU"
	toPeer       Direction = "copies between GPUs"
	fill         Direction = "memsets"
	unknownCopy  Direction = "copies of unknown direction"
)

// DirectionOf reads the names of CUPTI, as "Memcpy HtoD (Pageable -> Device)", of
// ROCm, as "CopyHostToDevice", and of nsys, as "[CUDA memcpy Host-to-Device]".
func DirectionOf(k summary.Copy) Direction {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(k.Name, w) })
	}
	switch {
	case k.Class == "memset" || has("Memset"):
		return fill
	case has("HtoD", "HostToDevice", "Host-to-Device", "H2D") && has("Pageable"):
		return FromPageable
	case has("HtoD", "HostToDevice", "Host-to-Device", "H2D") && has("Pinned"):
		return FromPinned
	case has("HtoD", "HostToDevice", "Host-to-Device", "H2D"):
		return FromHost
	case has("DtoH", "DeviceToHost", "Device-to-Host", "D2H"):
		return ToHost
	case has("DtoD", "DeviceToDevice", "Device-to-Device", "D2D"):
		return OnDevice
	case has("PtoP", "PeerToPeer", "Peer-to-Peer", "P2P"):
		return toPeer
	}
	return unknownCopy
}

// A copyKind is every copy of one direction.
type copyKind struct {
	Direction
	runs, ns     int64
	all          int64 // ns of all copies and memsets, of whatever direction
	sized, bytes int64 // sized: ns of the rows that give their bytes
	least, most  int64 // ns of the shortest and the longest; 0 if not known
}

// CopyKinds sums the copies by direction, those with the most work first.
func CopyKinds(copies []summary.Copy) []copyKind {
	sums := map[Direction]copyKind{}
	all := int64(0)
	for _, k := range copies {
		sum := sums[DirectionOf(k)]
		sum.runs += k.Count
		sum.ns += k.TotalNS
		all += k.TotalNS
		if sum.most = max(sum.most, k.MaxNS); k.MinNS > 0 && (sum.least == 0 || k.MinNS < sum.least) {
			sum.least = k.MinNS
		}
		if k.Bytes != nil {
			sum.sized += k.TotalNS
			sum.bytes += *k.Bytes
		}
		sums[DirectionOf(k)] = sum
	}
	var out []copyKind
	for d, sum := range sums {
		sum.Direction, sum.all = d, all
		out = append(out, sum)
	}
	slices.SortFunc(out, func(a, b copyKind) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.Direction, b.Direction))
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
	return k.Direction != fill && k.runs >= manyRuns && k.sized == k.ns && k.bytes/k.runs < smallCopy
}

// CopyEvidence describes the largest kind and all others that matter.
func CopyEvidence(kinds []copyKind) (out []string) {
	for i, k := range kinds {
		if i > 0 && !k.matters() {
			break
		}
		line := fmt.Sprintf("%s: %s of copy and memset time (%s, %s", k.Direction,
			unit.Share(k.ns, k.all), unit.DurationOf(k.ns, k.all), label.Plural(k.runs, "operation"))
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

// LargeCopy is the mean size in bytes from which copies are tensors of a model, and
// neither results nor indices.
const LargeCopy = 1 << 20

// large reports whether a kind is of large tensors.
func (k copyKind) large() bool { return k.runs > 0 && k.sized == k.ns && k.bytes/k.runs >= LargeCopy }

func (k copyKind) fromHost() bool {
	return k.Direction == FromPageable || k.Direction == FromPinned || k.Direction == FromHost
}

// ofWeights reports whether a kind looks like the copies of a model's weights: many large
// tensors of different sizes in each step. The tensors of a batch are few, or as large in
// each step.
func (k copyKind) ofWeights(steps int64) bool {
	const fewest, apart = 8, 4
	return k.fromHost() && k.large() && k.runs/max(1, steps) >= fewest && k.least > 0 && k.most/k.least >= apart
}

// offloads reports whether large tensors go to the CPU and come back: as many bytes, up to
// a factor of two, in both directions.
func offloads(kinds []copyKind) bool {
	var there, back int64
	for _, k := range kinds {
		switch {
		case !k.large():
		case k.Direction == ToHost:
			there += k.bytes
		case k.fromHost():
			back += k.bytes
		}
	}
	return there > 0 && back/2 <= there && there/2 <= back
}

// CopyAdvice is about the largest kind first, then about all others that
// matter. Steps is the number of steps of all GPUs, 0 if they are not marked.
func CopyAdvice(kinds []copyKind, steps int64) (out []finding.Step) {
	if offloads(kinds) {
		out = []finding.Step{finding.Advise("overlap-offload"), finding.Advise("offload-less")}
	}
	for i, k := range kinds {
		if i > 0 && !k.matters() {
			break
		}
		if k.ofWeights(steps) {
			out = finding.JoinSteps(out, []finding.Step{finding.Advise("keep-weights")})
		}
		if k.Direction == ToHost && k.large() {
			out = finding.JoinSteps(out, []finding.Step{finding.Advise("read-back-pinned"), finding.Advise("read-back-less")})
		}
		if k.small() {
			out = finding.JoinSteps(out, []finding.Step{finding.Advise("pack-small-copies")})
		}
		out = finding.JoinSteps(out, k.advice())
	}
	if len(out) == 0 {
		return unknownCopy.advice()
	}
	return out
}

func (d Direction) advice() []finding.Step {
	switch d {
	case FromPageable:
		return []finding.Step{finding.Advise("copy-pinned-not-pageable"), finding.Advise("copy-less-to-device"), finding.Advise("offload-less")}
	case FromPinned:
		return []finding.Step{finding.Advise("overlap-copies"), finding.Advise("copy-less-to-device"), finding.Advise("offload-less")}
	case FromHost:
		return []finding.Step{finding.Advise("copy-pinned"), finding.Advise("overlap-copies"), finding.Advise("copy-less-to-device"), finding.Advise("offload-less")}
	case ToHost:
		return []finding.Step{finding.Advise("read-back-less"), finding.Advise("read-back-pinned")}
	case OnDevice:
		return []finding.Step{finding.Advise("copy-less-on-device"), finding.Advise("fuse-copies")}
	case toPeer:
		return []finding.Step{finding.Advise("copy-less-to-peers"), finding.Advise("replace-data-parallel"), finding.Advise("overlap-copies")}
	case fill:
		return []finding.Step{finding.Advise("fill-less")}
	}
	return []finding.Step{finding.Advise("find-who-copies"), finding.Advise("copy-less-to-device"), finding.Advise("offload-less")}
}
