// The names that profilers give to Python functions:
// "demo/train.py(52): train_step", "nn.Module: Linear_0", "<built-in method mm of ...>".

package label

import (
	"strconv"
	"strings"
)

// ModulePrefix starts the names of module calls in PyTorch's profiler.
const ModulePrefix = "nn.Module: "

// IsModule reports whether the name of a Python function stands for the call of a module.
func IsModule(name string) bool { return strings.HasPrefix(name, ModulePrefix) }

// IsUserCode reports whether a Python function belongs to the user's program: it is neither the call
// of a module nor a function of PyTorch or of the standard library.
func IsUserCode(name string) bool { return !IsLibrary(name) && !IsModule(name) }

// WithoutAddress removes the memory address of an object, as in
// "<built-in method embedding of type object at 0x7d6b7761df60>", because it
// differs from run to run.
func WithoutAddress(name string) string {
	if head, _, ok := strings.Cut(name, " at 0x"); ok && strings.HasPrefix(name, "<") {
		return head + ">"
	}
	return name
}

// Split splits "demo/train.py(52): train_step" into file, line and function. A
// name of another form, such as a built-in method, is a function without a file.
func Split(name string) (file string, line int, function string) {
	place, function, ok := strings.Cut(name, "): ")
	if !ok {
		return "", 0, name
	}
	i := strings.LastIndexByte(place, '(')
	if i < 0 {
		return "", 0, name
	}
	n, err := strconv.Atoi(place[i+1:])
	if err != nil {
		return "", 0, name
	}
	return place[:i], n, function
}

// IsLibrary reports whether a Python function belongs to PyTorch or to the standard library.
// Profilers remove directories of Python's search path from file names, so a module of the standard
// library has no directory, or the directory of its package.
func IsLibrary(name string) bool {
	file, _, _ := strings.Cut(name, "(")
	if i := strings.LastIndex(file, "-packages/"); i >= 0 {
		file = file[i+len("-packages/"):]
	} else if i := strings.LastIndex(file, "/lib/python3"); i >= 0 {
		return true
	}
	first, _, inFolder := strings.Cut(file, "/")
	switch {
	case strings.HasPrefix(name, "<"): // built-in methods, frozen modules, text that was compiled
		return true
	case inFolder:
		return libraryFolders[first]
	}
	return libraryFiles[strings.TrimSuffix(file, ".py")]
}

// libraryFolders are packages of PyTorch and Python whose functions are on the stack of operators.
var libraryFolders = map[string]bool{
	"torch": true, "torchgen": true, "functorch": true, "asyncio": true, "collections": true, "concurrent": true,
	"ctypes": true, "encodings": true, "importlib": true, "json": true, "logging": true, "multiprocessing": true,
	"unittest": true, "xml": true, "zoneinfo": true,
}

// libraryFiles are such modules of the standard library.
var libraryFiles = map[string]bool{
	"_weakrefset": true, "abc": true, "bdb": true, "cProfile": true, "codecs": true, "contextlib": true, "copy": true,
	"copyreg": true, "dataclasses": true, "enum": true, "fractions": true, "functools": true, "gc": true, "heapq": true,
	"inspect": true, "numbers": true, "operator": true, "os": true, "pdb": true, "pickle": true, "posixpath": true,
	"queue": true, "random": true, "re": true, "runpy": true, "selectors": true, "signal": true, "socket": true,
	"statistics": true, "subprocess": true, "tempfile": true, "threading": true, "timeit": true, "traceback": true,
	"types": true, "typing": true, "warnings": true, "weakref": true, "_collections_abc": true, "_contextlib": true,
	"argparse": true, "bisect": true, "shutil": true, "string": true, "struct": true, "time": true, "tokenize": true,
}
