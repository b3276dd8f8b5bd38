package membudget

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

func bounds() (all []Bound) {
	if n, ok := cgroupLimit("/proc/self/cgroup", "/sys/fs/cgroup"); ok {
		all = append(all, Bound{n / cgroupDen * cgroupNum, "the memory limit of its cgroup"})
	}
	if n, ok := available("/proc/meminfo"); ok {
		all = append(all, Bound{n / freeDen * freeNum, "the free memory of the machine"})
	}
	var space syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &space); err == nil && space.Cur < 1<<62 {
		// The runtime of Go maps much when it starts that it never uses.
		mapped, _, _ := statm()
		all = append(all, Bound{max(0, int64(space.Cur)-mapped) / spaceDen, "the limit on its address space (ulimit -v)"})
	}
	return all
}

// statm returns how many bytes of addresses the process has mapped, how many bytes
// of memory it takes that no file backs, and whether the system says so.
func statm() (mapped, resident int64, ok bool) {
	text, err := readFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return 0, 0, false
	}
	var n [3]int64
	for i := range n {
		if n[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
			return 0, 0, false
		}
	}
	page := int64(os.Getpagesize())
	return n[0] * page, (n[1] - n[2]) * page, true
}

// Resident returns how many bytes of memory the process takes that no file backs.
func Resident() (int64, bool) {
	_, n, ok := statm()
	return n, ok
}

// available returns what new processes may take without swapping.
func available(meminfo string) (int64, bool) {
	text, err := readFile(meminfo)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("MemAvailable:")); ok {
			number, unit, _ := strings.Cut(strings.TrimSpace(string(rest)), " ")
			n, err := strconv.ParseInt(number, 10, 64)
			return n << 10, err == nil && unit == "kB"
		}
	}
	return 0, false
}

// cgroupLimit returns the smallest limit of the control groups of the process, of
// both versions, and of the groups above them. Within a container the list has the
// paths of the host, and the container's own group is the root.
func cgroupLimit(list, root string) (limit int64, ok bool) {
	groups, err := readFile(list)
	if err != nil {
		return 0, false
	}
	take := func(file string) {
		text, err := readFile(file)
		if err != nil {
			return
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		const none = 1 << 60 // version 1 has a number for no limit
		if err == nil && n > 0 && n < none && (!ok || n < limit) {
			limit, ok = n, true
		}
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number, controllers, path
		if len(parts) != 3 {
			continue
		}
		var top string
		var files []string
		switch {
		case parts[0] == "0" && parts[1] == "":
			top, files = root, []string{"memory.max", "memory.high"}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			top, files = path.Join(root, "memory"), []string{"memory.limit_in_bytes"}
		default:
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			for _, name := range files {
				take(path.Join(top, group, name))
			}
			if group == "/" {
				break
			}
		}
	}
	return limit, ok
}

// readFile returns what a small file of the system has. Every command reads several
// of them, and [os.ReadFile] makes four more calls of the system for each.
func readFile(path string) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	text := make([]byte, 0, 4<<10)
	for {
		n, err := syscall.Read(fd, text[len(text):cap(text)])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}
