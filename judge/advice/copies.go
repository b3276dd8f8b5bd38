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

// A Direction says between which memories a copy moves data, or that it is a memset.
type Direction string

// FromHost is for copies whose names do not say whether the CPU memory is pageable or pinned.
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

// DirectionOf parses the names of CUPTI ("Memcpy HtoD (Pageable -> Device)"), ROCm
// ("CopyHostToDevice") and nsys ("[CUDA memcpy Host-to-Device]").
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

// A copyKind adds up all copies of one direction.
type copyKind struct {
	Direction
	runs, ns     int64
	all          int64 // ns of all copies and memsets, in any direction
	sized, bytes int64 // bytes copied, and the ns of the rows that record their bytes
	least, most  int64 // ns of the shortest and longest copy; 0 if unknown
}

// CopyKinds adds up copies by direction, those with the most time first.
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

// matters reports whether a kind takes at least a quarter of the copy and memset time.
func (k copyKind) matters() bool { return k.ns >= k.all/4 }

// A copy of fewer than smallCopy bytes takes less time than its launch. Fewer than manyRuns of them
// are not worth advice.
const (
	smallCopy = 64 << 10
	manyRuns  = 100
)

// small reports whether a kind consists of many small copies. Their mean size counts only if all
// rows record their bytes.
func (k copyKind) small() bool {
	return k.Direction != fill && k.runs >= manyRuns && k.sized == k.ns && k.bytes/k.runs < smallCopy
}

// CopyEvidence returns a line for the largest kind and for each other one that matters.
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

// LargeCopy is the mean size in bytes from which copies are assumed to be tensors of a model;
// results and indices are smaller.
const LargeCopy = 1 << 20

// large reports whether the copies of a kind are large tensors on average.
func (k copyKind) large() bool { return k.runs > 0 && k.sized == k.ns && k.bytes/k.runs >= LargeCopy }

func (k copyKind) fromHost() bool {
	return k.Direction == FromPageable || k.Direction == FromPinned || k.Direction == FromHost
}

// copiesWeights reports whether a kind looks like the copies of a model's weights: many large
// tensors of different sizes in each step. A batch has few tensors, or tensors of about one size.
func (k copyKind) copiesWeights(steps int64) bool {
	const fewest, spread = 8, 4
	return k.fromHost() && k.large() && k.runs/max(1, steps) >= fewest && k.least > 0 && k.most/k.least >= spread
}

// offloads reports whether large tensors are copied to the CPU and back: the bytes of the two
// directions differ by at most a factor of two.
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

// CopyAdvice returns fixes for the largest kind, then for each other one that matters. Steps is the
// number of steps of all GPUs, or 0 if they are not marked.
func CopyAdvice(kinds []copyKind, steps int64) (out []finding.Step) {
	if offloads(kinds) {
		out = []finding.Step{finding.Advise("overlap-offload"), finding.Advise("offload-less")}
	}
	for i, k := range kinds {
		if i > 0 && !k.matters() {
			break
		}
		if k.copiesWeights(steps) {
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
		return []finding.Step{finding.Advise("copy-pinned-not-pageable"), finding.Advise("copy-less-to-device"),
			finding.Advise("offload-less")}
	case FromPinned:
		return []finding.Step{finding.Advise("overlap-copies"), finding.Advise("copy-less-to-device"),
			finding.Advise("offload-less")}
	case FromHost:
		return []finding.Step{finding.Advise("copy-pinned"), finding.Advise("overlap-copies"),
			finding.Advise("copy-less-to-device"), finding.Advise("offload-less")}
	case ToHost:
		return []finding.Step{finding.Advise("read-back-less"), finding.Advise("read-back-pinned")}
	case OnDevice:
		return []finding.Step{finding.Advise("copy-less-on-device"), finding.Advise("fuse-copies")}
	case toPeer:
		return []finding.Step{finding.Advise("copy-less-to-peers"), finding.Advise("one-process-per-gpu"),
			finding.Advise("overlap-copies")}
	case fill:
		return []finding.Step{finding.Advise("fill-less")}
	}
	return []finding.Step{finding.Advise("find-who-copies").For("copies=unknown"), finding.Advise("copy-less-to-device"),
		finding.Advise("offload-less")}
}
