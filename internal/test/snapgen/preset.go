package snapgen

// Presets are the snapshots of testdata/memory, by the names of their files.
func Presets() map[string]Options {
	return map[string]Options{
		// A run that leaks memory in every step until an allocation fails.
		"leak_oom": {Seed: 1, Steps: 8, Layers: 12, Scatter: true, Streams: true, Exhaust: true},
		// The cache is emptied after every step.
		"empty_cache": {Seed: 2, Steps: 4, Layers: 12, EmptyCache: true},
		// The ring buffer is too small, and recording began after the model was built.
		"ring_buffer": {Seed: 3, Steps: 4, Layers: 10, RecordLate: true, MaxEntries: 200},
		// Nothing was recorded.
		"bare": {Seed: 4, Steps: 2, Layers: 8, Bare: true},
	}
}
