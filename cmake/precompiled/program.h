// SPDX-License-Identifier: MIT
// For the programs; see cmake/CairnPrecompiledHeaders.cmake. What few files include is not here: a
// compiler instantiates its templates again for each file (CLI11 made each take three times as long).
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "standard.h"
