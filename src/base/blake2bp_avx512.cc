// SPDX-License-Identifier: MIT
#define CAIRN_HASH_LEAVES_NAME hash_leaves_avx512
#include "base/blake2bp_kernel.h"
