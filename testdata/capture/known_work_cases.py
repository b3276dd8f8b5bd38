"""The calls of known_work.py, each with the FLOPs and bytes that it needs.

A product of an addition and a multiplication is two FLOPs. Elementwise operators, reductions, softmax and normalization have
nominal FLOPs: a fixed number of steps for each element.

What is left out of a label has this default: all tensor arguments are read once, and the first result is written once.
"""
import dataclasses
import math
from typing import Any, Callable

import torch

A = torch.ops.aten
F32, F64, BF16, I64, I32, I16, U8, BOOL = torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool
VALUES = ("flops", "bytes")  # what is unknown without the values of arguments
# Without values, a bias counts as read (beta), all gradients of a normalization as written (mask), and the gradient of a softmax
# as one of the type of its input (type).
NO_FORMULA = {"flops": "no formula", "bytes": "no formula"}


@dataclasses.dataclass
class Case:
    op: Any
    args: tuple
    flops: Any = None
    kwargs: dict = dataclasses.field(default_factory=dict)
    reads: list | None = None  # tensors
    writes: list | None = None
    bytes: int | Callable | None = None
    unknown: dict = dataclasses.field(default_factory=dict)
    needs: tuple = ()
    kernel: str = ""

    @property
    def name(self):
        return self.op._schema.name


def t(*shape, dtype=F32):
    """Returns a tensor of small positive numbers."""
    if dtype == BOOL:
        return torch.rand(*shape) > 0.5
    if not dtype.is_floating_point and not dtype.is_complex:
        return torch.randint(1, 5, shape, dtype=dtype)
    return (torch.rand(*shape) * 0.8 + 0.1).to(dtype)


def numel(out):
    return out.numel()


def per(n):
    return lambda out: n * out.numel()


def products():
    for m, k, n, dtype in [(8, 16, 4, F32), (5, 7, 3, BF16), (1, 9, 1, F64), (6, 6, 6, I64)]:
        yield Case(A.mm.default, (t(m, k, dtype=dtype), t(k, n, dtype=dtype)), 2 * m * n * k)
    a, b = t(8, 16), t(16, 4)
    yield Case(A.mm.default, (t(16, 8).t(), t(4, 16).t()), 2 * 8 * 4 * 16)
    yield Case(A.mm.default, (t(1, 16).expand(8, 16), b), 2 * 8 * 4 * 16)
    yield Case(A.mm.default, (t(40)[:].unfold(0, 16, 2)[:8], b), 2 * 8 * 4 * 16)  # rows overlap
    yield Case(A.mm.out, (a, b), 2 * 8 * 4 * 16, {"out": t(8, 4)}, reads=[a, b])
    for bias in (t(4), t(8, 4), t(1, 4), t(4).expand(8, 4), t(8, 1)):
        yield Case(A.addmm.default, (bias, a, b), 2 * 8 * 4 * 16 + 8 * 4)
    yield Case(A.addmm.default, (t(4, dtype=BF16), a.bfloat16(), b.bfloat16()), 2 * 8 * 4 * 16 + 8 * 4, {"beta": 2, "alpha": 0.5})
    yield Case(A.addmm.default, (t(8, 4), a, b), 2 * 8 * 4 * 16, {"beta": 0}, reads=[a, b], needs=("beta",))  # the bias is not read
    bias = t(4)
    yield Case(A.addmm.out, (bias, a, b), 2 * 8 * 4 * 16 + 8 * 4, {"out": t(8, 4)}, reads=[bias, a, b])
    yield Case(A.addmm_.default, (t(8, 4), a, b), 2 * 8 * 4 * 16 + 8 * 4)
    yield Case(A._addmm_activation.default, (t(4), a, b), 2 * 8 * 4 * 16 + 8 * 4)
    x, y = t(3, 5, 6), t(3, 6, 7)
    one = 2 * 3 * 5 * 7 * 6
    yield Case(A.bmm.default, (x, y), one)
    yield Case(A.bmm.default, (x.transpose(0, 1).contiguous().transpose(0, 1), t(3, 7, 6).transpose(1, 2)), one)
    yield Case(A.bmm.default, (x, t(1, 6, 7).expand(3, 6, 7)), one)
    yield Case(A.bmm.default, (x.bfloat16(), y.bfloat16()), one)
    yield Case(A.bmm.out, (x, y), one, {"out": t(3, 5, 7)}, reads=[x, y])
    for bias in (t(3, 5, 7), t(1, 5, 7), t(7)):
        yield Case(A.baddbmm.default, (bias, x, y), one + 3 * 5 * 7)
    yield Case(A.baddbmm.default, (t(3, 5, 7), x, y), one, {"beta": 0.0, "alpha": 0.125}, reads=[x, y], needs=("beta",))
    yield Case(A.baddbmm_.default, (t(3, 5, 7), x, y), one + 3 * 5 * 7)
    yield Case(A.mv.default, (t(6, 9), t(9)), 2 * 6 * 9)
    yield Case(A.addmv.default, (t(6), t(6, 9), t(9)), 2 * 6 * 9 + 6)
    yield Case(A.addmv_.default, (t(6), t(6, 9), t(9)), 2 * 6 * 9 + 6)
    yield Case(A.dot.default, (t(9), t(9)), unknown=NO_FORMULA)
    for shape in [(5, 7), (2, 3, 7), (2, 3, 4, 7), (7,)]:
        rows = math.prod(shape[:-1])
        yield Case(A.linear.default, (t(*shape), t(6, 7)), 2 * rows * 6 * 7)
        yield Case(A.linear.default, (t(*shape), t(6, 7), t(6)), 2 * rows * 6 * 7 + rows * 6)
    for causal in (False, True):
        q = t(2, 4, 8, 6)
        yield Case(A._scaled_dot_product_attention.default, (q, q, q, None, 0.0, False, causal), unknown=NO_FORMULA)


