// SPDX-License-Identifier: MIT
#define CAIRN_CHECKSUM_NAME checksum_baseline
#include "base/checksum_kernel.h"
