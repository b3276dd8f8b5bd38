package metric

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/summary/view/layers"
)

// layerMetrics measure the layers of a model that repeat in a step. They are measured only if a gate uses one: see
// [Metric.Layers].
func layerMetrics() []Metric {
	keys := deviceKeys("layers", "pass", "step")
	return []Metric{
		{Name: "layer.time", Unit: Time, Layers: true, Keys: append(slices.Clone(keys), "part"), Meaning: "median time of one layer of the model, over layers, steps and GPUs; with the selector part, its kernel time in that part",
			measure: layerTime},
		{Name: "layer.count", Unit: Count, Steady: true, Layers: true, Keys: keys, Meaning: "number of layers of the model in one pass of a step",
			measure: layerCount},
	}
}

var errNoLayers = errors.New("no layers that repeat were found in the order of kernels")

// layerKinds returns the kinds of layers that are selected, of the steps with the most time in layers. Steps of several
// kinds are not mixed: one must be selected.
func layerKinds(v selection) ([]layers.Kind, error) {
	of := *v.Summary
	of.Layers = slices.DeleteFunc(slices.Clone(v.Layers), func(l summary.Layer) bool { return !v.sel.hasDevice(l.Rank, l.Device) })
	groups := slices.DeleteFunc(layers.Groups(&of), func(g layers.Group) bool { return !v.sel.has("step", g.Kind) })
	if len(groups) == 0 {
		return nil, errNoLayers
	}
	steps := map[string]bool{}
	for _, g := range groups {
		steps[g.Kind] = true
	}
	if len(steps) > 1 {
		return nil, fmt.Errorf("steps are of several kinds (%s): choose one with step=", few(sortedNames(steps)))
	}
	kinds := slices.DeleteFunc(groups[0].Kinds(), func(k layers.Kind) bool {
		return !v.sel.has("layers", k.Kind) || !v.sel.has("pass", k.Pass)
	})
	if len(kinds) == 0 {
		return nil, errors.New("no layers of this kind and pass")
	}
	return kinds, nil
}

func sortedNames(set map[string]bool) (names []string) {
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// layerTime returns the time of a layer of the only kind that is selected, or that has the part.
func layerTime(v selection) (Value, error) {
	kinds, err := layerKinds(v)
	if err != nil {
		return Value{}, err
	}
	part := v.sel.Value("part")
	if part != "" {
		kinds = slices.DeleteFunc(kinds, func(k layers.Kind) bool { return k.Part(part) == 0 })
	}
	switch {
	case len(kinds) == 0:
		return Value{}, fmt.Errorf("no kernel of layers is of the part %q", part)
	case len(kinds) > 1:
		var names []string
		for _, k := range kinds {
			names = append(names, k.Key())
		}
		return Value{}, fmt.Errorf("layers are of several kinds (%s): choose one with layers= or pass=", strings.Join(names, ", "))
	}
	if part != "" {
		return whole(kinds[0].Part(part)), nil
	}
	return whole(kinds[0].MedianNS), nil
}

// layerCount returns the number of layers of a pass, whatever their kind.
func layerCount(v selection) (Value, error) {
	kinds, err := layerKinds(v)
	if err != nil {
		return Value{}, err
	}
	count := int64(0)
	for _, k := range kinds {
		if k.Pass != kinds[0].Pass {
			return Value{}, fmt.Errorf("layers are of several passes (%s, %s): choose one with pass=", kinds[0].Pass, k.Pass)
		}
		count += k.Count
	}
	return whole(count), nil
}