def convolutions():
    def conv(x, w, bias, stride, pad, dilation, transposed=False, extra=None, groups=1):
        moved = x.numel() if transposed else None
        each = 2 * math.prod(w.shape[1:])
        add = 1 if bias is not None else 0
        return Case(A.convolution.default, (x, w, bias, stride, pad, dilation, transposed, extra or [0] * len(stride), groups),
                    lambda out: (moved or out.numel()) * each + add * out.numel(), needs=VALUES)

    yield conv(t(2, 4, 12), t(6, 4, 3), t(6), [1], [0], [1])
    yield conv(t(2, 4, 13), t(6, 2, 3), None, [2], [1], [2], groups=2)
    yield conv(t(2, 4, 9), t(4, 6, 3), t(6), [2], [1], [1], transposed=True, extra=[1])
    yield conv(t(2, 4, 8, 8), t(6, 4, 3, 3), t(6), [1, 1], [1, 1], [1, 1])
    yield conv(t(2, 4, 9, 8), t(6, 4, 3, 2), None, [2, 1], [1, 0], [1, 2])
    yield conv(t(2, 4, 8, 8), t(4, 1, 3, 3), t(4), [1, 1], [1, 1], [1, 1], groups=4)
    yield conv(t(2, 4, 8, 8).to(memory_format=torch.channels_last), t(6, 4, 1, 1), None, [1, 1], [0, 0], [1, 1])
    yield conv(t(1, 4, 8, 8).expand(3, 4, 8, 8), t(6, 4, 3, 3), None, [1, 1], [0, 0], [1, 1])
    yield conv(t(2, 4, 5, 5), t(4, 3, 3, 3), None, [2, 2], [1, 1], [1, 1], transposed=True, extra=[1, 0], groups=2)
    yield conv(t(2, 4, 8, 8), t(6, 4, 3, 3), t(6), [2], [1], [1], extra=[0])
    yield conv(t(2, 3, 4, 6, 6), t(5, 3, 2, 3, 3), t(5), [1, 1, 1], [0, 1, 1], [1, 1, 1])
    yield conv(t(1, 4, 3, 4, 4), t(4, 2, 2, 2, 2), None, [2, 2, 2], [0, 0, 0], [1, 1, 1], transposed=True)

    def back(x, w, stride, pad, mask, transposed=False, groups=1):
        spatial = len(stride)
        g = A.convolution.default(x, w, None, stride, pad, [1] * spatial, transposed, [0] * spatial, groups)
        bias = g.shape[1]
        one = 2 * (x if transposed else g).numel() * math.prod(w.shape[1:])
        needed = [g] + ([w] if mask[0] else []) + ([x] if mask[1] else [])
        made = ([x] if mask[0] else []) + ([w] if mask[1] else []) + ([t(bias)] if mask[2] else [])
        return Case(A.convolution_backward.default, (g, x, w, [bias], stride, pad, [1] * spatial, transposed, [0] * spatial, groups, mask),
                    one * (mask[0] + mask[1]) + mask[2] * g.numel(), reads=needed, writes=made, needs=VALUES)

    for mask in ([True, True, True], [True, True, False], [False, True, False], [False, True, True], [True, False, False]):
        yield back(t(2, 4, 8, 8), t(6, 4, 3, 3), [1, 1], [1, 1], mask)
    yield back(t(2, 4, 8, 8), t(6, 2, 3, 3), [2, 2], [1, 1], [True, True, True], groups=2)
    yield back(t(2, 4, 12), t(6, 4, 3), [1], [1], [True, True, True])
    yield back(t(1, 3, 4, 6, 6), t(5, 3, 2, 3, 3), [1, 1, 1], [0, 1, 1], [True, True, False])
    yield back(t(2, 4, 5, 5), t(4, 3, 3, 3), [2, 2], [1, 1], [True, True, True], transposed=True)


