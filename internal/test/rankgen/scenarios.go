package rankgen

// A Scenario is a run that shows one thing.
type Scenario struct {
	Name, About string
	Make        func() *Job
	// Given are the places whose files are given; nil means all.
	Given []int
	// Apart says that the matches are unknown, because the files have too little: every
	// collective is incomplete.
	Apart bool
}

// Job returns the scenario's job, and the places whose files are given.
func (s Scenario) Job() (*Job, []int) {
	j := s.Make()
	if s.Given != nil {
		return j, s.Given
	}
	return j, j.Places()
}

// Scenarios returns all scenarios.
func Scenarios() []Scenario {
	late := func(j *Job) { j.Late(3, 7) }
	offset := func(j *Job) {
		for i := range j.ranks {
			j.Clock(i, []int64{0, 5_000_000, -5_000_000, 1_234_567}[i%4])
		}
	}
	return []Scenario{
		{Name: "even", About: "all ranks arrive together", Make: func() *Job { return train(Era2026, 4, 6, uniform) }},
		{Name: "slow_gpu", About: "the kernels of rank 5 are 25% longer", Make: func() *Job { return train(Era2026, 8, 6, slowGPU) }},
		{Name: "slow_gpu_later", About: "the same from the fifth of ten steps on", Make: func() *Job {
			return train(Era2026, 8, 10, slower(5, func(step int) bool { return step >= 4 }))
		}},
		{Name: "slow_gpu_once", About: "its kernels are longer in one step", Make: func() *Job { return train(Era2026, 8, 8, slower(5, func(step int) bool { return step == 2 })) }},
		{Name: "more_work", About: "rank 3 runs six kernels where the others run four", Make: func() *Job { return train(Era2026, 8, 6, moreWork) }},
		{Name: "slow_host", About: "rank 2 is late in its DataLoader", Make: func() *Job { return train(Era2026, 8, 6, slowHost) }},
		{Name: "late_in_turn", About: "another rank is late in each step", Make: func() *Job { return train(Era2026, 4, 12, inTurn) }},
		{Name: "random", About: "every kernel of every rank varies", Make: func() *Job { return train(Era2026, 6, 8, random) }},
		{Name: "slow_network", About: "transfers are long, and no rank waits", Make: func() *Job { return train(Era2026, 8, 4, slowNetwork) }},
		{Name: "begins_later", About: "the capture of rank 3 lacks its first 7 collectives", Make: func() *Job { return train(Era2026, 4, 8, random, late) }},
		{Name: "begins_later_no_seq", About: "the same without numbers", Make: func() *Job { return train(Era2024, 4, 8, random, late) }},
		{Name: "begins_later_2022", About: "the same in a trace of PyTorch 2.2", Make: func() *Job { return train(Era2022, 4, 8, random, late) }},
		{Name: "begins_later_even", About: "the same without numbers, where all steps are equal", Make: func() *Job { return train(Era2024, 4, 8, uniform, late) }},
		{Name: "offsets", About: "clocks differ by up to 10 ms", Make: func() *Job { return train(Era2026, 4, 8, random, offset) }},
		{Name: "offsets_no_seq", About: "the same without numbers", Make: func() *Job { return train(Era2024, 4, 8, random, offset) }},
		{Name: "offsets_even_no_seq", About: "the same without numbers, where all steps are equal", Make: func() *Job { return train(Era2024, 4, 8, uniform, offset) }},
		{Name: "offsets_late_no_seq", About: "without numbers, clocks differ and rank 3 begins later", Make: func() *Job { return train(Era2024, 4, 8, random, offset, late) }},
		{Name: "no_seq", About: "no numbers: PyTorch 2.4", Make: func() *Job { return train(Era2024, 6, 8, random) }},
		{Name: "numbers_2022", About: "numbers in inputs only: PyTorch 2.2", Make: func() *Job { return train(Era2022, 8, 8, random) }},
		{Name: "missing", About: "5 of 8 ranks are given", Make: func() *Job { return train(Era2026, 8, 8, random) }, Given: []int{1, 2, 4, 6, 7}},
		{Name: "ten", About: "ranks of two digits", Make: func() *Job { return train(Era2026, 12, 3, random) }},
		{Name: "tp_dp", About: "tensor parallel of 2, data parallel of 4", Make: func() *Job { return tensorData(Era2026) }},
		{Name: "tp_dp_no_seq", About: "the same without numbers", Make: func() *Job { return tensorData(Era2024) }},
		{Name: "tp_dp_missing", About: "5 of its 8 ranks are given", Make: func() *Job { return tensorData(Era2026) }, Given: []int{0, 1, 3, 4, 6}},
		{Name: "tp_dp_2022", About: "pointers do not identify the groups", Make: func() *Job { return tensorData(Era2022) }, Apart: true},
		{Name: "tp_dp_slow", About: "rank 3 is slow, so its tensor group of 4 is late in all data groups", Make: func() *Job { return tensorDataSlow(8, 4, 5, 3) }},
		{Name: "tp_dp_slow_pair", About: "ranks 4 and 5 are slow, which are one tensor group", Make: func() *Job { return tensorDataSlow(8, 2, 5, 4, 5) }},
		{Name: "pp_dp", About: "4 stages with bubbles, data parallel of 2", Make: func() *Job { return pipeline(Era2026) }},
		{Name: "pp_dp_no_seq", About: "the same without numbers", Make: func() *Job { return pipeline(Era2024) }},
		{Name: "pp_even", About: "4 equal stages, 12 micro-batches, transfers of 1 µs", Make: func() *Job { return stages(4, 12, 5, nil) }},
		{Name: "pp_undescribed", About: "a pipeline whose groups have no description", Make: func() *Job { return undescribed(stages(4, 12, 5, nil)) }},
		{Name: "pp_dp_undescribed", About: "the same with data parallelism of 2", Make: func() *Job { return undescribed(pipeline(Era2026)) }},
		{Name: "ring", About: "ranks that pass data around a ring are no pipeline", Make: func() *Job { return undescribed(ring()) }},
		{Name: "pp_few", About: "the same with 2 micro-batches: most of the step is the bubble", Make: func() *Job { return stages(4, 2, 5, nil) }},
		{Name: "pp_many", About: "2 equal stages, 40 micro-batches: a small bubble", Make: func() *Job { return stages(2, 40, 4, nil) }},
		{Name: "pp_uneven", About: "stage 2 computes 60% longer, 20 micro-batches", Make: func() *Job { return stages(4, 20, 5, map[int]int64{2: 160}) }},
		{Name: "pp_uneven_last", About: "stage 3 computes twice as long, 24 micro-batches", Make: func() *Job { return stages(4, 24, 5, map[int]int64{3: 200}) }},
		{Name: "experts", About: "all-to-all with other splits on every rank", Make: func() *Job { return experts(Era2026) }},
		{Name: "experts_hotter", About: "the same with eight ranks, of which rank 5 has the popular experts", Make: func() *Job { return routed(8, 5, 5, 0) }},
		{Name: "experts_even", About: "rank 2 has as many tokens as the others, and a slower GPU", Make: func() *Job { return routed(4, 2, 1, 3) }},
		{Name: "slow_link", About: "64 MiB at 11 GB/s between GPUs of one machine", Make: func() *Job { return linked(8, 10_680_707) }},
		{Name: "slow_link_pair", About: "64 MiB at 12 GB/s between two GPUs of one machine", Make: func() *Job { return linked(2, 5_592_405) }},
		{Name: "fast_link", About: "64 MiB at 352 GB/s between GPUs of one machine", Make: func() *Job { return linked(8, 333_333) }},
		{Name: "slow_node", About: "one of three machines reduces at a seventh of the speed of the others", Make: func() *Job { return nodes(3, 2, 250_007, 1_750_049) }},
		{Name: "slow_node_of_two", About: "one of two machines reduces at a fifth of the speed of the other", Make: func() *Job { return nodes(2, 4, 250_007, 1_250_035) }},
		{Name: "two_nodes", About: "two nodes whose clocks differ by 3 ms", Make: func() *Job { return twoNodes(Era2026) }},
		{Name: "trainer_rollout", About: "two worlds, each with a rank 0", Make: func() *Job { return trainerRollout() }},
		{Name: "graphs", About: "collectives captured in a graph", Make: func() *Job { return graphs(false) }},
		{Name: "graphs_tp_dp", About: "captured collectives of four groups, which only streams tell", Make: func() *Job { return graphs(true) }, Apart: true},
	}
}

