package rankgen

import "slices"

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

// stages is a pipeline of n equal stages, each one rank, whose transfers are so short that
// the bubble has the closed form (n-1)/(batches+n-1). Percent makes a stage compute longer.
func stages(n, batches, steps int, percent map[int]int64) *Job {
	const forward, backward, transfer = 400_000, 800_000, 1_000
	j := NewJob(Era2026)
	world := j.World(n, "")
	c := j.Comm("7", "mesh_pp", world...)
	pass := func(s int, ns int64) {
		if p := percent[s]; p > 0 {
			ns = ns * p / 100
		}
		j.Compute(world[s], gemm, ns)
	}
	for step := range steps {
		j.Step(step, func() {
			for range batches {
				for s := range n {
					if s > 0 {
						c.Send(world[s-1], world[s], 1<<19, transfer)
					}
					pass(s, forward)
				}
			}
			for range batches {
				for s := n - 1; s >= 0; s-- {
					if s < n-1 {
						c.Send(world[s+1], world[s], 1<<19, transfer)
					}
					pass(s, backward)
				}
			}
		})
	}
	return j
}

func undescribed(j *Job) *Job {
	j.Undescribed = true
	return j
}

// ring passes blocks around four ranks, as ring attention does.
func ring() *Job {
	j := NewJob(Era2026)
	world := j.World(4, "")
	c := j.Comm("4", "ring", world...)
	for step := range 5 {
		j.Step(step, func() {
			for range 4 {
				for _, r := range world {
					j.Compute(r, gemm, 200_000+j.Random(400_000))
				}
				for i := range world {
					c.Send(world[i], world[(i+1)%4], 1<<20, 50_000)
				}
			}
		})
	}
	return j
}

// grouped is a kernel that multiplies the matrices of several experts.
const grouped = "void cutlass::GroupedGemmKernel<cutlass::bfloat16_t, 128, 128, 64>"

// routed sends tokens to experts and back. One rank gets factor times the tokens of another,
// or its kernels take longer by so many thirds.
func routed(ranks, hot int, factor, slower int64) *Job {
	const base = 2048
	j := NewJob(Era2026)
	world := j.World(ranks, "")
	c := j.Comm("11", "mesh_ep", world...)
	for n := range 6 {
		j.Step(n, func() {
			for layer := range int64(4) {
				there, back, tokens := make([][]int64, ranks), make([][]int64, ranks), make([]int64, ranks)
				for i := range there {
					back[i] = make([]int64, ranks)
				}
				for i := range there {
					there[i] = make([]int64, ranks)
					for k := range there[i] {
						there[i][k] = base + 64*((layer+int64(k))%2)
						if k == hot {
							there[i][k] *= factor
						}
						back[k][i] = there[i][k]
						tokens[k] += there[i][k]
					}
				}
				c.Exchange(there, 90_007)
				for k, r := range world {
					ns := tokens[k] * 40
					if k == hot {
						ns += ns * slower / 3
					}
					j.Compute(r, grouped, ns)
				}
				c.Exchange(back, 90_007)
			}
		})
	}
	return j
}

// linked reduces 64 MiB within one machine of known links, in which no rank waits.
func linked(ranks int, transfer int64) *Job {
	j := NewJob(Era2026)
	j.PerNode = 8
	world := j.World(ranks, "")
	c := j.Comm("0", "default_pg", world...)
	for n := range 5 {
		j.Step(n, func() {
			for range 4 {
				for _, r := range world {
					j.Compute(r, gemm, 2_000_000)
				}
				c.Do(AllReduce, 32<<20, transfer)
			}
		})
	}
	return j
}

// nodes reduces within each of several machines. The last one is slow.
func nodes(n, perNode int, transfer, slow int64) *Job {
	j := NewJob(Era2026)
	j.PerNode = perNode
	world := j.World(n*perNode, "")
	var within []*Comm
	for i := range n {
		within = append(within, j.Comm("1", "mesh_tp", world[i*perNode:(i+1)*perNode]...))
	}
	for step := range 5 {
		j.Step(step, func() {
			for range 6 {
				for _, r := range world {
					j.Compute(r, gemm, 900_000)
				}
				for i, c := range within {
					ns := transfer
					if i == n-1 {
						ns = slow
					}
					c.Do(AllReduce, 16<<20, ns)
				}
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
					j.Compute(r, grouped, tokens[k]*5)
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

// tensorDataSlow has tensor parallelism of tp ranks and data parallelism across the groups. In each of 12 layers the
// kernels of the slow ranks take 120 µs longer than those of the others.
func tensorDataSlow(ranks, tp, steps int, slow ...int) *Job {
	j := NewJob(Era2026)
	world := j.World(ranks, "")
	var within, across []*Comm
	for i := 0; i < ranks; i += tp {
		within = append(within, j.Comm("3", "mesh_tp", world[i:i+tp]...))
	}
	for i := range tp {
		var places []int
		for k := i; k < ranks; k += tp {
			places = append(places, world[k])
		}
		across = append(across, j.Comm("5", "mesh_dp", places...))
	}
	for n := range steps {
		j.Step(n, func() {
			for range 12 {
				for i, r := range world {
					ns := int64(400_000)
					if slices.Contains(slow, i) {
						ns += 120_000
					}
					j.Compute(r, gemm, ns)
				}
				for _, c := range within {
					c.Do(AllReduce, 1<<20, 60_021)
				}
			}
			for _, c := range across {
				c.Do(AllReduce, 4<<20, 310_003)
			}
		})
	}
	return j
}
