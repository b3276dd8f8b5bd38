package label

import "testing"

func TestIsCollector(t *testing.T) {
	for name, want := range map[string]bool{
		"<built-in function collect>":                         true,
		"<built-in method collect of gc>":                     true,
		"<built-in method collect of module 'gc' (built-in)>": true,
		"gc.py(10): collect":                                  true,
		"/opt/app/utils/gc.py(88): run_gc":                    true,
		"jax/_src/lib/__init__.py(109): _xla_gc_callback":     true,
		"train/loop.py(7): manual_gc":                         true,
		"gc":                                                  true,
		"Python GC":                                           true,
		"PythonGC":                                            true,
		"GC (gen 2)":                                          true,
		"gc_collect_gen1":                                     true,
		"garbage collection":                                  true,

		"<built-in method collect of builtins.PyLazyFrame object at 0x7f>": false,
		"<built-in function collect_env>":                                  false,
		"train.py(12): collect":                                            false,
		"models/gc.py(40): forward":                                        false,
		"gc1":                                                              false, // a layer
		"gc2 forward":                                                      false,
		"nn.Module: GC_0":                                                  false,
		"gcs_upload":                                                       false,
		"storage.py(3): upload_to_gc":                                      false,
		"collect rollouts":                                                 false,
		"python":                                                           false,
		"":                                                                 false,
	} {
		if got := IsCollector(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
