/* The adapters that serve C, too.
 * SPDX-License-Identifier: MIT */
#include <adapters/egl_blob_cache.h>
#include <adapters/sdl_gpu.h>

void adapters_in_c(PFNEGLSETBLOBCACHEFUNCSANDROIDPROC set_functions, EGLDisplay display);
void adapters_in_c(PFNEGLSETBLOBCACHEFUNCSANDROIDPROC set_functions, EGLDisplay display) {
    set_functions(display, cairn_adapter_blob_set, cairn_adapter_blob_get);
}