def normalizations():
    for x in (t(4, 10), t(2, 3, 7, dtype=BF16), t(6, 8).t(), t(1, 10).expand(4, 10)):
        # Only inputs of 16 bits can become float32, which a value says.
        needs = ("bytes",) if x.dtype == BF16 else ()
        yield Case(A._softmax.default, (x, -1, False), 5 * x.numel(), needs=needs)
        yield Case(A._log_softmax.default, (x, 1, False), 5 * x.numel(), needs=needs)
        g, y = torch.empty(x.shape, dtype=x.dtype).fill_(0.5), torch.softmax(x, -1)
        yield Case(A._softmax_backward_data.default, (g, y, -1, x.dtype), 4 * x.numel(), needs=("type",) if x.dtype != BF16 else ())
        yield Case(A._log_softmax_backward_data.default, (g, y, -1, x.dtype), 4 * x.numel(), needs=("type",) if x.dtype != BF16 else ())
    for dtype in (F32, BF16):
        x, gamma, beta = t(4, 6, 8, dtype=dtype), t(8, dtype=dtype), t(8, dtype=dtype)
        yield Case(A.native_layer_norm.default, (x, [8], gamma, beta, 1e-5), 8 * x.numel())
        yield Case(A.native_layer_norm.default, (x, [6, 8], None, None, 1e-5), 8 * x.numel())
        yield Case(A.layer_norm.default, (x, [8], gamma, beta, 1e-5, False), 8 * x.numel())
    x, gamma, beta = t(4, 6, 8), t(8), t(8)
    _, mean, rstd = A.native_layer_norm.default(x, [8], gamma, beta, 1e-5)
    stats = [mean, rstd]
    for mask in ([True, True, True], [True, False, False], [False, True, True]):
        made = [y for y, wanted in zip((x, gamma, beta), mask) if wanted]
        yield Case(A.native_layer_norm_backward.default, (x, x, [8], *stats, gamma, beta, mask), 12 * x.numel(), writes=made, needs=("mask",))
    yield Case(A.native_layer_norm_backward.default, (x, x, [8], *stats, None, None, [True, False, False]), 12 * x.numel(), writes=[x], needs=("mask",))

    x, c = t(3, 4, 5, 5), [t(4) for _ in range(4)]
    yield Case(A.native_batch_norm.default, (x, *c, True, 0.1, 1e-5), 8 * x.numel())
    yield Case(A.native_batch_norm.default, (x, *c, False, 0.1, 1e-5), 8 * x.numel())
    yield Case(A.native_batch_norm.default, (x, None, None, None, None, True, 0.1, 1e-5), 8 * x.numel())
    yield Case(A.batch_norm.default, (x, *c, True, 0.1, 1e-5, False), 8 * x.numel())
    yield Case(A.instance_norm.default, (x, c[0], c[1], None, None, True, 0.1, 1e-5, False), 8 * x.numel())
    for mask in ([True, True, True], [True, False, False], [False, True, True]):
        made = [y for y, wanted in zip((x, c[0], c[0]), mask) if wanted]
        yield Case(A.native_batch_norm_backward.default, (x, x, c[0], c[2], c[3], t(4), t(4), True, 1e-5, mask), 12 * x.numel(), writes=made, needs=("mask",))
    yield Case(A.native_group_norm.default, (x, c[0], c[1], 3, 4, 25, 2, 1e-5), 8 * x.numel())
    yield Case(A.group_norm.default, (x, 2, c[0], c[1], 1e-5, False), 8 * x.numel())
    _, mean, rstd = A.native_group_norm.default(x, c[0], c[1], 3, 4, 25, 2, 1e-5)
    for mask in ([True, True, True], [True, False, False]):
        made = [y for y, wanted in zip((x, c[0], c[0]), mask) if wanted]
        yield Case(A.native_group_norm_backward.default, (x, x, mean, rstd, c[0], 3, 4, 25, 2, mask), 12 * x.numel(), writes=made, needs=("mask",))


