// SPDX-License-Identifier: MIT
#include "server.h"

#include <dlfcn.h>

#include <atomic>
#include <optional>
#include <string_view>

#include "common/words.h"
// These define macros of common names.
#include <X11/Xlibint.h>
//
#include <GL/glxproto.h>
#undef max
#undef min

namespace cairn::glx {
namespace {

constexpr CARD32 kExtensions = 3;        // GLX_EXTENSIONS
constexpr CARD32 kVendorNames = 0x20F6;  // GLX_VENDOR_NAMES_EXT
// No server says more; what a broken one says must not take all memory.
constexpr unsigned long kWordsMax = 16 * 1024;

// Functions of libX11 by which extensions of it make requests.
struct LibX11 {
#define LIBX11_FUNCTIONS(X) \
    X(XAddExtension)        \
    X(XESetCloseDisplay)    \
    X(XQueryExtension)      \
    X(_XAsyncErrorHandler)  \
    X(_XDeqAsyncHandler)    \
    X(_XEatDataWords)       \
    X(_XGetRequest)         \
    X(_XRead)               \
    X(_XReply)
#define X(name) decltype(&::name) name = nullptr;
    LIBX11_FUNCTIONS(X)
#undef X
};

// Those of the libX11 that the process has loaded; nothing where it has none.
std::optional<LibX11> find_libx11() {
    void *library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return std::nullopt;
    LibX11 found;
    bool is_whole = true;
#define X(name)                                                                 \
    found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name)); \
    is_whole &= found.name != nullptr;
    LIBX11_FUNCTIONS(X)
#undef X
    dlclose(library);  // the application keeps it
    return is_whole ? std::optional(found) : std::nullopt;
}

// Takes an error of the request that is being made, which the application must not see.
class ErrorTaken {
  public:
    ErrorTaken(const LibX11 &x, Display *display, int opcode) : x_(x), display_(display) {
        state_.min_sequence_number = state_.max_sequence_number = display->request;
        state_.major_opcode = static_cast<unsigned char>(opcode);
        handler_.next = display->async_handlers;
        handler_.handler = x._XAsyncErrorHandler;
        handler_.data = reinterpret_cast<XPointer>(&state_);
        display->async_handlers = &handler_;
    }
    ~ErrorTaken() {
        if (display_->async_handlers == &handler_) {
            display_->async_handlers = handler_.next;
        } else {
            x_._XDeqAsyncHandler(display_, &handler_);
        }
    }
    ErrorTaken(const ErrorTaken &) = delete;
    ErrorTaken &operator=(const ErrorTaken &) = delete;

  private:
    const LibX11 &x_;
    Display *display_;
    _XAsyncErrorState state_ = {};
    _XAsyncHandler handler_ = {};
};

// Reads the string that follows a reply.
std::string read_string(const LibX11 &x, Display *display, unsigned long words) {
    if (words == 0 || words > kWordsMax) {
        x._XEatDataWords(display, words);
        return {};
    }
    std::string text(4 * words, '\0');
    x._XRead(display, text.data(), static_cast<long>(text.size()));
    return text.substr(0, text.find('\0'));
}

// glXQueryServerString, as the protocol has it. Empty after an error.
std::string query_server(const LibX11 &x, Display *display, int opcode, int screen, CARD32 name) {
    std::string text;
    LockDisplay(display);
    auto *request = static_cast<xGLXQueryServerStringReq *>(
        x._XGetRequest(display, static_cast<CARD8>(opcode), sz_xGLXQueryServerStringReq));
    request->glxCode = X_GLXQueryServerString;
    request->screen = static_cast<CARD32>(screen);
    request->name = name;
    {
        const ErrorTaken taken(x, display, opcode);
        xGLXQueryServerStringReply reply = {};
        if (x._XReply(display, reinterpret_cast<xReply *>(&reply), 0, False) != 0) {
            text = read_string(x, display, reply.length);
        }
    }
    UnlockDisplay(display);
    if (display->synchandler != nullptr) display->synchandler(display);
    return text;
}

std::atomic<void (*)(Display *)> g_ended = nullptr;

int display_ended(Display *display, XExtCodes *) {
    g_ended.load()(display);
    return 0;
}

}  // namespace

std::vector<std::string> vendor_names(Display *display, int screen) {
    const std::optional<LibX11> x = find_libx11();
    int opcode = 0;
    int event = 0;
    int error = 0;
    if (!x || x->XQueryExtension(display, "GLX", &opcode, &event, &error) == False) return {};
    for (int each = 0; each < ScreenCount(display); ++each) {
        if (!has_word(query_server(*x, display, opcode, each, kExtensions), "GLX_EXT_libglvnd")) {
            return {};
        }
    }
    return split(query_server(*x, display, opcode, screen, kVendorNames), ' ');
}

bool tell_of_end(Display *display, void (*ended)(Display *)) {
    if ((display->flags & XlibDisplayClosing) != 0) return false;
    const std::optional<LibX11> x = find_libx11();
    const XExtCodes *codes = x ? x->XAddExtension(display) : nullptr;
    if (codes == nullptr) return false;
    g_ended = ended;
    x->XESetCloseDisplay(display, codes->extension, &display_ended);
    return true;
}

}  // namespace cairn::glx
