package efficiency

import (
	"iter"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/summary"
)

// A Part is the GPU time of some operators, over all GPUs.
type Part struct {
	NS, Count int64
	SavedNS   int64 // upper bound of the savings, in ns, if the setting is changed
}

// fullPrecision matches kernels that multiply fp32 on vector units. The name of a type of a
// kernel that is not known here does not show which units it uses.
var fullPrecision = lazyregexp.New(`(?i)(^|_)sgemm|_simt_|f32f32_f32f32_f32|scudnn`)

// products are the operators that the TF32 option for matrix products affects, and
// convolutions those of the option for convolutions.
var (
	products     = []string{"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::linear", "aten::matmul", "aten::_addmm_activation"}
	convolutions = []string{"aten::convolution", "aten::convolution_backward", "aten::cudnn_convolution", "aten::conv2d"}
)

// FullPrecision returns the fp32 matrix products and convolutions that do not use TF32 on GPUs that have
// it. SavedNS is their time above the roofline in TF32.
func FullPrecision(s *summary.Summary) (product, convolution Part) {
	for r, least := range inFullPrecision(s) {
		if slices.Contains(products, r.Op) {
			product.add(r, least)
		} else {
			convolution.add(r, least)
		}
	}
	return product, convolution
}

// inFullPrecision yields these rows, with the time that the peaks allow for them in TF32.
func inFullPrecision(s *summary.Summary) iter.Seq2[*summary.EfficiencyRow, int64] {
	return func(yield func(*summary.EfficiencyRow, int64) bool) {
		for i := range s.Efficiency.Rows {
			r := &s.Efficiency.Rows[i]
			d := device(s, r)
			if r.Unit != "matrix" || r.Dtype != "fp32" || r.FLOPs == nil || d == nil || d.PeakTFLOPS["tf32"] <= d.PeakTFLOPS["fp32"] ||
				!fullPrecision().MatchString(r.Kernel) || !slices.Contains(products, r.Op) && !slices.Contains(convolutions, r.Op) {
				continue
			}
			if !yield(r, atTF32(r, d)) {
				return
			}
		}
	}
}

func device(s *summary.Summary, r *summary.EfficiencyRow) *summary.EfficiencyDevice {
	i := slices.IndexFunc(s.Efficiency.Devices, func(d summary.EfficiencyDevice) bool {
		return d.Input == r.Input && d.Rank == r.Rank && d.Device == r.Device
	})
	if i < 0 {
		return nil
	}
	return &s.Efficiency.Devices[i]
}

// atTF32 returns the time that the peaks allow for a row in TF32, in ns.
func atTF32(r *summary.EfficiencyRow, d *summary.EfficiencyDevice) int64 {
	least := float64(*r.FLOPs) / d.PeakTFLOPS["tf32"] / 1e3
	if r.Bytes != nil && d.HBMGBPS != nil && *d.HBMGBPS > 0 {
		least = max(least, float64(*r.Bytes) / *d.HBMGBPS)
	}
	return int64(min(least, float64(r.GPUNS)))
}

func (p *Part) add(r *summary.EfficiencyRow, least int64) {
	p.NS, p.Count = p.NS+r.GPUNS, p.Count+r.Count
	p.SavedNS += max(0, r.GPUNS-least)
}

// Fusible returns the memory-bound operators of PyTorch on vector units. Each reads and writes whole
// tensors with its own kernel, so fusing them saves memory traffic. Operators on lists of tensors and
// optimizers are excluded, because they have fused kernels.
func Fusible(s *summary.Summary) (p Part) {
	rows := s.Efficiency.Rows
	for i := range rows {
		r := &rows[i]
		if r.Unit == "vector" && r.Bound == summary.BoundMemory && strings.HasPrefix(r.Op, "aten::") &&
			!strings.HasPrefix(r.Op, "aten::_foreach") && !strings.HasPrefix(r.Op, "aten::_fused") {
			p.add(r, r.GPUNS)
		}
	}
	return p
}