def elementwise():
    x, y = t(4, 6), t(4, 6)
    for name in "abs neg exp log sqrt rsqrt sigmoid tanh sin erf relu gelu silu hardswish softplus reciprocal floor expm1 log2".split():
        yield Case(getattr(A, name).default, (x,), numel)
        yield Case(getattr(A, name).default, (t(4, 6, dtype=BF16),), numel)
    for name in "exp_ sqrt_ relu_ silu_ neg_".split():
        yield Case(getattr(A, name).default, (t(4, 6),), numel)
    for name in "exp sqrt sin log2 reciprocal".split():
        for dtype in (I64, I32, BOOL):
            yield Case(getattr(A, name).default, (t(4, 6, dtype=dtype),), numel)
    yield Case(A.neg.default, (t(4, 6, dtype=I64),), numel)
    yield Case(A.isnan.default, (x,), numel)
    yield Case(A.logical_not.default, (x,), numel)
    yield Case(A.exp.out, (x,), numel, {"out": t(4, 6, dtype=F64)}, reads=[x])
    others = [y, t(6), t(1, 6), t(4, 1), t(6).expand(4, 6), t(2, 4, 6), t(4, 6, dtype=BF16), t(4, 6, dtype=F64), t(4, 6, dtype=I64),
              t(6, 4).t(), torch.tensor(2.0), torch.tensor(2.0, dtype=F64), torch.tensor(3), torch.tensor(True), 2, 1.5]
    for name in "add sub mul div".split():
        for other in others:
            if name != "sub" or not isinstance(other, torch.Tensor) or other.dtype != BOOL:
                yield Case(getattr(A, name).Tensor, (x, other), numel)
        yield Case(getattr(A, name).Tensor, (t(4, 6, dtype=BF16), t(4, 6, dtype=torch.float16)), numel)
        for a, b in [(I64, I64), (I32, I64), (I32, F32), (I32, BF16), (U8, I16), (BOOL, I32)]:
            if name != "sub" or a != BOOL:
                yield Case(getattr(A, name).Tensor, (t(4, 6, dtype=a), t(4, 6, dtype=b)), numel)
        for dtype in (I64, I32, BF16):
            yield Case(getattr(A, name).Tensor, (t(4, 6, dtype=dtype), 1.5), numel)
            yield Case(getattr(A, name).Tensor, (t(4, 6, dtype=dtype), 3), numel)
            for number in (1.5, 3):
                # A number with a point makes integers float32.
                needs = ("bytes",) if dtype in (I64, I32) and name != "div" else ()
                yield Case(getattr(A, name).Scalar, (t(4, 6, dtype=dtype), number), numel, needs=needs)
    yield Case(A.mul.Tensor, (t(4, 6, dtype=BOOL), 3), numel)
    yield Case(A.mul.Tensor, (t(4, 6, dtype=BOOL), 0.5), numel)
    for name in "add_ mul_ div_ sub_".split():
        for other in (y, t(6), t(4, 6, dtype=BF16), 1.5):
            yield Case(getattr(A, name).Tensor, (t(4, 6), other), numel)
        if name != "div_":
            yield Case(getattr(A, name).Tensor, (t(4, 6, dtype=I32), t(4, 6, dtype=I64)), numel)
    yield Case(A.add.out, (x, t(6)), numel, {"out": t(4, 6, dtype=F64)}, bytes=24 * 4 + 6 * 4 + 24 * 8)
    yield Case(A.mul.out, (t(4, 6, dtype=BF16), t(4, 6, dtype=BF16)), numel, {"out": t(4, 6)}, bytes=24 * 2 + 24 * 2 + 24 * 4)
    integers = {"bytes": "no values of arguments"}  # texts are not recorded: whether the quotient is rounded
    for mode in ("floor", None):
        yield Case(A.div.Tensor_mode, (t(4, 6, dtype=I64), t(4, 6, dtype=I64)), numel, {"rounding_mode": mode}, unknown=integers)
        yield Case(A.div.Tensor_mode, (x, y), numel, {"rounding_mode": mode})
    for name in "eq ne lt le gt ge".split():
        yield Case(getattr(A, name).Tensor, (x, t(6)), numel)
        yield Case(getattr(A, name).Scalar, (t(4, 6, dtype=I64), 1.5), numel)
    yield Case(A.gt.Tensor_out, (x, y), numel, {"out": t(4, 6)}, bytes=24 * 4 * 3)
    for name in "logical_and logical_or logical_xor".split():
        yield Case(getattr(A, name).default, (x, y), numel)
    for name in "maximum minimum atan2 fmod remainder".split():
        op = getattr(A, name)
        op = op.Tensor if name in ("fmod", "remainder") else op.default
        yield Case(op, (x, t(6)), numel)
        yield Case(op, (t(4, 6, dtype=I64), t(4, 6, dtype=I64)), numel)
    yield Case(A.copysign.Tensor, (t(4, 6, dtype=I64), t(4, 6, dtype=I64)), numel)
    yield Case(A.xlogy.Tensor, (t(4, 6, dtype=I64), t(4, 6, dtype=I64)), numel)
    yield Case(A.floor_divide.default, (t(4, 6, dtype=I64), t(4, 6, dtype=I64)), numel)
    yield Case(A.bitwise_and.Tensor, (t(4, 6, dtype=BOOL), t(4, 6, dtype=BOOL)), numel)
    yield Case(A.bitwise_xor.Tensor, (t(4, 6, dtype=I32), t(4, 6, dtype=U8)), numel)
    for exponent in (2, 0.5):
        yield Case(A.pow.Tensor_Scalar, (x, exponent), numel)
        yield Case(A.pow.Tensor_Scalar, (t(4, 6, dtype=I64), exponent), numel, needs=("bytes",))
    yield Case(A.pow.Tensor_Tensor, (x, y), numel)
    yield Case(A.rsub.Scalar, (x, 1, 1), numel)
    yield Case(A.clamp.default, (x, 0.2, 0.5), numel)
    yield Case(A.clamp.default, (x, None, 0.5), numel)
    yield Case(A.clamp.Tensor, (x, t(6), t(6)), numel)
    yield Case(A.clamp.default, (t(4, 6, dtype=I64), 0, 2), numel, needs=("bytes",))
    yield Case(A.clamp.default, (t(4, 6, dtype=I64), 0.5, 2.5), numel, needs=("bytes",))
    yield Case(A.clamp_min_.default, (t(4, 6), 0.2), numel)
    condition = t(4, 6, dtype=BOOL)
    yield Case(A.where.self, (condition, x, y), 0)
    yield Case(A.where.self, (t(6, dtype=BOOL), t(4, 1), t(4, 6, dtype=BF16)), 0)
    yield Case(A.where.self, (condition, t(4, 6, dtype=I64), torch.tensor(0)), 0)
    yield Case(A.addcmul.default, (x, y, t(6)), per(3), {"value": 2})
    yield Case(A.addcdiv_.default, (t(4, 6), y, t(6)), per(3))
    yield Case(A.lerp.Scalar, (x, y, 0.5), per(3))
    yield Case(A.lerp.Tensor, (x, y, t(4, 6)), per(3))
    yield Case(A.lerp_.Scalar, (t(4, 6), y, 0.5), per(3))
    z = t(4, 6)
    yield Case(A.masked_fill_.Scalar, (z, condition, 0), 0)
    for name in "sigmoid_backward tanh_backward gelu_backward silu_backward hardswish_backward".split():
        op = getattr(A, name)
        yield Case(op.default, (x, y), numel)
        yield Case(op.default, (t(4, 6, dtype=BF16), t(4, 6, dtype=BF16)), numel)
    yield Case(A.threshold_backward.default, (x, y, 0), numel)
    yield Case(A.leaky_relu_backward.default, (x, y, 0.1, False), numel)
    yield Case(A.native_dropout.default, (x, 0.5, True), numel)


