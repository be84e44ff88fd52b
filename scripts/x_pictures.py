# SPDX-License-Identifier: MIT
"""Pictures of what X applications show, for scripts/compatibility and bench/start_bench. Needs libX11 and nothing else."""
import ctypes

X = ctypes.CDLL("libX11.so.6")
VIEWABLE, Z_PIXMAP, INCLUDE_INFERIORS = 2, 2, 1
CLEAR_COLOUR = 0x00FF00FF
P, L, I, U = ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_uint


class Image(ctypes.Structure):
    _fields_ = [("width", I), ("height", I), ("xoffset", I), ("format", I), ("data", P), ("byte_order", I),
                ("bitmap_unit", I), ("bitmap_bit_order", I), ("bitmap_pad", I), ("depth", I), ("bytes_per_line", I)]


class Attributes(ctypes.Structure):  # XWindowAttributes
    _fields_ = [("x", I), ("y", I), ("width", I), ("height", I), ("border", I), ("depth", I), ("visual", P),
                ("root", L), ("class_", I), ("bit_gravity", I), ("win_gravity", I), ("backing_store", I),
                ("planes", L), ("pixel", L), ("save_under", I), ("colormap", L), ("installed", I), ("map_state", I),
                ("masks", ctypes.c_long * 3), ("override_redirect", I), ("screen", P)]


class SetAttributes(ctypes.Structure):  # XSetWindowAttributes
    _fields_ = [("background_pixmap", L), ("background_pixel", L), ("border_pixmap", L), ("border_pixel", L),
                ("gravities", I * 3), ("planes", L), ("pixel", L), ("save_under", I),
                ("masks", ctypes.c_long * 2), ("override_redirect", I), ("colormap", L), ("cursor", L)]


def _declare(name, result, *arguments):
    function = getattr(X, name)
    function.restype, function.argtypes = result, arguments
    return function


_open = _declare("XOpenDisplay", P, ctypes.c_char_p)
_root = _declare("XDefaultRootWindow", L, P)
_attributes = _declare("XGetWindowAttributes", I, P, L, ctypes.POINTER(Attributes))
_tree = _declare("XQueryTree", I, P, L, ctypes.POINTER(L), ctypes.POINTER(L), ctypes.POINTER(ctypes.POINTER(L)),
                 ctypes.POINTER(U))
_image = _declare("XGetImage", ctypes.POINTER(Image), P, L, I, I, U, U, L, I)
_destroy = _declare("XDestroyImage", I, ctypes.POINTER(Image))
_create = _declare("XCreateWindow", L, P, L, I, I, U, U, U, I, U, P, L, ctypes.POINTER(SetAttributes))
_map = _declare("XMapWindow", I, P, L)
_gc = _declare("XCreateGC", P, P, L, L, P)
_foreground = _declare("XSetForeground", I, P, P, L)
_mode = _declare("XSetSubwindowMode", I, P, P, I)
_fill = _declare("XFillRectangle", I, P, L, P, I, I, U, U)
_sync = _declare("XSync", I, P, I)
_free = _declare("XFree", I, P)

# A window may go away between two requests; without this, libX11 would end the process.
_ignore = ctypes.CFUNCTYPE(I, P, P)(lambda display, event: 0)
X.XSetErrorHandler(_ignore)


class Screen:
    """One X server. `own`: it was started for this and shows nothing else."""

    def __init__(self, display, own):
        self.own = own
        self.display = _open(display.encode())
        if not self.display:
            raise OSError(f"cannot reach the X server {display}")
        self.root = _root(self.display)
        self.before = set()
        if own:
            self._hold()

    def _hold(self):
        # When a window goes away, the server repaints what was below it. A window whose background is "none" is not
        # repainted: an application's last frame stays on the screen after its end.
        size = self._look(self.root)
        settings = SetAttributes(override_redirect=1)
        background_pixmap, override_redirect = 1 << 0, 1 << 9
        window = _create(self.display, self.root, 0, 0, size.width, size.height, 0, 0, 1, None,
                         background_pixmap | override_redirect, ctypes.byref(settings))
        _map(self.display, window)
        _sync(self.display, 0)

    def _look(self, window):
        attributes = Attributes()
        return attributes if _attributes(self.display, window, ctypes.byref(attributes)) else None

    def _windows(self):
        """The windows that are shown, with their area."""
        root, parent, count = L(), L(), U()
        children = ctypes.POINTER(L)()
        if not _tree(self.display, self.root, root, parent, ctypes.byref(children), ctypes.byref(count)):
            return {}
        shown = {}
        for window in children[:count.value]:
            look = self._look(window)
            if look and look.map_state == VIEWABLE:
                shown[window] = look.width * look.height
        if count.value:
            _free(children)
        return shown

    def prepare(self):
        """Before an application starts: a screen of our own gets one colour; else notes the windows of others."""
        self.before = set(self._windows())
        if not self.own:
            return
        size = self._look(self.root)
        gc = _gc(self.display, self.root, 0, None)
        _foreground(self.display, gc, CLEAR_COLOUR)
        _mode(self.display, gc, INCLUDE_INFERIORS)
        _fill(self.display, self.root, gc, 0, 0, size.width, size.height)
        _sync(self.display, 0)

    def picture(self):
        """(width, height, pixels) of the own screen, or else of the largest window that is new; None where there is
        nothing to see yet."""
        window = self.root
        if not self.own:
            new = {window: area for window, area in self._windows().items() if window not in self.before}
            if not new:
                return None
            window = max(new, key=new.get)
        size = self._look(window)
        pixels = size and self._pixels(window, 0, size.width, size.height)
        if not pixels or len(pixels) >= 8 and pixels[4:] == pixels[:-4]:
            return None  # nothing, or one colour only
        return size.width, size.height, pixels

    def _pixels(self, window, x, width, height):
        image = _image(self.display, window, x, 0, width, height, 0xFFFFFFFF, Z_PIXMAP)
        if not image:
            return None
        pixels = bytearray(ctypes.string_at(image.contents.data, image.contents.bytes_per_line * height))
        _destroy(image)
        pixels[3::4] = bytes(len(pixels[3::4]))  # these bytes have no colour
        return bytes(pixels)

    def shows(self, picture):
        """Whether the own screen is just this picture. As long as a strip of it is not, this takes hardly any time."""
        width, height, pixels = picture
        strip, x = 16, width // 2
        if self._pixels(self.root, x, strip, height) != b"".join(
                pixels[(row * width + x) * 4:(row * width + x + strip) * 4] for row in range(height)):
            return False
        return self._pixels(self.root, 0, width, height) == pixels


def write_ppm(path, picture):
    width, height, pixels = picture
    colours = bytearray(width * height * 3)
    for target, source in enumerate((2, 1, 0)):
        colours[target::3] = pixels[source::4]
    path.write_bytes(b"P6 %d %d 255\n" % (width, height) + colours)
