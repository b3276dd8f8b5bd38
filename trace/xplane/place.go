package xplane

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// HostPlace returns the place of a host among those of a capture of XLA, by the order of their names: the profiler
// writes plugins/profile/TIME/HOST.xplane.pb for each. It is false if the folder has one only.
func HostPlace(path string) (place int, ok bool) {
	const ending = ".xplane.pb"
	path, err := filepath.Abs(path)
	if err != nil || !strings.Contains(filepath.Base(path), ending) {
		return 0, false
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	all := filepath.Dir(dir)
	if filepath.Base(all) != "profile" || filepath.Base(filepath.Dir(all)) != "plugins" {
		return 0, false
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0, false
	}
	var hosts []string
	for _, f := range files {
		if host, _, is := strings.Cut(f.Name(), ending); is && !f.IsDir() {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	host, _, _ := strings.Cut(name, ending)
	place = slices.Index(hosts, host)
	return place, place >= 0 && len(hosts) > 1
}