// slower makes the kernels of one rank a quarter longer, in some steps.
func slower(rank int, in func(step int) bool) pace {
	return pace{loader: none, transfer: usualTransfer, kernel: func(_ *Job, r, step int) int64 {
		if r == rank && in(step) {
			return usualKernel * 5 / 4
		}
		return usualKernel
	}}
}

// A pace says how long the parts of a step take on a rank, in ns.
type pace struct {
	loader func(j *Job, rank, step int) int64
	kernel func(j *Job, rank, step int) int64
	// transfer is that of 4 MiB.
	transfer int64
	// kernels is how many of them a rank runs before each all-reduce; nil means 4.
	kernels func(rank int) int
}

const (
	usualKernel   = 400_137
	usualTransfer = 150_061
)

func none(*Job, int, int) int64  { return 0 }
func usual(*Job, int, int) int64 { return usualKernel }

var (
	uniform     = pace{loader: none, kernel: usual, transfer: usualTransfer}
	slowNetwork = pace{loader: none, kernel: usual, transfer: 40 * usualTransfer}
	random      = pace{loader: none, kernel: func(j *Job, _, _ int) int64 { return usualKernel/2 + j.Random(usualKernel) }, transfer: usualTransfer}
	slowGPU     = slower(5, func(int) bool { return true })
	moreWork    = pace{loader: none, kernel: usual, transfer: usualTransfer, kernels: func(rank int) int {
		if rank == 3 {
			return 6
		}
		return 4
	}}
	slowHost = pace{kernel: usual, transfer: usualTransfer, loader: func(_ *Job, rank, _ int) int64 {
		if rank == 2 {
			return 3_000_017
		}
		return 0
	}}
	inTurn = pace{kernel: usual, transfer: usualTransfer, loader: func(_ *Job, rank, step int) int64 {
		if step%4 == rank {
			return 1_500_029
		}
		return 0
	}}
)

