"""The gate's exceptions: one tree, so that a verb catches one type.

Every message is one line: what, where, what to do. ``exit_status`` is what a
verb returns when the error reaches it. Nothing else lives here.
"""


class GateError(Exception):
    """Anything the gate can explain to its user in one line."""

    exit_status: int = 2


class ConfigError(GateError):
    """A flag or a setting that cannot be used as it stands."""


class DocumentError(GateError):
    """A file that is missing, half written, or not what it should be."""


class SuiteError(GateError):
    """A suite, a revision or an environment that cannot be measured."""