def reductions():
    x = t(3, 4, 5)
    for dtype in (F32, BF16, I32, BOOL):
        z = t(3, 4, 5, dtype=dtype)
        yield Case(A.sum.default, (z,), 60)
        yield Case(A.sum.dim_IntList, (z, [1]), 60, needs=("bytes",))
    yield Case(A.sum.dim_IntList, (x, [-1, 0], True), 60, needs=("bytes",))
    yield Case(A.sum.dim_IntList, (x, [], False), 60, needs=("bytes",))
    yield Case(A.sum.dim_IntList, (x, None, False), 60, needs=("bytes",))
    yield Case(A.sum.dim_IntList, (t(3, 1, 5).expand(3, 4, 5), [1]), 60, needs=("bytes",))
    yield Case(A.sum.dim_IntList, (x, [1]), 60, {"dtype": F64}, needs=("bytes",))
    yield Case(A.sum.default, (x,), 60, {"dtype": F64}, needs=("bytes",))
    yield Case(A.sum.dim_IntList, (t(3, 4, 5, dtype=I32), [1]), 60, {"dtype": I32}, needs=("bytes",))
    yield Case(A.sum.IntList_out, (x, [1]), 60, {"out": t(3, 5)}, bytes=240 + 15 * 4, needs=("bytes",))
    yield Case(A.sum.IntList_out, (t(3, 4, 5, dtype=BF16), [1]), 60, {"out": t(3, 5)}, bytes=120 + 15 * 4, needs=("bytes",))
    yield Case(A.mean.default, (x,), 60)
    yield Case(A.mean.dim, (x, [0, 2], True), 60, needs=("bytes",))
    yield Case(A.mean.dim, (t(3, 4, 5, dtype=I64), [0]), 60, {"dtype": F32}, needs=("bytes",))
    yield Case(A.mean.out, (x, []), 60, {"out": torch.tensor(0.0)}, bytes=240 + 4, needs=("bytes",))
    yield Case(A.prod.default, (x,), 60)
    yield Case(A.prod.dim_int, (t(3, 4, 5, dtype=I32), 1), 60, needs=("bytes",))
    for name in ("amax", "amin"):
        yield Case(getattr(A, name).default, (x, [1, 2], False), 60, needs=("bytes",))
        yield Case(getattr(A, name).default, (x,), 60, needs=("bytes",))
    yield Case(A.logsumexp.default, (x, [1], False), 60, needs=("bytes",))
    for name in ("max", "min"):
        yield Case(getattr(A, name).default, (x,), 60)
        yield Case(getattr(A, name).dim, (x, 1, False), 60, bytes=lambda out: 240 + out.numel() * (4 + 8), needs=("bytes",))
        yield Case(getattr(A, name).other, (x, t(5)), unknown={"flops": "unexpected arguments", "bytes": "unexpected arguments"})
    yield Case(A.argmax.default, (x, 1, True), 60, needs=("bytes",))
    yield Case(A.argmax.default, (x,), 60, needs=("bytes",))
    flags = t(3, 4, 5, dtype=BOOL)
    yield Case(A.any.default, (flags,), 0)
    yield Case(A.any.dim, (flags, 1, False), 0, needs=("bytes",))
    yield Case(A.all.default, (x,), 0)
    for name in ("var", "std"):
        yield Case(getattr(A, name).default, (x, True), 60, needs=("bytes",))
        yield Case(getattr(A, name).dim, (x, [1], False, True), 60, needs=("bytes",))
        yield Case(getattr(A, name).correction, (x, [2]), 60, {"correction": 0, "keepdim": False}, needs=("bytes",))
    yield Case(A.norm.Scalar, (x, 2), 60)
    yield Case(A.norm.ScalarOpt_dim, (x, 2, [1]), 60, needs=("bytes",))
    yield Case(A.norm.ScalarOpt_dtype, (t(3, 4, 5, dtype=BF16), 2), 60, {"dtype": F32}, needs=("bytes",))
    yield Case(A.norm.ScalarOpt_dim_dtype, (t(3, 4, 5, dtype=BF16), 2, [1], False), 60, {"dtype": F32}, needs=("bytes",))
    yield Case(A.linalg_vector_norm.default, (x, 2), 60, needs=("bytes",))
    yield Case(A.linalg_vector_norm.default, (t(3, 4, 5, dtype=BF16), 2, [1], False), 60, {"dtype": F32}, needs=("bytes",))
    for name in ("cumsum", "cumprod"):
        op = getattr(A, name)
        yield Case(op.default, (x, 1), 60)
        yield Case(op.default, (t(3, 4, 5, dtype=I32), 1), 60)
        yield Case(op.default, (t(3, 4, 5, dtype=I32), 1), 60, {"dtype": I32}, needs=("bytes",))
        yield Case(op.out, (x, 1), 60, {"out": t(3, 4, 5, dtype=F64)}, bytes=240 + 480)
    logits, target = t(7, 11), torch.randint(0, 11, (7,))
    for reduction, out in ((1, 1), (2, 1), (0, 7)):
        # Of each row one element is read.
        yield Case(A.nll_loss_forward.default, (logits, target, None, reduction, -100), 7, bytes=7 * 8 + 7 * 4 + out * 4, needs=("bytes",))
    loss, weight = A.nll_loss_forward.default(logits, target, None, 1, -100)
    yield Case(A.nll_loss_backward.default, (loss, logits, target, None, 1, -100, weight), 0, bytes=7 * 8 + 7 * 4)
    yield Case(A.mse_loss.default, (logits, t(7, 11), 0), 2 * 77)
    yield Case(A.mse_loss_backward.default, (torch.tensor(1.0), logits, t(7, 11), 1), 3 * 77)
    image = t(2, 3, 8, 8)
    for args in (([3, 3], [2, 2], [1, 1], [1, 1], False), ([2, 2], [], [0, 0], [1, 1], False)):
        kernel = math.prod(args[0])
        yield Case(A.max_pool2d_with_indices.default, (image, *args), lambda out, kernel=kernel: out.numel() * kernel,
                   bytes=lambda out: image.numel() * 4 + out.numel() * (4 + 8), needs=VALUES)
    y, at = A.max_pool2d_with_indices.default(image, [2, 2], [], [0, 0], [1, 1], False)
    yield Case(A.max_pool2d_with_indices_backward.default, (y, image, [2, 2], [], [0, 0], [1, 1], False, at), y.numel(), reads=[y, at])


