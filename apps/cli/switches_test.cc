// SPDX-License-Identifier: MIT
#include "switches.h"

#include <gtest/gtest.h>

#include "os/configuration.h"

namespace cairn::cli {
namespace {

std::string on(const std::string &text) {
    return with_switch(text, "game", Switch::on);
}
std::string off(const std::string &text) {
    return with_switch(text, "game", Switch::off);
}

TEST(SwitchesTest, ANewSectionGoesToTheEnd) {
    EXPECT_EQ(off(""), "[application game]\nenabled = 0\n");
    EXPECT_EQ(off("limit = 4G"), "limit = 4G\n\n[application game]\nenabled = 0\n");
    EXPECT_EQ(off("[application games]\nenabled = 1\n"),
              "[application games]\nenabled = 1\n\n[application game]\nenabled = 0\n");
}

TEST(SwitchesTest, ASectionThatIsThereGetsALine) {
    EXPECT_EQ(off("[application game]\nlimit = 1G\n[application x]\n"),
              "[application game]\nenabled = 0\nlimit = 1G\n[application x]\n");
    EXPECT_EQ(off("[ application   game ]  # mine"),
              "[ application   game ]  # mine\nenabled = 0\n");
}

TEST(SwitchesTest, TheLineThatCountsIsChangedAndAllElseStays) {
    EXPECT_EQ(off("#c\n[application game]\r\n  enabled=yes # until Friday\r\nlimit = 1G"),
              "#c\n[application game]\r\n  enabled = 0 # until Friday\r\nlimit = 1G");
    EXPECT_EQ(on("[application game]\nenabled = 0\n[application x]\nenabled = 0\n"
                 "[application game]\nenabled = 0\n"),
              "[application game]\nenabled = 0\n[application x]\nenabled = 0\n"
              "[application game]\nenabled = 1\n");
    EXPECT_EQ(on("[application game]\n# enabled = 0\n"),
              "[application game]\nenabled = 1\n# enabled = 0\n");
}

TEST(SwitchesTest, TheParserReadsWhatIsWritten) {
    for (const char *text :
         {"", "x", "[application game]", "[application game]\nenabled", "[broken\nenabled = 1\n",
          "enabled = 0\n", "[application game]\n[d3d12 x]\n", "\n\n#\n[application game] #\n"}) {
        EXPECT_EQ(Configuration(on(text), "", Log()).enabled("game"), true) << text;
        EXPECT_EQ(Configuration(off(on(text)), "", Log()).enabled("game"), false) << text;
        EXPECT_EQ(on(off(on(text))), on(text)) << text;
    }
}

TEST(SwitchesTest, ALimitIsWrittenInTheSameWay) {
    EXPECT_EQ(with_limit("", "game", 4096), "[application game]\nlimit = 4096\n");
    EXPECT_EQ(
        with_limit("limit = 4G\n[application game]\nenabled = 0\n limit=1G # mine\n", "game", 7),
        "limit = 4G\n[application game]\nenabled = 0\n limit = 7 # mine\n");
    EXPECT_EQ(
        with_limit("[application game]\nenabled = 0\n[application x]\nlimit = 1\n", "game", 7),
        "[application game]\nlimit = 7\nenabled = 0\n[application x]\nlimit = 1\n");
}

}  // namespace
}  // namespace cairn::cli
