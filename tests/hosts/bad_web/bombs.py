"""A gigabyte of zeros as a megabyte, as DEFLATE has it (RFC 1951)."""

import zlib
from functools import cache

GIGABYTE = 1 << 30
BLOCK = 1 << 24
"""Bytes that one block grows to."""


@cache
def deflated() -> bytes:
    """One block many times: each is read without those before it. None is marked as the last."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (GIGABYTE // BLOCK)
