// SPDX-License-Identifier: MIT
// For the programs; see cmake/CairnPrecompiledHeaders.cmake.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "standard.h"
