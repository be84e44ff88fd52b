// SPDX-License-Identifier: MIT
#define CAIRN_CHECKSUM_NAME checksum_avx2
#include "base/checksum_kernel.h"