def movements():
    for target, source in [(t(4, 6), t(4, 6)), (t(4, 6, dtype=BF16), t(4, 6)), (t(4, 6), t(6)), (t(4, 6), t(6).expand(4, 6)), (t(6, 4).t(), t(4, 6)),
                           (t(4, 6), torch.tensor(1.0)), (t(8, 6), t(20).unfold(0, 6, 2))]:
        yield Case(A.copy_.default, (target, source), 0, reads=[source])
    z = t(4, 6, dtype=BF16)
    yield Case(A.fill_.Scalar, (z, 1), 0, reads=[])
    yield Case(A.fill_.Tensor, (z, torch.tensor(1.0)), 0, reads=[])
    yield Case(A.zero_.default, (z,), 0, reads=[])
    yield Case(A.normal_.default, (t(4, 6),), 0, reads=[])
    yield Case(A.uniform_.default, (t(4, 6),), 0, reads=[])
    yield Case(A.random_.default, (t(4, 6, dtype=I64),), 0, reads=[])
    yield Case(A.bernoulli_.float, (t(4, 6),), 0, reads=[])
    yield Case(A.tril.default, (t(4, 6),), 0)
    yield Case(A.triu.default, (t(4, 6, dtype=BOOL), 1), 0)
    yield Case(A.arange.start_out, (3, 20, 4), 0, {"out": torch.empty(0, dtype=I64)}, reads=[], bytes=5 * 8, needs=("bytes",))
    yield Case(A.arange.start_out, (0, 10, 1), 0, {"out": torch.empty(0)}, reads=[], bytes=10 * 4, needs=("bytes",))
    yield Case(A._local_scalar_dense.default, (torch.tensor(3.0, dtype=F64),), 0, bytes=8)
    for dtype, kernel in ((F32, "CatArrayBatchedCopy<float, unsigned int, 2, 64, 64>"), (BF16, "CatArrayBatchedCopy_contig<OpaqueType<2u>, unsigned int, 2, 128, 1>")):
        parts = [t(3, 4, dtype=dtype), t(5, 4, dtype=dtype)]
        yield Case(A.cat.default, (parts, 0), 0, kernel=kernel)
    yield Case(A.cat.default, ([t(3, 4), t(3, 2)], 1), 0, unknown={"bytes": "type of a list"})
    table, at = t(50, 8), torch.randint(0, 50, (3, 4))
    yield Case(A.embedding.default, (table, at), 0, bytes=lambda out: 12 * 8 + 2 * out.numel() * 4)
    yield Case(A.embedding.default, (table.bfloat16(), at.int()), 0, bytes=lambda out: 12 * 4 + 2 * out.numel() * 2)
    yield Case(A.embedding_dense_backward.default, (t(3, 4, 8), at, 50, -1, False), 96, unknown={"bytes": "routing"})
    rows = torch.tensor([0, 2, 2])
    yield Case(A.index_select.default, (t(5, 6), 0, rows), 0, bytes=lambda out: 24 + 2 * out.numel() * 4, needs=VALUES)
    yield Case(A.index_select.default, (t(5, 6), -1, rows), 0, bytes=lambda out: 24 + 2 * out.numel() * 4, needs=VALUES)
    yield Case(A.index_select.default, (t(5, dtype=I64), 0, rows), 0, bytes=24 + 2 * 3 * 8)
    at = torch.randint(0, 4, (3, 6))
    yield Case(A.gather.default, (t(4, 6), 0, at), 0, bytes=18 * 8 + 2 * 18 * 4)
    column = torch.randint(0, 4, (3, 1)).expand(3, 6)
    yield Case(A.gather.default, (t(4, 6), 0, column), 0, reads=[column], bytes=None, writes=[t(3, 6), t(3, 6)])
    yield Case(A.index_add_.default, (t(5, 6), 0, rows, t(3, 6)), 18, unknown={"bytes": "routing"})
    yield Case(A.scatter_add_.default, (t(4, 6), 0, at, t(3, 6)), 18, unknown={"bytes": "routing"})
    source = t(3, 6)
    yield Case(A.scatter_.src, (t(4, 6), 0, at, source), 0, reads=[at, source], writes=[source])
    yield Case(A.scatter_.value, (t(4, 6), 0, at, 1.0), 0, bytes=18 * 8 + 18 * 4)
    yield Case(A.index_copy_.default, (t(5, 6), 0, rows, source), 0, reads=[rows, source], writes=[source])
    hidden = {"bytes": "type of a list"}
    yield Case(A.index.Tensor, (t(5, 6), [rows]), 0, unknown=hidden)
    yield Case(A.index_put_.default, (t(5, 6), [rows], source), 0, unknown=hidden)
    yield Case(A.masked_select.default, (t(5, 6), t(5, 6, dtype=BOOL)), 0, unknown=hidden)
    yield Case(A.clone.default, (t(4, 6),), unknown=NO_FORMULA)
    yield Case(A._to_copy.default, (t(4, 6),), kwargs={"dtype": BF16}, unknown=NO_FORMULA)
    yield Case(A.sort.default, (t(9),), unknown=NO_FORMULA)


