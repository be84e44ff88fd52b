// SPDX-License-Identifier: MIT
// For the tests; see cmake/CairnPrecompiledHeaders.cmake.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <thread>

#include "standard.h"
