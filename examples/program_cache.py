"""How a program keeps what it compiles, by ctypes alone: it looks a program up, and on a miss compiles and stores it.

Of several processes that miss it at once, one compiles and the others wait. Run it twice: python3 program_cache.py
SPDX-License-Identifier: MIT
"""
import contextlib
import ctypes
import sys
import time
from ctypes import c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p


class Options(ctypes.Structure):  # cairn_program_cache_options; `size` tells the library where ours ends
    _fields_ = [("size", c_size_t), ("root", c_char_p), ("application", c_char_p), ("build", c_char_p),
                ("identity", c_char_p), ("version", c_uint64), ("flags", c_uint32), ("unused_days", c_uint32),
                ("limit_bytes", c_uint64), ("memory_bytes", c_uint64), ("queue_bytes", c_uint64),
                ("total_bytes", c_uint64), ("log", c_void_p), ("log_user", c_void_p), ("limit_percent", c_uint32)]


class PutOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("cost_us", c_uint32)]


lib = ctypes.CDLL("libcairn.so.1")
OUT, KEY = ctypes.POINTER(c_void_p), (c_void_p, c_char_p, c_size_t)  # KEY: a cache, and the bytes of a key
for name, result, *arguments in (
        ("program_cache_open", c_int, ctypes.POINTER(Options), OUT), ("close", None, c_void_p), ("get", c_int, *KEY, OUT),
        ("put", c_int, *KEY, c_char_p, c_size_t, ctypes.POINTER(PutOptions)), ("blob_free", None, c_void_p),
        ("blob_data", c_void_p, c_void_p), ("blob_size", c_size_t, c_void_p), ("result_string", c_char_p, c_int),
        ("lease_acquire", c_int, *KEY, c_uint32, OUT), ("lease_release", None, c_void_p)):
    getattr(lib, "cairn_" + name).restype, getattr(lib, "cairn_" + name).argtypes = result, arguments
EXISTS = 2  # CAIRN_EXISTS


@contextlib.contextmanager
def open_cache(application, identity):
    """Gives a cache, or a null one, with which all calls fail: the program needs no second path."""
    cache = c_void_p()
    options = Options(ctypes.sizeof(Options), application=application, identity=identity, version=1)
    opened = lib.cairn_program_cache_open(options, cache)
    if opened != 0:
        print("no cache:", lib.cairn_result_string(opened).decode(), file=sys.stderr)
    try:
        yield cache
    finally:
        lib.cairn_close(cache)


def find(cache, key):
    blob = c_void_p()
    if lib.cairn_get(cache, key, len(key), blob) != 0:
        return None
    try:
        return ctypes.string_at(lib.cairn_blob_data(blob), lib.cairn_blob_size(blob))
    finally:
        lib.cairn_blob_free(blob)


def find_or_make(cache, key, make, patience_ms=2000):
    """The bytes, and whether they were found. Waits so long while another process makes them."""
    lease, found = c_void_p(), find(cache, key)
    if found is None and lib.cairn_lease_acquire(cache, key, len(key), patience_ms, lease) == EXISTS:
        found = find(cache, key)
    if found is not None:
        return found, True
    try:
        begin = time.monotonic()
        made = make()
        put = PutOptions(ctypes.sizeof(PutOptions), cost_us=int((time.monotonic() - begin) * 1e6))
        lib.cairn_put(cache, key, len(key), made, len(made), put)
        return made, False
    finally:
        lib.cairn_lease_release(lease)


def compile_program(source, samples):  # stands for what takes long
    time.sleep(0.05)
    return f"binary of {source}, {samples} samples".encode()


if __name__ == "__main__":
    with open_cache(b"cairn-example-py", b"example GPU, driver 42") as programs:
        # All that can change the result, but for the driver, which the cache is opened for. A key has up to 64 KiB.
        inputs = ("void main() {}", 4)
        _, was_found = find_or_make(programs, repr(inputs).encode(), lambda: compile_program(*inputs))
        print("found" if was_found else "compiled")
