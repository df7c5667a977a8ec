"""What all tests of the library share: torch or a reason, and restored threads."""

from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HAS_TORCH = find_spec("torch") is not None


class _WithoutTorch(pytest.Module):
    """A test file that is reported as skipped instead of failing to import."""

    def collect(self) -> list[pytest.Item]:
        """Skip."""
        pytest.skip("torch is not installed: install benchgate[bench]")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[Any], list[Any]]:
    """Stand in for every test file of this folder where torch is missing."""
    collectors = yield
    if HAS_TORCH or not collectors:
        return collectors
    return [_WithoutTorch.from_parent(parent, path=file_path)]


@pytest.fixture(autouse=True)
def restored_threads() -> Iterator[None]:
    """Give torch its number of threads back after a scenario has set its own."""
    import torch  # noqa: PLC0415 - this file must load without it

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
