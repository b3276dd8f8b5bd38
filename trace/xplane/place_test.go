package xplane

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHostPlace: files of hosts in a folder of the XLA profiler have the places of the hosts in the order of names;
// files elsewhere, other files and single ones have none.
func TestHostPlace(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"logs/plugins/profile/2031_05_06_07_08_09/vela.xplane.pb", "logs/plugins/profile/2031_05_06_07_08_09/antares.xplane.pb",
		"logs/plugins/profile/2031_05_06_07_08_09/mira.xplane.pb.gz", "logs/plugins/profile/2031_05_06_07_08_09/antares.trace.json.gz",
		"logs/plugins/profile/alone/vela.xplane.pb", "logs/plugins/profile/alone/vela.memory_profile.json.gz",
		"logs/captures/one/antares.xplane.pb", "logs/captures/one/vela.xplane.pb",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{
		"plugins/profile/2031_05_06_07_08_09/antares.xplane.pb": 0, "plugins/profile/2031_05_06_07_08_09/mira.xplane.pb.gz": 1,
		"plugins/profile/2031_05_06_07_08_09/vela.xplane.pb": 2, "plugins/profile/2031_05_06_07_08_09/antares.trace.json.gz": -1,
		"plugins/profile/alone/vela.xplane.pb": -1, "captures/one/vela.xplane.pb": -1, "plugins/profile/none/vela.xplane.pb": -1,
	} {
		place, ok := HostPlace(filepath.Join(dir, "logs", filepath.FromSlash(name)))
		if ok != (want >= 0) || ok && place != want {
			t.Errorf("%s: %d, %t; want %d", name, place, ok, want)
		}
	}
}
