// Package classify determines the purpose of a GPU kernel from its name.
//
// Every kernel has a class, which decides how its time is counted, and a
// category, which groups it in tables:
//
//	m := classify.Default().Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)")
//	// m is {comm all-reduce comm-all-reduce}: class, category, rule
//
// A kernel is [Comm] if it moves data between devices, [Compute] otherwise. The
// class is determined from [BaseName], the name without arguments, because the
// types of a template do not show what runs. Copies and memsets are not
// kernels; a profiler reports them as events of their own kind. Copies and
// fills that ROCm runs as kernels are compute in category copy or fill.
//
// A mangled name is spelled out as far as the rules need it.
//
// # Categories
//
// Of compute kernels:
//
//	gemm              matrix products and their parts
//	attention         fused attention and the combination of its parts
//	convolution       in every algorithm but an explicit FFT
//	elementwise       one output for each input, activations among them
//	reduction         sums, norms, extremes
//	normalization     batch, layer, group and RMS norm
//	softmax           on its own, not within attention or a loss
//	loss              on its own
//	index             gathers, scatters, embedding tables
//	moe               mixture of experts: routing, permuting, grouped products
//	quantization      to and from low precision, with its scales
//	optimizer         parameter updates and foreach kernels
//	sampling          top-k, top-p, argmax: from logits to tokens
//	rope              rotary position embedding
//	linear-attention  state-space models, gated delta nets and similar
//	kv-cache          writing, moving and addressing cached keys and values
//	triton-fused      kernels fused by torch.compile; the name lists the operators
//	layout            concatenation, transposition, casts and other copies
//	copy              copies that ROCm runs as kernels
//	fill              constants
//	pooling           maximum and average
//	interpolation     resampling of images
//	random            random numbers and dropout
//	sort-scan         sorts, prefix sums, selections
//	sparse            products and conversions of sparse matrices
//	fft               Fourier transforms
//	linear-algebra    factorizations and solvers
//	runtime           busy waits, graph nodes, autotuning checks
//	whole-graph       a CUDA graph traced as one event; its kernels are unknown
//
// Of communication kernels:
//
//	all-reduce        every rank gets the sum
//	all-gather        every rank gets all parts
//	reduce-scatter    every rank gets a part of the sum
//	all-to-all        every rank sends to every other
//	broadcast         one rank sends to all
//	send-recv         point to point, and operations built from it
//	comm-other        communication whose kind the name does not show
//
// A kernel of either class has category [Other] if no rule matches.
//
// # Rule files
//
// The rules are an ordered list in YAML; the file kernels.yaml of this package
// is an example. [Rules.Override] puts a user's own file before it:
//
//	rules:
//	- id: halo-exchange        # unique, lower-case words joined by hyphens
//	  class: comm              # compute if absent
//	  category: send-recv      # one of the above or a new word
//	  match: ['^halo_(pack|unpack)']
//	  ignore-case: true        # of every expression in match; false if absent
//	  on: base                 # or full: the whole name, with its arguments
//	  note: the source of the names, for readers of the file
//
// An expression, in the syntax of package regexp, matches anywhere in the name
// unless it is anchored. The class is that of the first rule on base that
// matches; then the first rule of this class gives the category. A rule on the
// whole name can therefore refine a category and cannot change a class.
package classify
