"""How many bytes torch operations write, counted operation by operation."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class _Written(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's base
    """Adds up the results of all operations but views, which write nothing."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's base
        self.total: int = 0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            for leaf in tree_leaves(result):
                if isinstance(leaf, Tensor):
                    self.total += leaf.nbytes
        return result


def bytes_written(call: Callable[[], object]) -> int:
    """Return the bytes that `call` makes torch write, temporaries included.

    Whoever answers an operation is irrelevant, so the number is the same on every
    CPU.  A kernel that fills `out` directly writes the size of `out`; one that makes
    its result first and copies it then writes twice that.
    """
    written = _Written()
    with written:
        call()
    return written.total