// loader is the annotation of PyTorch around the loading of a batch.
const loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

const gemm = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas"

// train is data-parallel training: kernels, then all-reduces of two sizes.
func train(era Era, ranks, steps int, p pace, also ...func(*Job)) *Job {
	j := NewJob(era)
	world := j.World(ranks, "")
	for _, f := range also {
		f(j)
	}
	c := j.Comm("0", "default_pg", world...)
	for n := range steps {
		j.Step(n+3, func() {
			for _, r := range world {
				j.Host(r, loader, 50_000+p.loader(j, r, n))
			}
			for bucket := range 3 {
				for _, r := range world {
					kernels := 4
					if p.kernels != nil {
						kernels = p.kernels(r)
					}
					for range kernels {
						j.Compute(r, gemm, p.kernel(j, r, n))
					}
				}
				elements := int64(2 << 20)
				if bucket == 2 {
					elements = 1 << 18
				}
				c.Do(AllReduce, elements, p.transfer*elements>>21+7_000)
			}
		})
	}
	return j
}

// Even returns data-parallel training whose ranks do the same.
func Even(ranks, steps int) *Job { return train(Era2026, ranks, steps, uniform) }

// SlowGPU returns the same with kernels that are a quarter longer on one rank.
func SlowGPU(ranks, steps, rank int) *Job {
	return train(Era2026, ranks, steps, slower(rank, func(int) bool { return true }))
}

// SlowHost returns the same with one rank that loads data for 3,000,017 ns more in each
// step.
func SlowHost(ranks, steps, rank int) *Job {
	p := uniform
	p.loader = func(_ *Job, r, _ int) int64 {
		if r == rank {
			return 3_000_017
		}
		return 0
	}
	return train(Era2026, ranks, steps, p)
}

// SlowNetwork returns the same with transfers that take forty times as long.
func SlowNetwork(ranks, steps int) *Job { return train(Era2026, ranks, steps, slowNetwork) }

// InTurn returns the same with another rank that is late in each step.
func InTurn(ranks, steps int) *Job { return train(Era2026, ranks, steps, inTurn) }

// Training returns data-parallel training whose kernels vary.
func Training(ranks, steps int) *Job { return train(Era2026, ranks, steps, random) }
