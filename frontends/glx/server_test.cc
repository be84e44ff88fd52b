// SPDX-License-Identifier: MIT
#include "server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "glx/testing/fake_server.h"
// It defines macros of common names.
#include <X11/Xlib.h>

namespace cairn::glx {
namespace {

using ::testing::ElementsAre;
using testing::FakeServer;
using ::testing::IsEmpty;

constexpr uint32_t kExtensions = 3;
constexpr uint32_t kVendorNames = 0x20F6;

// The names of a server that answers so, and whether it goes on answering.
std::vector<std::string> names_of(FakeServer::Answers answers, int screen = 0) {
    const FakeServer server(std::move(answers));
    Display *display = XOpenDisplay(server.display_name().c_str());
    EXPECT_NE(display, nullptr);
    if (display == nullptr) return {"no display"};
    const std::vector<std::string> names = vendor_names(display, screen);
    EXPECT_EQ(XSync(display, False), 1) << "the connection is in order";
    XCloseDisplay(display);
    return names;
}

int g_errors = 0;
int count_error(Display *, XErrorEvent *) {
    return ++g_errors;
}

class ServerTest : public ::testing::Test {
  protected:
    ServerTest() {
        g_errors = 0;
        XSetErrorHandler(count_error);
    }
    ~ServerTest() override {
        EXPECT_EQ(g_errors, 0) << "of which the application is not told";
        XSetErrorHandler(nullptr);
    }
};

TEST_F(ServerTest, NamesItsVendorsBestFirst) {
    EXPECT_THAT(names_of({.strings = {{kExtensions, "GLX_A GLX_EXT_libglvnd GLX_B"},
                                      {kVendorNames, "nvidia mesa"}}}),
                ElementsAre("nvidia", "mesa"));
    EXPECT_THAT(names_of({.screens = 3,
                          .strings = {{kExtensions, "GLX_EXT_libglvnd"}, {kVendorNames, "mesa"}}},
                         2),
                ElementsAre("mesa"));
}

TEST_F(ServerTest, WithoutTheExtensionNamesNone) {
    EXPECT_THAT(names_of({.has_glx = false}), IsEmpty());
    EXPECT_THAT(names_of({.strings = {{kExtensions, "GLX_EXT_libglvnd2"}, {kVendorNames, "mesa"}}}),
                IsEmpty());
    EXPECT_THAT(names_of({.strings = {{kExtensions, ""}, {kVendorNames, "mesa"}}}), IsEmpty());
}

TEST_F(ServerTest, MayRefuseToAnswer) {
    EXPECT_THAT(names_of({}), IsEmpty());
    EXPECT_THAT(names_of({.strings = {{kExtensions, "GLX_EXT_libglvnd"}}}), IsEmpty());
}

TEST_F(ServerTest, MayAnswerNothingOrTooMuch) {
    const std::map<uint32_t, std::string> strings = {{kExtensions, "GLX_EXT_libglvnd"},
                                                     {kVendorNames, "mesa"}};
    EXPECT_THAT(names_of({.strings = strings, .words = 0}), IsEmpty());
    EXPECT_THAT(names_of({.strings = strings, .words = 16 * 1024}), ElementsAre("mesa"));
    EXPECT_THAT(names_of({.strings = strings, .words = 16 * 1024 + 1}), IsEmpty());
    // Cut in the middle of the first word, without a zero.
    EXPECT_THAT(names_of({.strings = strings, .words = 1}), IsEmpty());
    const std::string binary("\x01\xff/../\n \t", 9);
    EXPECT_THAT(names_of({.strings = {{kExtensions, "GLX_EXT_libglvnd"}, {kVendorNames, binary}}}),
                ElementsAre("\x01\xff/../\n", "\t"));
}

}  // namespace
}  // namespace cairn::glx
