// SPDX-License-Identifier: MIT
// For the libraries that are shipped; see cmake/CairnPrecompiledHeaders.cmake.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
