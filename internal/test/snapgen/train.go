package snapgen

import "fmt"

// stack returns the number of the stack of a function: PyTorch's inner frames,
// the function, and its callers.
func (r *Run) stack(file string, line int, function string, inside ...frame) int {
	key := fmt.Sprint(file, line, function, len(inside))
	if i, ok := r.index[key]; ok {
		return i
	}
	frames := append([]frame{}, inside...)
	frames = append(frames, frame{file, function, line})
	for i := range r.opt.Depth {
		frames = append(frames, frame{"/app/engine/loop.py", fmt.Sprintf("level_%d", i), 10 + i})
	}
	frames = append(frames, frame{"/app/train.py", "main", 40}, frame{"/app/train.py", "<module>", 60})
	r.stacks = append(r.stacks, frames)
	r.index[key] = len(r.stacks) - 1
	return r.index[key]
}

func torchFrame(file, function string) frame {
	return frame{"/usr/lib/python3/dist-packages/torch/" + file, function, 100}
}

// train is the program: a model of layers, trained for some steps.
func (r *Run) train() {
	var weights []int64
	build := r.stack("/app/model.py", 12, "__init__", torchFrame("nn/modules/linear.py", "__init__"))
	for range r.opt.Layers {
		weights = append(weights, r.malloc(4*mib+r.rnd.Int64N(mib), build))
	}
	r.recorded = !r.opt.Bare
	for n := range r.opt.Steps {
		name := fmt.Sprintf("ProfilerStep#%d", n)
		r.marks = append(r.marks, mark{"START", name, r.us + 1})
		r.us += 2
		grads := r.step(len(weights))
		if n == 0 {
			at := r.stack("/app/optimizer.py", 7, "build", torchFrame("optim/adamw.py", "_init_group"))
			for range weights {
				r.malloc(8*mib+r.rnd.Int64N(mib), at) // the optimizer's state stays
			}
		}
		drop := r.stack("/app/train.py", 33, "zero_grad")
		for _, g := range grads {
			r.free(g, drop, false)
		}
		if r.opt.EmptyCache {
			r.emptyCache(r.stack("/app/train.py", 35, "cleanup"))
		}
		r.us += 2
		r.marks = append(r.marks, mark{"END", name, r.us})
	}
	if r.opt.Exhaust {
		r.record(event{action: "oom", size: wanted, free: left, stack: r.stack("/app/model.py", 55, "logits", torchFrame("nn/modules/module.py", "_call_impl"))})
	}
	if r.opt.RecordLate && len(weights) > 1 && r.opt.Steps > 0 {
		r.free(weights[0], r.stack("/app/train.py", 50, "shrink"), false) // allocated before the history, and freed at its end
	}
}

// step runs one forward and backward pass and returns the gradients. With
// Scatter, the small allocations that it leaves are never freed.
func (r *Run) step(layers int) (grads []int64) {
	var acts []int64
	load := r.stack("/app/data.py", 21, "next_batch", torchFrame("utils/data/dataloader.py", "__next__"))
	batch := r.malloc(2*mib+r.rnd.Int64N(4*mib), load)
	call := torchFrame("nn/modules/module.py", "_call_impl")
	for i := range layers {
		// Each layer is called from its own line, as in an unrolled model.
		at := r.stack("/app/model.py", 30+i%9, "forward", call)
		acts = append(acts, r.malloc(6*mib+r.rnd.Int64N(16*mib), at))
		if r.rnd.IntN(3) == 0 {
			tmp := r.malloc(1+r.rnd.Int64N(mib), at)
			r.free(tmp, at, false)
		}
		if r.opt.Scatter {
			r.malloc(1500<<10, r.stack("/app/log.py", 5, "keep"))
		}
	}
	back := r.stack("/app/train.py", 31, "train_step", torchFrame("autograd/__init__.py", "backward"))
	var waiting []int64
	for i := len(acts) - 1; i >= 0; i-- {
		grads = append(grads, r.malloc(4*mib+r.rnd.Int64N(mib), back))
		wait := r.opt.Streams && r.rnd.IntN(2) == 0
		r.free(acts[i], back, wait)
		if wait {
			waiting = append(waiting, acts[i])
		}
	}
	for i, addr := range waiting {
		if i > 0 { // the first event waits for no other
			r.complete(addr, back)
		}
	}
	r.free(batch, back, false)
	return grads
}
