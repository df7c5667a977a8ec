"""How many bytes torch functions write, counted function by function."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode


class _Written(TorchFunctionMode):
    """Adds up new results and changed arguments of all torch functions under it."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        tensors = [arg for arg in (*args, *given.values()) if isinstance(arg, Tensor)]
        before = [_writes(tensor) for tensor in tensors]
        result = func(*args, **given)
        changed = {
            _memory(tensor): tensor.nbytes
            for tensor, writes in zip(tensors, before, strict=True)
            if _writes(tensor) != writes
        }
        self.total += sum(changed.values())
        if isinstance(result, Tensor):
            is_new = _memory(result) not in map(_memory, tensors)
            self.total += result.nbytes if is_new else 0
        return result


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _writes(tensor: Tensor) -> int:
    return tensor._version  # noqa: SLF001 - autograd's count of writes has no other name


def bytes_written(call: Callable[[], object]) -> int:
    """Return the bytes that `call` makes torch write, temporaries included.

    Which kernel answers a torch function is irrelevant, so the number is the same on
    every CPU.  Code that fills `out` directly writes the size of `out`; code that
    makes its result first and copies it then writes twice that.  A dispatch mode
    would see inside torch functions too, at the price of importing the compiler.
    """
    written = _Written()
    with written:
        call()
    return written.total