def optimizers():
    def parts(dtype=F32):
        return [t(3, 4, dtype=dtype), t(7, dtype=dtype)]

    # Operators over lists have the type of their elements only in the name of the kernel.
    nominal = {"flops": "no formula"}
    kernel = "multi_tensor_apply_kernel<TensorListMetadata<1>, BinaryOpScalarFunctor<float, 1, 1, 0>, std::plus<float>, float>"
    for op, args, lists in [
        (A._foreach_add_.Scalar, (1.0,), 2), (A._foreach_mul_.Scalar, (0.9,), 2), (A._foreach_add.Scalar, (1.0,), 2), (A._foreach_sqrt.default, (), 2),
        (A._foreach_add_.List, (parts(),), 3), (A._foreach_addcdiv_.Scalar, (parts(), parts()), 4), (A._foreach_addcmul_.Scalar, (parts(), parts()), 4),
        (A._foreach_div.List, (parts(),), 3),
    ]:
        yield Case(op, (parts(), *args), bytes=lists * 19 * 4, unknown=nominal, kernel=kernel)
    yield Case(A._foreach_zero_.default, (parts(),), bytes=19 * 4, unknown=nominal, kernel=kernel)
    yield Case(A._foreach_add_.Scalar, (parts(), 1.0), unknown=nominal | {"bytes": "type of a list"})


def cases():
    """Returns all calls."""
    return [c for group in (products, convolutions, normalizations, elementwise, reductions, movements, optimizers) for c in group()]
