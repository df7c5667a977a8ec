"""Leave the library's doctests alone where torch is not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["*.py"]
