// SPDX-License-Identifier: MIT
// Takes pictures of what an X application showed last, after it has ended. For scripts/run-demo.
//
//   demo_screen hold        covers the screen with a window that never paints, says "ready", and
//                           waits until it is killed
//   demo_screen clear       paints the whole screen in one colour that no scene has
//   demo_screen grab FILE   writes the screen to FILE (raw pixels); its exit code is 3 when all of
//                           the screen is still in that colour
//
// When an application's window goes away the X server repaints what was below it. A window whose
// background is "none" is not repainted: the last frame stays on the screen. So nothing has to be
// timed, and the application stays as it is.
#include <xcb/xcb.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

constexpr uint32_t kClearColour = 0x00ff00ff;
constexpr int kExitNothingShown = 3;

struct Connection {
    xcb_connection_t *connection = xcb_connect(nullptr, nullptr);
    xcb_screen_t *screen = nullptr;

    Connection() {
        if (xcb_connection_has_error(connection) != 0) {
            std::fprintf(stderr, "demo_screen: cannot reach the X server %s\n", getenv("DISPLAY"));
            std::exit(1);
        }
        screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data;
    }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;
    ~Connection() { xcb_disconnect(connection); }

    // A round trip: everything before it has been done.
    void finish() const {
        std::free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nullptr));
    }
};

int hold() {
    const Connection x;
    const xcb_window_t window = xcb_generate_id(x.connection);
    const uint32_t values[] = {XCB_BACK_PIXMAP_NONE, 1 /* override redirect */};
    xcb_create_window(x.connection, XCB_COPY_FROM_PARENT, window, x.screen->root, 0, 0,
                      x.screen->width_in_pixels, x.screen->height_in_pixels, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, x.screen->root_visual,
                      XCB_CW_BACK_PIXMAP | XCB_CW_OVERRIDE_REDIRECT, values);
    xcb_map_window(x.connection, window);
    x.finish();
    std::puts("ready");
    std::fflush(stdout);
    while (xcb_generic_event_t *event = xcb_wait_for_event(x.connection)) {
        std::free(event);
    }
    return 0;
}

int clear() {
    const Connection x;
    const xcb_gcontext_t context = xcb_generate_id(x.connection);
    const uint32_t values[] = {kClearColour, XCB_SUBWINDOW_MODE_INCLUDE_INFERIORS};
    xcb_create_gc(x.connection, context, x.screen->root, XCB_GC_FOREGROUND | XCB_GC_SUBWINDOW_MODE,
                  values);
    const xcb_rectangle_t all = {0, 0, x.screen->width_in_pixels, x.screen->height_in_pixels};
    xcb_poly_fill_rectangle(x.connection, x.screen->root, context, 1, &all);
    x.finish();
    return 0;
}

int grab(const char *name) {
    const Connection x;
    const auto cookie = xcb_get_image(x.connection, XCB_IMAGE_FORMAT_Z_PIXMAP, x.screen->root, 0, 0,
                                      x.screen->width_in_pixels, x.screen->height_in_pixels, ~0u);
    const std::unique_ptr<xcb_get_image_reply_t, void (*)(void *)> image(
        xcb_get_image_reply(x.connection, cookie, nullptr), std::free);
    const std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(name, "wb"), std::fclose);
    if (!image || !file) {
        std::fprintf(stderr, "demo_screen: cannot %s\n", image ? name : "read the screen");
        return 1;
    }
    const uint8_t *pixels = xcb_get_image_data(image.get());
    const auto size = static_cast<size_t>(xcb_get_image_data_length(image.get()));
    if (std::fwrite(pixels, 1, size, file.get()) != size) {
        std::fprintf(stderr, "demo_screen: cannot write %s\n", name);
        return 1;
    }
    // Depth 24: four bytes a pixel, of which the fourth is not part of the picture.
    for (size_t at = 0; at + 4 <= size; at += 4) {
        uint32_t pixel = 0;
        std::memcpy(&pixel, pixels + at, sizeof(pixel));
        if ((pixel & 0x00ffffff) != kClearColour) {
            return 0;
        }
    }
    return kExitNothingShown;
}

}  // namespace

int main(int argc, char **argv) {
    const std::string action = argc > 1 ? argv[1] : "";
    if (action == "hold" && argc == 2) {
        return hold();
    }
    if (action == "clear" && argc == 2) {
        return clear();
    }
    if (action == "grab" && argc == 3) {
        return grab(argv[2]);
    }
    std::fprintf(stderr, "usage: demo_screen hold | clear | grab FILE\n");
    return 2;
}
