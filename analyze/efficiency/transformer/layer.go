package transformer

import "slices"

// layerParts has the part of a layer, as the rows of layers call it, for each part of a step.
var layerParts = map[string]string{"attention": "attention", CachePart: "attention", "mlp": "mlp", "experts": "moe", "shared experts": "moe",
	"router": "moe", "output layer": "head"}

// LayerLink is the part of a layer that is all-reduces over the GPUs that divide it. Its bytes are those that each of them sends at
// least: also where the switch between them adds up.
const LayerLink = "communication"

// Layer returns what one layer of a step must move and compute on each GPU, by its parts (attention, mlp for layers without experts, moe
// for those with them, communication), and the output layer as "head". The cache is left out if layers see different parts of it.
func (m Model) Layer(st Stored, s Step, p Parallel) ([]Part, error) {
	parts, err := m.Decode(st, s, p)
	if err != nil {
		return nil, err
	}
	stages := float64(p.Pipeline)
	layers, moe := float64(m.Layers)/stages, float64(m.MoELayers)/stages
	counts := map[string]float64{"attention": layers, "mlp": layers - moe, "moe": moe, "head": 1}
	var out []Part
	for _, part := range parts {
		if part.Name == CachePart && m.Windowed > 0 && m.Windowed < m.Layers {
			continue
		}
		name := layerParts[part.Name]
		at := slices.IndexFunc(out, func(o Part) bool { return o.Name == name })
		if at < 0 {
			at, out = len(out), append(out, Part{Name: name})
		}
		out[at].Bytes += part.Bytes / counts[name]
		out[at].FLOPs += part.FLOPs / counts[name]
	}
	const reduces = 2 // behind the attention and behind the feed-forward network
	if p.Tensor > 1 && p.Expert <= p.Tensor {
		out = append(out, Part{LayerLink, reduces * float64(s.Tokens) * float64(m.Hidden) * st.Plain, 0})
	}
	return out, nil
}
