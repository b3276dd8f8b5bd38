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
		{Name: "pp_dp", About: "4 stages with bubbles, data parallel of 2", Make: func() *Job { return pipeline(Era2026) }},
		{Name: "pp_dp_no_seq", About: "the same without numbers", Make: func() *Job { return pipeline(Era2024) }},
		{Name: "experts", About: "all-to-all with other splits on every rank", Make: func() *Job { return experts(Era2026) }},
		{Name: "two_nodes", About: "two nodes whose clocks differ by 3 ms", Make: func() *Job { return twoNodes(Era2026) }},
		{Name: "trainer_rollout", About: "two worlds, each with a rank 0", Make: func() *Job { return trainerRollout() }},
		{Name: "graphs", About: "collectives captured in a graph", Make: func() *Job { return graphs(false) }},
		{Name: "graphs_tp_dp", About: "captured collectives of four groups, which only streams tell", Make: func() *Job { return graphs(true) }, Apart: true},
	}
}

// A pace says how long the parts of a step take on a rank, in ns.
type pace struct {
	loader func(j *Job, rank, step int) int64
	kernel func(j *Job, rank, step int) int64
	// transfer is that of 4 MiB.
	transfer int64
}

const (
	usualKernel   = 400_137
	usualTransfer = 150_061
)

func none(*Job, int, int) int64  { return 0 }
func usual(*Job, int, int) int64 { return usualKernel }

