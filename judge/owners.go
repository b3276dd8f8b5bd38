package judge

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// An ownerShare is the idle time of all devices that has one owner, and of a late
// host one state.
type ownerShare struct {
	owner, state string
	ns, longest  int64
	name         string // that with the most of it
	most         int64  // of which this much
}

// owners returns who owned the idle time, the largest share first.
func (c *court) owners() []ownerShare {
	type key struct{ owner, state string }
	index := map[key]int{}
	byName := map[summary.Idle]int64{}
	var out []ownerShare
	for _, r := range c.Idle {
		k := key{r.Owner, r.State}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, ownerShare{owner: r.Owner, state: r.State})
		}
		o := &out[i]
		o.ns, o.longest = summary.Plus(o.ns, r.NS), max(o.longest, r.MaxNS)
		name := summary.Idle{Owner: r.Owner, State: r.State, Name: r.Name}
		byName[name] = summary.Plus(byName[name], r.NS)
		if n := byName[name]; n > o.most || n == o.most && r.Name < o.name {
			o.name, o.most = r.Name, n
		}
	}
	slices.SortFunc(out, func(a, b ownerShare) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.owner, b.owner), cmp.Compare(a.state, b.state))
	})
	return out
}

// telling are the owners that decide on advice: those with a fifth of the idle
// time or more, at most three, and the largest in any case.
func telling(owners []ownerShare, total int64) []ownerShare {
	n := 0
	for n < min(3, len(owners)) && (n == 0 || owners[n].ns >= total/5) {
		n++
	}
	return owners[:n]
}

func ownerEvidence(owners []ownerShare, total int64) (out []string) {
	for _, o := range telling(owners, total) {
		line := o.owner
		if o.state != "" {
			line += ", " + o.state
		}
		line = fmt.Sprintf("%s: %s of the idle time (%s)", line, unit.Share(o.ns, total), fraction(o.ns, total))
		if o.name != "" {
			line += fmt.Sprintf(", most of it in %q (%s)", short(o.name), unit.Duration(o.most))
		}
		out = append(out, line)
	}
	return out
}

// What to do about idle time, by what it comes from.
const (
	adviceSynchronize = "remove synchronization from the step: .item(), .cpu(), .tolist(), print of a tensor, torch.cuda.synchronize() and boolean masks make the host wait for the GPU"
	adviceData        = "if the host waits for data: raise num_workers and prefetch_factor of the DataLoader, set pin_memory=True and persistent_workers=True"
	adviceLess        = `launch less: torch.compile(model, mode="reduce-overhead") or CUDA graphs replay many kernels with one launch; inference servers capture them per batch size (in SGLang --cuda-graph-max-bs, in vLLM without enforce_eager)`
	adviceMore        = "give each launch more work: larger micro batches, fused optimizers (fused=True), fused attention"
	adviceCopies      = "do not let the host wait for copies: pinned memory and non_blocking=True, and read results back only when they are needed"
	adviceAllocate    = "keep the allocator from calling the driver within steps: warm up with the largest shapes, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, no torch.cuda.empty_cache() in the loop"
	adviceHeld        = "see what the work waited for: a copy or collective on another stream (cudaStreamWaitEvent), a large copy on its own stream, or a host function; start that earlier, or let other work run meanwhile"
	adviceWarmUp      = "leave first launches out of the capture: they load code; warm up before recording, "
	adviceOpaque      = "record the nodes of graphs: with Nsight Systems --cuda-graph-trace=node, with PyTorch a newer CUPTI"
	adviceWaits       = "see what the call of the operating system waits for: pthread_cond_wait, futex and poll wait for another thread or process (workers of a data loader, a queue, a lock), read and write for storage or a socket; give that work to more workers, or start it earlier"
	adviceCores       = "give the thread a core: raise the CPU limit of the container, pin the process to the GPU's NUMA node (numactl), and lower OMP_NUM_THREADS and the number of workers where they take all cores; if it waited instead, record the calls it waits in (nsys --trace=osrt)"
	adviceEarlier     = "begin the capture before the work is launched, with a step of warm-up, so that its launches are known"
)

// ownerAdvice says what to do about the largest shares, in their order.
func ownerAdvice(owners []ownerShare, total int64, how *recorder) (out []string) {
	for _, o := range telling(owners, total) {
		for _, line := range o.advice(how) {
			if !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}

func (o ownerShare) advice(how *recorder) []string {
	switch o.owner {
	case summary.OwnerLaunch:
		if o.longest >= longGap {
			return []string{adviceWarmUp + how.warmUp, adviceLess}
		}
		return []string{adviceLess, adviceMore}
	case summary.OwnerBetween:
		return []string{adviceMore, adviceLess}
	case summary.OwnerDependency:
		return []string{adviceHeld}
	case summary.OwnerNothing:
		return []string{how.itself}
	case summary.OwnerOpaque:
		return []string{adviceOpaque}
	case summary.OwnerUnknown:
		return []string{adviceEarlier}
	}
	switch o.state {
	case summary.StateSync:
		return []string{adviceSynchronize}
	case summary.StateCopy:
		return []string{adviceCopies}
	case summary.StateAlloc:
		return []string{adviceAllocate}
	case summary.StateData:
		return []string{adviceData}
	case summary.StateOS:
		return []string{adviceWaits}
	case summary.StateOff:
		return []string{adviceCores}
	case summary.StateUnrecorded:
		return []string{how.host}
	}
	return []string{adviceLess, adviceMore}
}
