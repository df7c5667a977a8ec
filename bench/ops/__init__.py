"""Tensor kernels that write into memory the caller owns."""
