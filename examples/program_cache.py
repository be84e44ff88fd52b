"""How a program keeps what it compiles, by ctypes alone: it looks a program up, and on a miss compiles and stores it.

Of several processes that miss it at once, one compiles and the others wait. Run it twice: python3 program_cache.py
SPDX-License-Identifier: MIT
"""
import ctypes
import sys
import time
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p


class Options(ctypes.Structure):  # cairn_program_cache_options; `size` tells the library where ours ends
    _fields_ = [("size", c_size_t), ("root", c_char_p), ("application", c_char_p), ("build", c_char_p),
                ("identity", c_char_p), ("version", c_uint64), ("flags", c_uint32), ("unused_days", c_uint32),
                ("limit_bytes", c_uint64), ("memory_bytes", c_uint64), ("queue_bytes", c_uint64),
                ("total_bytes", c_uint64), ("log", c_void_p), ("log_user", c_void_p), ("limit_percent", c_uint32)]


class PutOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("cost_us", c_uint32)]


lib = ctypes.CDLL("libcairn.so.1")
OUT, KEY = POINTER(c_void_p), (c_void_p, c_char_p, c_size_t)  # KEY: a cache, and the bytes of a key
for name, result, *arguments in (
        ("program_cache_open", c_int, POINTER(Options), OUT), ("close", None, c_void_p), ("get", c_int, *KEY, OUT),
        ("put", c_int, *KEY, c_char_p, c_size_t, POINTER(PutOptions)), ("blob_free", None, c_void_p),
        ("blob_data", c_void_p, c_void_p), ("blob_size", c_size_t, c_void_p), ("result_string", c_char_p, c_int),
        ("lease_acquire", c_int, *KEY, c_uint32, OUT), ("lease_release", None, c_void_p)):
    getattr(lib, "cairn_" + name).restype, getattr(lib, "cairn_" + name).argtypes = result, arguments


def find(cache, key):
    blob = c_void_p()
    if lib.cairn_get(cache, key, len(key), blob) == 0:
        found = ctypes.string_at(lib.cairn_blob_data(blob), lib.cairn_blob_size(blob))
        lib.cairn_blob_free(blob)
        return found


def find_or_make(cache, key, make):
    """The bytes, and whether they were found. Waits 2 s at most while another process makes them."""
    lease, found = c_void_p(), find(cache, key)
    if found is None and lib.cairn_lease_acquire(cache, key, len(key), 2000, lease) == 2:  # CAIRN_EXISTS
        found = find(cache, key)
    if found is None:
        begin, made = time.monotonic(), make()
        put = PutOptions(ctypes.sizeof(PutOptions), cost_us=int((time.monotonic() - begin) * 1e6))
        lib.cairn_put(cache, key, len(key), made, len(made), put)
    lib.cairn_lease_release(lease)
    return (made, False) if found is None else (found, True)


if __name__ == "__main__":
    cache = c_void_p()  # where it stays null all calls fail, and the program needs no second path
    options = Options(ctypes.sizeof(Options), application=b"cairn-example-py", identity=b"example GPU, driver 42")
    if (opened := lib.cairn_program_cache_open(options, cache)) != 0:
        print("no cache:", lib.cairn_result_string(opened).decode(), file=sys.stderr)
    # All that can change the result, but for the driver, which the cache is opened for. A key has up to 64 KiB.
    inputs = ("void main() {}", 4)
    # The function stands for what takes long.
    _, was_found = find_or_make(cache, repr(inputs).encode(), lambda: time.sleep(0.05) or f"binary of {inputs}".encode())
    print("found" if was_found else "compiled")
    lib.cairn_close(cache)
