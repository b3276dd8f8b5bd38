package perfetto

import (
	"strings"

	"assay/internal/protoscan"
	"assay/trace"
)

// Fields of work that the GPU data sources of Perfetto record.
const (
	stageEvent, stageDuration, stageContext, stageGPU, stageQueue, stageStage, stageName, stageNameID, stageLaunch, stageLogical = 1, 2, 5, 11, 13, 14, 17, 20, 21, 22

	launchGrid, launchBlock = 1, 2

	apiCUDA, apiHIP = 4, 5
)

// renderStage reads one operation of a GPU. Only those of CUDA and HIP, or with the sizes of a launch, are of a program
// of computation.
func (r *reader) renderStage(s *sequence, at int64, b []byte) {
	it, name, stage := noFacts, text(0), text(0)
	var own []byte
	var duration uint64
	compute := false
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case stageEvent:
			it.submits = int64(f.Bits)
		case stageDuration:
			duration = f.Bits
		case stageContext:
			if api := s.contexts[f.Bits].api; api == apiCUDA || api == apiHIP {
				compute = true
			}
		case stageGPU:
			it.device = int64(int32(f.Bits))
		case stageQueue:
			if it.stream < 0 {
				it.stream = int64(f.Bits)
			}
		case stageLogical:
			it.stream = int64(f.Bits)
		case stageStage:
			stage = s.specifications[f.Bits]
		case stageName:
			own = f.Text
		case stageNameID:
			name = s.names[f.Bits]
		case stageLaunch:
			compute = true
			protoscan.Each(f.Text, func(f protoscan.Field) {
				switch f.Number {
				case launchGrid:
					it.grid = dimensions(f.Text)
				case launchBlock:
					it.block = dimensions(f.Text)
				}
			})
		}
	})
	if !compute {
		r.graphics++
		return
	}
	if duration > latest || !r.take(bytesOfFacts+bytesOfMark) {
		return
	}
	if len(own) > 0 {
		name = r.text(own)
	}
	if name == 0 {
		name = stage
	}
	t := r.track(gpuTrack | uint64(it.device&0xffff)<<32 | uint64(it.stream&0xffffffff))
	if t == nil {
		return
	}
	t.onDevice, it.device = true, max(0, it.device)
	r.facts = append(r.facts, it.keep())
	category := "kernel"
	if lower := strings.ToLower(r.texts.all[name]); strings.HasPrefix(lower, "memcpy") || strings.HasPrefix(lower, "copy") {
		category = trace.Memcpy.String()
	} else if strings.HasPrefix(lower, "memset") {
		category = trace.Memset.String()
	}
	r.marks = append(r.marks, mark{at: at, dur: int64(duration), order: uint32(r.packets), name: name, category: r.text([]byte(category)),
		track: int32(t.number), facts: int32(len(r.facts))})
}

// gpuTrack begins the ids of tracks of work of GPUs, which have no description.
const gpuTrack = 0x6770 << 48

func dimensions(b []byte) (out [3]int64) {
	out = [3]int64{1, 1, 1}
	protoscan.Each(b, func(f protoscan.Field) {
		if f.Number >= 1 && f.Number <= 3 {
			out[f.Number-1] = int64(min(f.Bits, 1<<31))
		}
	})
	return out
}
