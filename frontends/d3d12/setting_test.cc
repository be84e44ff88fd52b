// SPDX-License-Identifier: MIT
#include "setting.h"

#include <cairn/cairn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace cairn::d3d12 {
namespace {

TEST(Message, EveryOneHasItsOwnTextAndASeverity) {
    std::string all = "\n";
    for (int id = 1280; id < 1330; ++id) {
        const auto [id_found, severity, text] = row_of(static_cast<Message>(id));
        if (*text == '\0') continue;
        EXPECT_EQ(all.find("\n" + std::string(text) + "\n"), std::string::npos) << id;
        all.append(text).append("\n");
        EXPECT_TRUE(severity >= CAIRN_LOG_ERROR && severity <= CAIRN_LOG_INFO) << id;
    }
    EXPECT_NE(all, "");
}

}  // namespace
}  // namespace cairn::d3d12