var (
	uniform     = pace{none, usual, usualTransfer}
	slowNetwork = pace{none, usual, 40 * usualTransfer}
	random      = pace{none, func(j *Job, _, _ int) int64 { return usualKernel/2 + j.Random(usualKernel) }, usualTransfer}
	slowGPU     = pace{none, func(_ *Job, rank, _ int) int64 {
		if rank == 5 {
			return usualKernel * 5 / 4
		}
		return usualKernel
	}, usualTransfer}
	slowHost = pace{func(_ *Job, rank, _ int) int64 {
		if rank == 2 {
			return 3_000_017
		}
		return 0
	}, usual, usualTransfer}
	inTurn = pace{func(_ *Job, rank, step int) int64 {
		if step%4 == rank {
			return 1_500_029
		}
		return 0
	}, usual, usualTransfer}
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
					for range 4 {
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

// Training returns data-parallel training whose kernels vary.
func Training(ranks, steps int) *Job { return train(Era2026, ranks, steps, random) }

// tensorData has tensor parallelism in pairs, and data parallelism across them.
func tensorData(era Era) *Job {
	j := NewJob(era)
	world := j.World(8, "")
	var tp, dp []*Comm
	for i := 0; i < 8; i += 2 {
		tp = append(tp, j.Comm("3", "mesh_tp", world[i], world[i+1]))
	}
	for i := range 2 {
		dp = append(dp, j.Comm("5", "mesh_dp", world[i], world[i+2], world[i+4], world[i+6]))
	}
	for n := range 5 {
		j.Step(n, func() {
			for layer := range 6 {
				for _, r := range world {
					j.Compute(r, gemm, 200_000+j.Random(300_000))
				}
				for _, c := range tp {
					if layer%2 == 0 {
						c.Do(AllReduce, 1<<20, 60_021)
					} else {
						c.Do(AllGather, 1<<18, 40_011)
						c.Do(ReduceScatter, 1<<18, 45_011)
					}
				}
			}
			for _, c := range dp {
				c.Do(AllReduce, 4<<20, 310_003)
			}
		})
	}
	return j
}

// pipeline has four stages of two data-parallel ranks. A stage waits in its receives
// until the stages before it have worked: the bubble.
func pipeline(era Era) *Job {
	const stages, batches = 4, 6
	j := NewJob(era)
	world := j.World(2*stages, "")
	var pp, dp []*Comm
	for i := range 2 {
		pp = append(pp, j.Comm("7", "mesh_pp", world[i], world[i+2], world[i+4], world[i+6]))
	}
	for s := range stages {
		dp = append(dp, j.Comm("9", "mesh_dp", world[2*s], world[2*s+1]))
	}
	for n := range 4 {
		j.Step(n, func() {
			for _, c := range pp {
				for range batches {
					for s := range stages {
						if s > 0 {
							c.Send(c.places[s-1], c.places[s], 1<<19, 35_003)
						}
						j.Compute(c.places[s], gemm, 500_000+j.Random(100_000))
					}
				}
				for range batches {
					for s := stages - 1; s >= 0; s-- {
						if s < stages-1 {
							c.Send(c.places[s+1], c.places[s], 1<<19, 35_003)
						}
						j.Compute(c.places[s], gemm, 1_000_000+j.Random(200_000))
					}
				}
			}
			for _, c := range dp {
				c.Do(AllReduce, 8<<20, 620_009)
			}
		})
	}
	return j
}

// experts sends more tokens to some ranks than to others, which compute longer.
func experts(era Era) *Job {
	j := NewJob(era)
	world := j.World(4, "")
	c := j.Comm("11", "mesh_ep", world...)
	even := [][]int64{{4096, 4096, 4096, 4096}, {4096, 4096, 4096, 4096}, {4096, 4096, 4096, 4096}, {4096, 4096, 4096, 4096}}
	for n := range 6 {
		j.Step(n, func() {
			c.Exchange(even, 20_001)
			for range 3 {
				there, back := make([][]int64, 4), make([][]int64, 4)
				for i := range there {
					there[i], back[i] = make([]int64, 4), make([]int64, 4)
				}
				var tokens [4]int64
				for i := range there {
					for k := range there[i] {
						there[i][k] = 1024 * (1 + j.Random(20))
						if k == 2 {
							there[i][k] *= 3 // the popular experts
						}
						back[k][i] = there[i][k]
						tokens[k] += there[i][k]
					}
				}
				c.Exchange(there, 90_007)
				for k, r := range world {
					j.Compute(r, gemm, tokens[k]*5)
				}
				c.Exchange(back, 90_007)
			}
			c.Do(AllReduce, 1<<20, 70_001)
		})
	}
	return j
}

// twoNodes reduces within nodes, then between them.
func twoNodes(era Era) *Job {
	j := NewJob(era)
	world := j.World(8, "")
	for i, r := range world {
		j.Clock(r, int64(i/4)*3_000_041)
	}
	within := []*Comm{j.Comm("1", "node", world[:4]...), j.Comm("1", "node", world[4:]...)}
	var between []*Comm
	for i := range 4 {
		between = append(between, j.Comm("2", "between_nodes", world[i], world[i+4]))
	}
	for n := range 5 {
		j.Step(n, func() {
			for range 3 {
				for _, r := range world {
					j.Compute(r, gemm, 300_000+j.Random(200_000))
				}
				for _, c := range within {
					c.Do(ReduceScatter, 1<<20, 50_003)
				}
				for _, c := range between {
					c.Do(AllReduce, 1<<20, 800_019)
				}
				for _, c := range within {
					c.Do(AllGather, 1<<20, 50_003)
				}
			}
		})
	}
	return j
}

// trainerRollout has a trainer of four ranks and a server of two. Each has its own world,
// whose names and ranks of groups the other uses too.
func trainerRollout() *Job {
	j := NewJob(Era2024)
	trainer, rollout := j.World(4, "trainer"), j.World(2, "rollout")
	a, b := j.Comm("0", "default_pg", trainer...), j.Comm("0", "default_pg", rollout...)
	tp := j.Comm("1", "tp", trainer[:2]...) // as the ranks of the server are
	for n := range 6 {
		j.Step(n, func() {
			for _, r := range trainer {
				j.Compute(r, gemm, 900_000+j.Random(900_000))
			}
			tp.Do(AllReduce, 1<<19, 30_001)
			a.Do(AllReduce, 1<<21, 150_001)
			for range 4 {
				for _, r := range rollout {
					j.Compute(r, gemm, 150_000+j.Random(100_000))
				}
				b.Do(AllReduce, 1<<16, 15_001)
			}
		})
	}
	return j
}

// graphs replays captured kernels and collectives: of all ranks, or in pairs.
func graphs(pairs bool) *Job {
	j := NewJob(Era2026)
	world := j.World(4, "")
	comms := []*Comm{}
	if pairs {
		comms = append(comms, j.Comm("3", "tp", world[:2]...), j.Comm("3", "tp", world[2:]...))
	} else {
		comms = append(comms, j.Comm("0", "default_pg", world...))
	}
	for n := range 6 {
		j.Step(n, func() {
			for _, r := range world {
				j.Host(r, "schedule", 30_000+j.Random(1_800_000))
			}
			j.Graph(world, func() {
				for range 5 {
					for _, r := range world {
						j.Compute(r, gemm, 100_000+j.Random(100_000))
					}
					for _, c := range comms {
						c.Do(AllReduce, 1<<18, 25_001)
					}
				}
			})
		})
	}
	return j
}
