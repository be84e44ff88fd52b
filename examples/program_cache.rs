//! How a program keeps what it compiles, by plain `extern "C"`: it looks a program up, and on a miss
//! compiles and stores it. Of several processes that miss it at once, one compiles and the others
//! wait. Run it twice.
//! SPDX-License-Identifier: MIT
//!
//! rustc program_cache.rs $(pkg-config --libs-only-L cairn)
use std::os::raw::{c_char, c_int, c_void};
use std::time::{Duration, Instant};
use std::{ffi::CStr, mem, ptr, slice, thread};

/// cairn_program_cache_options; `size` tells the library where ours ends.
#[repr(C)]
struct Options {
    size: usize,
    root: *const c_char,
    application: *const c_char,
    build: *const c_char,
    identity: *const c_char,
    version: u64,
    others: [u64; 7], // two numbers of 32 bits, four of 64, the log and its user
    limit_percent: u32,
}

#[repr(C)]
struct PutOptions(usize, u32, u32); // size, flags, cost_us

#[link(name = "cairn")]
#[rustfmt::skip]
extern "C" {
    fn cairn_program_cache_open(options: *const Options, cache: *mut *mut c_void) -> c_int;
    fn cairn_close(cache: *mut c_void);
    fn cairn_get(cache: *mut c_void, key: *const u8, size: usize, blob: *mut *mut c_void) -> c_int;
    fn cairn_put(cache: *mut c_void, key: *const u8, size: usize, value: *const u8, value_size: usize, options: *const PutOptions) -> c_int;
    fn cairn_lease_acquire(cache: *mut c_void, key: *const u8, size: usize, patience_ms: u32, lease: *mut *mut c_void) -> c_int;
    fn cairn_lease_release(lease: *mut c_void);
    fn cairn_blob_data(blob: *const c_void) -> *const u8;
    fn cairn_blob_size(blob: *const c_void) -> usize;
    fn cairn_blob_free(blob: *mut c_void);
    fn cairn_result_string(result: c_int) -> *const c_char;
}
const EXISTS: c_int = 2; // CAIRN_EXISTS

/// A cache, a blob or a lease, with the call that gives it back. With one that is null all calls
/// fail: the program needs no second path.
struct Handle(*mut c_void, unsafe extern "C" fn(*mut c_void));

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { (self.1)(self.0) }
    }
}

pub struct Cache(Handle);
unsafe impl Send for Cache {} // any number of threads may call on one cache at once
unsafe impl Sync for Cache {}

impl Cache {
    pub fn open(application: &CStr, identity: &CStr) -> Cache {
        let mut cache = Handle(ptr::null_mut(), cairn_close);
        let (application, identity) = (application.as_ptr(), identity.as_ptr());
        let size = mem::size_of::<Options>();
        unsafe {
            let options = Options { size, application, identity, version: 1, ..mem::zeroed() };
            let opened = cairn_program_cache_open(&options, &mut cache.0);
            if opened != 0 {
                eprintln!("no cache: {:?}", CStr::from_ptr(cairn_result_string(opened)));
            }
        }
        Cache(cache)
    }

    pub fn find(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut blob = Handle(ptr::null_mut(), cairn_blob_free);
        unsafe {
            let got = cairn_get(self.0 .0, key.as_ptr(), key.len(), &mut blob.0);
            let bytes = || slice::from_raw_parts(cairn_blob_data(blob.0), cairn_blob_size(blob.0));
            (got == 0).then(|| bytes().to_vec())
        }
    }

    /// The bytes, and whether they were found. Waits 2 s at most while another process makes them.
    pub fn find_or_make(&self, key: &[u8], make: impl FnOnce() -> Vec<u8>) -> (Vec<u8>, bool) {
        let mut lease = Handle(ptr::null_mut(), cairn_lease_release);
        let found = self.find(key).or_else(|| unsafe {
            let size = key.len();
            let leased = cairn_lease_acquire(self.0 .0, key.as_ptr(), size, 2000, &mut lease.0);
            (leased == EXISTS).then(|| self.find(key)).flatten()
        });
        if let Some(found) = found {
            return (found, true);
        }
        let begin = Instant::now();
        let made = make();
        let put = PutOptions(mem::size_of::<PutOptions>(), 0, begin.elapsed().as_micros() as u32);
        unsafe { cairn_put(self.0 .0, key.as_ptr(), key.len(), made.as_ptr(), made.len(), &put) };
        (made, false)
    }
}

fn main() {
    let text = |bytes| CStr::from_bytes_with_nul(bytes).unwrap();
    let cache = Cache::open(text(b"cairn-example-rs\0"), text(b"example GPU, driver 42\0"));
    // All that can change the result, but for the driver, which the cache is opened for. A key has
    // up to 64 KiB.
    let inputs = ("void main() {}", 4);
    let (_, was_found) = cache.find_or_make(format!("{:?}", inputs).as_bytes(), || {
        thread::sleep(Duration::from_millis(50)); // stands for what takes long
        format!("binary of {:?}", inputs).into_bytes()
    });
    println!("{}", if was_found { "found" } else { "compiled" });
}
