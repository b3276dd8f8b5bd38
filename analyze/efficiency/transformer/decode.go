package transformer

import (
	"errors"
	"fmt"
	"math"
)

// A Step is a decode step of one replica of the model: the part of the batch that one group of GPUs with
// tensor and pipeline parallelism computes.
type Step struct {
	Requests, Tokens int64
	Keys             int64 // tokens in the cache that the requests attend to; 0 if it is not known
}

// Parallel has the number of GPUs that divide the work. With more GPUs for experts than for each layer, the
// groups of GPUs that divide layers compute different requests, and send tokens to each other's experts.
type Parallel struct{ Tensor, Expert, Pipeline int64 }

// A Part is what a step must move and compute for one kind of matrices, or for the cache, on each GPU.
type Part struct {
	Name  string // "attention", "mlp", "experts", "shared experts", "router", "output layer" or "kv cache"
	Bytes float64
	FLOPs float64
}

// CachePart is the part of the cache of keys and values.
const CachePart = "kv cache"

// Decode returns the parts of a step on each GPU. Weights are read once in a step; of experts, those that
// the router is expected to choose if all are equally likely. Without Keys there is no part of the cache.
func (m Model) Decode(st Stored, s Step, p Parallel) ([]Part, error) {
	if err := m.divides(p); err != nil {
		return nil, err
	}
	split, whole := m.attention()
	tp, layers, moe := float64(p.Tensor), float64(m.Layers)/float64(p.Pipeline), float64(m.MoELayers)/float64(p.Pipeline)
	if m.Latent.KV == 0 { // heads of keys and values are copied where there are more GPUs
		split = 2 * float64(m.Hidden) * float64(m.HeadDim) * (float64(m.Heads)/tp + m.kvHeads(p))
	} else {
		split /= tp
	}
	all := []part{
		{"attention", layers * (split + whole), st.Attention, 1},
		{"mlp", (layers - moe) * m.MLP / tp, st.MLP, 1},
	}
	if e := m.Experts; moe > 0 {
		replicas := max(1, float64(p.Expert)/tp)
		on := tp * replicas // GPUs that have the experts of a layer
		tokens := float64(s.Tokens) * replicas
		used := float64(e.Count) * (1 - math.Pow(1-float64(e.Active)/float64(e.Count), tokens))
		// A GPU computes its share of all tokens with each of the experts that it reads.
		all = append(all, part{"experts", moe * used * e.Each / on, st.Experts, replicas * float64(e.Active) / used},
			part{"shared experts", moe * e.Shared / tp, st.MLP, 1}, part{"router", moe * e.Router, st.Plain, 1})
	}
	if p.Pipeline == 1 { // else it is on one of the stages
		all = append(all, part{"output layer", float64(m.Hidden) * float64(m.Vocab) / tp, st.Plain, 1})
	}
	var out []Part
	for _, a := range all {
		if a.elements > 0 {
			out = append(out, Part{a.name, a.elements * a.bytes, 2 * a.elements * a.uses * float64(s.Tokens)})
		}
	}
	if s.Keys > 0 {
		out = append(out, m.cache(st, s, p))
	}
	return out, nil
}

// A part is a kind of matrices.
type part struct {
	name            string
	elements, bytes float64
	uses            float64 // products with a token of a replica, per element that is read
}

// divides returns why GPUs cannot divide the model so.
func (m Model) divides(p Parallel) error {
	switch {
	case p.Tensor < 1 || p.Expert < 1 || p.Pipeline < 1:
		return errors.New("the number of GPUs is not positive")
	case m.Heads%p.Tensor != 0:
		return fmt.Errorf("%d heads of attention cannot be divided by %d GPUs", m.Heads, p.Tensor)
	case m.Layers < p.Pipeline:
		return fmt.Errorf("%d layers cannot be divided by %d GPUs", m.Layers, p.Pipeline)
	case p.Expert > 1 && m.Experts.Count == 0:
		return errors.New("the model has no experts")
	case p.Expert > 1 && m.Experts.Count%p.Expert != 0, p.Expert > p.Tensor && p.Expert%p.Tensor != 0:
		return fmt.Errorf("%d experts cannot be divided by %d GPUs", m.Experts.Count, p.Expert)
	}
	return nil
}

// kvHeads returns the heads of keys and values on each GPU.
func (m Model) kvHeads(p Parallel) float64 { return max(1, float64(m.KVHeads)/float64(p.Tensor)) }

// cache returns the part of the cache: all keys and values of the requests, or those in the window in the
// layers that have one, and those of the new tokens. Requests count as equally long.
func (m Model) cache(st Stored, s Step, p Parallel) Part {
	each, scores := 2*m.kvHeads(p)*float64(m.HeadDim), 4*float64(m.HeadDim)
	if l := m.Latent; l.KV > 0 {
		each, scores = float64(l.KV+l.Rope), 2*float64(2*l.KV+l.Rope)
	}
	windowed := float64(m.Windowed)
	layers := float64(m.Layers) - windowed
	keys := float64(s.Keys)
	seen := layers * keys
	if windowed > 0 {
		seen += windowed * min(keys, float64(s.Requests)*float64(m.Window))
	}
	stages := float64(p.Pipeline)
	bytes := (seen + float64(m.Layers)*float64(s.Tokens)) * each * st.Cache / stages
	perRequest := float64(s.Tokens) / float64(max(1, s.Requests)) // each of its tokens attends to its keys
	return Part{CachePart, bytes, seen * perRequest * scores * float64(m.Heads) / float64(p.Tensor) / stages}
}
