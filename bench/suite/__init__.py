"""The asv suite: one module per family of scenarios.

What is measured is imported absolutely, as `bench.ops.kernels` and so on, so that each
arm of a comparison runs its own copy of the library.  What belongs to the suite itself
is imported relatively, so that all arms run the same inputs and the same checks.
"""
