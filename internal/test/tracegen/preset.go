package tracegen

import "slices"

// A Preset is a named scenario.
type Preset struct {
	Name string
	Make func() Scenario
}

// Presets returns the scenarios of fixed size, in the order of their names.
// [Big] has any size.
func Presets() []Preset {
	return []Preset{
		{"comm_bound", CommBound},
		{"comm_hidden", CommHidden},
		{"compute_bound", ComputeBound},
		{"copy_bound", CopyBound},
		{"cpu_only", CPUOnly},
		{"era2022", Old},
		{"graphs", Graphs},
		{"host_bound", HostBound},
		{"llm_train_slower", SlowerLLMTrainStep},
		{"llm_train_step", LLMTrainStep},
		{"multi_device", MultiDevice},
		{"multi_stream", MultiStream},
		{"rocm", Rocm},
	}
}

const (
	us = int64(1_000)
	ms = int64(1_000_000)
)

// scenario returns a scenario with the defaults of the presets: the device is
// 20 µs behind the host, which needs up to 12 µs per launch.
func scenario(name string, steps int, program []Segment) Scenario {
	return Scenario{
		Name: name, Seed: 1, Ranks: 1, Steps: steps, FirstStep: 2,
		Devices: []Device{{Ordinal: 0, Name: cudaNames().device, Program: program}},
		LagNS:   20 * us, GapNS: 5 * us, HostNS: 12 * us,
	}
}

// ComputeBound keeps the device busy for all but one 40th of each step.
func ComputeBound() Scenario {
	n, b := cudaNames(), newBuilder()
	for range 20 {
		b.kernel(180*us, n.gemmUp, "aten::linear", "aten::addmm")
		b.kernel(15*us, n.activation, "aten::gelu")
	}
	b.idle(100 * us)
	return scenario("compute_bound", 3, b.segments)
}

