"""How many bytes torch functions write, counted function by function."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode


class _Written(TorchFunctionMode):
    """Adds up the results of all torch functions called under it."""

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
        result = func(*args, **given)
        if isinstance(result, Tensor):
            writes = "out" in given or not _is_view(func, result, args)
            self.total += result.nbytes if writes else 0
        return result


def _is_view(func: Callable[..., Any], result: Tensor, args: tuple[Any, ...]) -> bool:
    """Say whether `result` is memory that was there and that `func` left alone.

    Torch marks a function that writes its first argument by a final underscore.
    """
    storages = {
        arg.untyped_storage().data_ptr() for arg in args if isinstance(arg, Tensor)
    }
    is_shared = result.untyped_storage().data_ptr() in storages
    return is_shared and not func.__name__.endswith("_")


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
