package membudget

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"syscall"

	"assay/internal/addrspace"
)

func bounds() (all []Bound) {
	if n, ok := cgroupLimit("/proc/self/cgroup", "/sys/fs/cgroup"); ok {
		all = append(all, Bound{n / cgroupDen * cgroupNum, "the memory limit of its cgroup"})
	}
	if n, ok := available("/proc/meminfo"); ok {
		all = append(all, Bound{n / freeDen * freeNum, "the free memory of the machine"})
	}
	if left, ok := addrspace.Left(); ok {
		all = append(all, Bound{left / spaceDen, "the limit on its address space (ulimit -v)"})
	}
	return all
}

// Resident returns the resident memory of the process in bytes, including its code, how many bytes
// of it are pages of files, and whether both are known.
func Resident() (all, files int64, ok bool) {
	_, all, files, ok = addrspace.Used()
	return all, files, ok
}

// available returns the bytes that new processes may take without swapping, from /proc/meminfo.
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

// cgroupLimit returns the smallest memory limit, in bytes, of the control groups of the process and
// their parents, for both versions of cgroups. In a container the list has paths of the host, and
// the group of the container is the root.
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
		const none = 1 << 60 // version 1 writes a huge number for no limit
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

// readFile reads a small file of /proc or /sys. Every command reads several at start, and
// [os.ReadFile] makes four more system calls for each.
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
