// The names that profilers give to Python functions:
// "demo/train.py(52): train_step", "nn.Module: Linear_0", "<built-in method mm of ...>".

package label

import (
	"strconv"
	"strings"
)

// ModulePrefix is how PyTorch's profiler names the calls of modules.
const ModulePrefix = "nn.Module: "

// IsModule reports whether the name of a Python function is that of a module's call.
func IsModule(name string) bool { return strings.HasPrefix(name, ModulePrefix) }

// IsUserCode reports whether the name of a Python function is not that of a module's call,
// of PyTorch or of Python itself.
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

// IsLibrary reports whether a Python function is PyTorch's or Python's own.
// Profilers cut what is in Python's search path off the front of a file's name,
// so a module of the standard library has no folder, or one of its own.
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

// libraryFolders are the packages of PyTorch and Python that run Python code on
// the way to an operator.
var libraryFolders = map[string]bool{
	"torch": true, "torchgen": true, "functorch": true, "asyncio": true, "collections": true, "concurrent": true,
	"ctypes": true, "encodings": true, "importlib": true, "json": true, "logging": true, "multiprocessing": true,
	"unittest": true, "xml": true, "zoneinfo": true,
}

// libraryFiles are the modules of Python that do.
var libraryFiles = map[string]bool{
	"_weakrefset": true, "abc": true, "bdb": true, "cProfile": true, "codecs": true, "contextlib": true, "copy": true,
	"copyreg": true, "dataclasses": true, "enum": true, "fractions": true, "functools": true, "gc": true, "heapq": true,
	"inspect": true, "numbers": true, "operator": true, "os": true, "pdb": true, "pickle": true, "posixpath": true,
	"queue": true, "random": true, "re": true, "runpy": true, "selectors": true, "signal": true, "socket": true,
	"statistics": true, "subprocess": true, "tempfile": true, "threading": true, "timeit": true, "traceback": true,
	"types": true, "typing": true, "warnings": true, "weakref": true, "_collections_abc": true, "_contextlib": true,
	"argparse": true, "bisect": true, "shutil": true, "string": true, "struct": true, "time": true, "tokenize": true,
}
