/* Both libraries of D3D12 sessions in one program, each with its own functions.
 * SPDX-License-Identifier: MIT */
#include <cairn/cairn_d3d12.h>
#include <stdio.h>

#define E_INVALIDARG ((int32_t)0x80070057)
#define E_POINTER ((int32_t)0x80004003)

int main(void) {
    struct ID3D12Device *device = NULL;
    int failures = 0;
    failures += cairn_d3d12_wrap_device(NULL, NULL, &device) != E_INVALIDARG;
    failures += cairn_vkd3d_wrap_device(NULL, NULL, &device) != E_INVALIDARG;
    failures += cairn_d3d12_wrap_device(NULL, NULL, NULL) != E_POINTER;
    failures += cairn_vkd3d_create_session(NULL, NULL, NULL, NULL, NULL) != E_INVALIDARG;
    if (failures != 0) fprintf(stderr, "%d calls did something else\n", failures);
    return failures != 0;
}