// HostBound has kernels of 4 µs that the host launches every 50 µs, and waits
// for a result that it reads back.
func HostBound() Scenario {
	n, b := cudaNames(), newBuilder()
	b.host(600*us, "", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
	for i := range 12 {
		b.kernel(4*us, n.add, "aten::add")
		b.idle(46 * us)
		b.kernel(6*us+int64(i)*250, n.normForward, "aten::layer_norm", "aten::native_layer_norm")
		b.host(44*us-int64(i)*250, "", "aten::unsqueeze")
	}
	b.segment(2*us, copyOp(deviceToHostPageable, computeStream, 4))
	b.host(80*us, "cudaStreamSynchronize", "aten::item", "aten::_local_scalar_dense")
	b.idle(15 * us)
	return scenario("host_bound", 4, b.segments)
}

// CommBound reduces gradients after the kernels that computed them: of 1200 µs
// of communication per step, 1000 µs are exposed.
func CommBound() Scenario {
	n, b := cudaNames(), newBuilder()
	for range 4 {
		b.kernel(150*us, n.gemmGradInput, "aten::mm")
		b.start(allReduce(n, 1<<22))
		b.kernel(50*us, n.gemmGradWeight, "aten::mm")
		b.idle(250 * us)
		b.stopAll()
	}
	b.idle(60 * us)
	sc := scenario("comm_bound", 3, b.segments)
	sc.Ranks = 2
	return sc
}

// CommHidden has the communication of [CommBound], completely overlapped by
// kernels.
func CommHidden() Scenario {
	n, b := cudaNames(), newBuilder()
	for range 4 {
		b.kernel(30*us, n.gemmGradInput, "aten::mm")
		b.start(allReduce(n, 1<<22))
		b.kernel(200*us, n.gemmGradInput, "aten::mm")
		b.kernel(100*us, n.gemmGradWeight, "aten::mm")
		b.stopAll()
		b.kernel(20*us, n.add, "aten::add_")
	}
	b.idle(60 * us)
	sc := scenario("comm_hidden", 3, b.segments)
	sc.Ranks = 2
	return sc
}

// CopyBound copies data in every direction, overlapped by kernels and exposed,
// and fills memory.
func CopyBound() Scenario {
	n, b := cudaNames(), newBuilder()
	b.segment(900*us, copyOp(hostToDevicePageable, computeStream, 12<<20))
	b.segment(8*us, memsetOp(1<<20))
	b.start(copyOp(hostToDevicePinned, copyStream, 24<<20))
	b.kernel(120*us, n.gemmUp, "aten::linear", "aten::addmm")
	b.segment(3*us, memsetOp(4096))
	b.idle(400 * us)
	b.stopAll()
	b.segment(40*us, copyOp(deviceToDevice, computeStream, 48<<20))
	b.segment(200*us, copyOp(deviceToHostPinned, copyStream, 6<<20))
	b.segment(30*us, copyOp(deviceToHostPageable, computeStream, 4096))
	b.idle(50 * us)
	return scenario("copy_bound", 3, b.segments)
}

// Graphs replays two graphs of 24 kernels in each step.
func Graphs() Scenario {
	n, b := cudaNames(), newBuilder()
	b.kernel(9*us, n.embedding, "aten::embedding", "aten::index_select")
	for graph := 1; graph <= 2; graph++ {
		for i := range 24 {
			name := []string{n.normForward, n.gemmQKV, n.attention, n.add}[i%4]
			b.segment(int64(5+i)*us, Op{Kind: Compute, Name: name, Stream: computeStream, Graph: graph})
			b.idle(us)
		}
		b.idle(30 * us)
	}
	return scenario("graphs", 3, b.segments)
}

// MultiStream has kernels on three streams that overlap partly: their total
// time exceeds the time during which any of them runs.
func MultiStream() Scenario {
	n, b := cudaNames(), newBuilder()
	on := func(stream int, name string) Op {
		return Op{Kind: Compute, Name: name, Stream: stream, Host: []string{"aten::mm"}}
	}
	for range 5 {
		b.start(on(computeStream, n.gemmUp))
		b.idle(40 * us)
		b.start(on(copyStream, n.gemmDown))
		b.idle(25 * us)
		b.stop(computeStream)
		b.start(allReduce(n, 1<<18))
		b.idle(25 * us)
		b.start(on(24, n.add))
		b.idle(10 * us)
		b.stop(copyStream)
		b.idle(30 * us)
		b.stop(24)
		b.idle(15 * us)
		b.stopAll()
		b.idle(20 * us)
	}
	sc := scenario("multi_stream", 3, b.segments)
	sc.Ranks = 4
	return sc
}

// MultiDevice drives three devices with different loads from one process. The
// numbers of the devices are not contiguous.
func MultiDevice() Scenario {
	sc := scenario("multi_device", 3, ComputeBound().Devices[0].Program)
	sc.Devices = append(sc.Devices,
		Device{Ordinal: 1, Name: cudaNames().device, Program: CommBound().Devices[0].Program},
		Device{Ordinal: 5, Name: cudaNames().device, Program: CopyBound().Devices[0].Program})
	sc.Ranks = 2
	return sc
}

// CPUOnly is the profile of a training without a device.
func CPUOnly() Scenario {
	sc := scenario("cpu_only", 3, trainingStep(cudaNames(), 2, 28*us))
	sc.CPUOnly = true
	sc.Jitter = 30
	sc.HostNS, sc.LagNS = 100*us, 100*us
	sc.Dialect = Dialect{Shapes: true, Stack: true, Memory: true}
	return sc
}

// Old is a training in the profiler's format of 2022.
func Old() Scenario {
	sc := scenario("era2022", 3, wholeMicroseconds(trainingStep(cudaNames(), 2, 28*us)))
	sc.Ranks = 2
	sc.Jitter = 30
	sc.Dialect = Dialect{Era: Era2022, Shapes: true}
	return sc
}

// Rocm is a training on device 3 of a machine with AMD hardware.
func Rocm() Scenario {
	n := rocmNames()
	sc := scenario("rocm", 3, trainingStep(n, 2, 28*us))
	sc.Devices[0] = Device{Ordinal: 3, Name: n.device, Program: sc.Devices[0].Program}
	sc.Ranks = 8
	sc.Jitter = 30
	sc.Dialect = Dialect{Vendor: ROCm, Shapes: true, BaseLast: true}
	return sc
}

// LLMTrainStep is one rank of a small language model's training: data loading
// at the start of each step, gradients reduced during the backward pass and
// partly overlapped by it, an optimizer with few large kernels.
func LLMTrainStep() Scenario {
	sc := scenario("llm_train_step", 4, trainingStep(cudaNames(), 3, 180*us))
	sc.Ranks = 8
	sc.Jitter = 40
	sc.Pace = 700
	sc.Dialect = Dialect{Shapes: true, Stack: true}
	return sc
}

// SlowerLLMTrainStep is [LLMTrainStep] after a regression: attention kernels
// take 50% longer, and each step reads back one more number.
func SlowerLLMTrainStep() Scenario {
	sc, n := LLMTrainStep(), cudaNames()
	sc.Name = "llm_train_slower"
	program := sc.Devices[0].Program
	for i := range program {
		for _, op := range program[i].Ops {
			if op.Name == n.attention || op.Name == n.attentionBackward {
				program[i].NS += program[i].NS / 2
			}
		}
	}
	wait := Segment{NS: 450 * us, Ops: []Op{{Kind: HostOnly, Host: []string{"aten::item", "aten::_local_scalar_dense"}, Call: "cudaStreamSynchronize"}}}
	sc.Devices[0].Program = slices.Insert(program, len(program)-2, wait) // before the existing one
	return sc
}

// Big is the training of [LLMTrainStep] with a deeper model, for as many steps
// as it takes to write the given number of bytes. A step is about 2 MB.
func Big(bytes int64) Scenario {
	sc := scenario("big", 1, trainingStep(cudaNames(), 48, 60*us))
	sc.Ranks = 8
	sc.Jitter = 40
	sc.Pace = 700
	sc.Dialect = Dialect{Shapes: true, Stack: true}
	sc.Bytes = bytes
	return sc
}

// wholeMicroseconds returns a program with every length truncated to
// microseconds.
func wholeMicroseconds(program []Segment) []Segment {
	for i := range program {
		program[i].NS -= program[i].NS % us
	}
	return program
}
