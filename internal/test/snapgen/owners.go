package snapgen

import (
	"math/rand/v2"
)

// A Job is a rank of a training or serving job whose owners of memory are known.
type Job struct {
	Seed    uint64
	Layers  int
	Weight  int64 // bytes of the weights of the first layer; each further layer has 64 KiB more
	Sample  int64 // bytes that one layer keeps of one sample
	Batches []int // samples of each step
	Fail    int   // layer of the last step at which an allocation fails; 0 for none

	NoFrames   bool // nothing has a stack
	Late       bool // the history begins after the first step
	Expandable bool
	Cache      int64 // bytes of the KV cache of a server; a job with one does not train
}

// PlayJob plays a job and returns the bytes of each owner when the allocation failed or, without one, in the middle of
// the last step, where most is live.
func PlayJob(job Job) (*Run, map[string]int64) {
	r := &Run{opt: Options{Seed: job.Seed, Expandable: job.Expandable}, rnd: rand.New(rand.NewPCG(job.Seed, 2)), lifeOf: map[int64]int{},
		index: map[string]int{}, next: 0x7f00_0000_0000, us: startTime, recorded: !job.Late}
	p := &player{Run: r, Job: job, owner: map[int64]string{}, most: map[string]int64{}}
	p.build()
	for n, batch := range job.Batches {
		failing := 0
		if n == len(job.Batches)-1 {
			failing = job.Fail
		}
		if job.Cache > 0 {
			p.serve(batch, failing)
		} else {
			p.train(n, batch, failing)
		}
		r.recorded = true
	}
	r.record(event{action: "snapshot", stack: -1})
	return r, p.most
}

// A player plays one job.
type player struct {
	*Run
	Job
	owner     map[int64]string // by address
	weights   []int64
	gradients []int64
	most      map[string]int64
	sum, top  int64
}

func (p *player) at(file string, line int, function string, inside ...frame) int {
	if p.NoFrames {
		return -1
	}
	return p.stack(file, line, function, inside...)
}

// take allocates memory for an owner.
func (p *player) take(owner string, size int64, stack int) int64 {
	addr := p.malloc(size, stack)
	p.owner[addr] = owner
	p.sum += size
	if p.sum > p.top && p.recorded && p.Fail == 0 {
		p.keep()
	}
	return addr
}

func (p *player) drop(addr int64, stack int) {
	p.sum -= p.sizeOf(addr)
	delete(p.owner, addr)
	p.free(addr, stack, false)
}

func (p *player) sizeOf(addr int64) int64 {
	s, i := p.find(addr)
	return s.blocks[i].requested
}

// keep keeps what each owner has now.
func (p *player) keep() {
	p.top, p.most = p.sum, map[string]int64{}
	for addr, owner := range p.owner {
		p.most[owner] += p.sizeOf(addr)
	}
}

func (p *player) weightOf(layer int) int64 { return p.Weight + int64(layer)*64<<10 }

func (p *player) build() {
	at := p.at("/srv/rl/nets.py", 18, "make", torchFrame("nn/modules/module.py", "_apply"))
	if p.Cache > 0 {
		at = p.at("/opt/serve/loader.py", 90, "load_weights")
	}
	for i := range p.Layers {
		p.weights = append(p.weights, p.take("weights", p.weightOf(i), at))
	}
	if p.Cache > 0 {
		p.take("kv-cache", p.Cache, p.at("/opt/serve/worker.py", 120, "allocate_kv_cache"))
		return
	}
	p.take("communication", 24*mib, p.at("/srv/rl/sync.py", 5, "warm_up", torchFrame("distributed/distributed_c10d.py", "all_reduce")))
}

func (p *player) serve(batch, failing int) {
	call := torchFrame("nn/modules/module.py", "_call_impl")
	var last int64
	for i := range p.Layers {
		at := p.at("/opt/serve/block.py", 44, "forward", call)
		if i+1 == failing {
			p.fail(int64(batch)*p.Sample, at)
			return
		}
		next := p.take("activations", int64(batch)*p.Sample, at)
		if last != 0 {
			p.drop(last, at)
		}
		last = next
	}
	p.drop(last, p.at("/opt/serve/worker.py", 200, "sample"))
}

func (p *player) fail(size int64, stack int) {
	p.keep()
	p.record(event{action: "oom", size: size, free: size / 2, stack: stack})
}

func (p *player) train(n, batch, failing int) {
	clear := p.at("/srv/rl/main.py", 70, "clear")
	for _, g := range p.gradients {
		p.drop(g, clear)
	}
	p.gradients = nil
	input := p.take("inputs", int64(batch)*32<<10, p.at("/srv/rl/feed.py", 9, "load", torchFrame("utils/data/dataloader.py", "__next__")))
	call := torchFrame("nn/modules/module.py", "_call_impl")
	block := p.at("/srv/rl/nets.py", 61, "forward", call)
	if n == 0 {
		p.take("workspaces", 8519680, p.at("/srv/rl/nets.py", 60, "forward", call))
	}
	var acts []int64
	for i := range p.Layers {
		if i+1 == failing {
			p.fail(int64(batch)*p.Sample, block)
			return
		}
		acts = append(acts, p.take("activations", int64(batch)*p.Sample, block))
		p.drop(p.take("activations", int64(batch)*p.Sample/4, block), block)
	}
	loss := p.take("activations", int64(batch)*p.Sample/2, p.at("/srv/rl/main.py", 88, "objective"))
	p.backward(acts, loss, int64(batch)*p.Sample)
	step := p.at("/srv/rl/main.py", 93, "update", torchFrame("optim/adamw.py", "step"))
	for i := range p.weights {
		if n == 0 {
			state := p.at("/srv/rl/main.py", 93, "update", torchFrame("optim/adamw.py", "_init_group"))
			p.take("optimizer", p.weightOf(i), state)
			p.take("optimizer", p.weightOf(i), state)
		}
		p.drop(p.take("workspaces", p.weightOf(i), step), step)
	}
	p.drop(input, clear)
}

// backward runs on a thread without stacks of Python.
func (p *player) backward(acts []int64, loss, size int64) {
	flow := p.take("activation-gradients", size, -1)
	p.drop(loss, -1)
	for i := len(acts) - 1; i >= 0; i-- {
		next := p.take("activation-gradients", size, -1)
		p.gradients = append(p.gradients, p.take("gradients", p.weightOf(i), -1))
		p.drop(flow, -1)
		p.drop(acts[i], -1)
		flow = next
	}
	p.drop(flow, -1)
}
