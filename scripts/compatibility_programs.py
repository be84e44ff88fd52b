# SPDX-License-Identifier: MIT
"""The programs that scripts/compatibility runs. To add one, add a Program to the list."""
import dataclasses


@dataclasses.dataclass
class Program:
    name: str
    # The Debian package.
    package: str
    # In each word {files} is the folder with `files`, {work} is build/compatibility, {root} this project.
    command: list
    # x11 or wayland; any: whatever the program takes by itself.
    window: str = "any"
    # How the pictures are compared. still: the one that does not change any more. last: the one on the screen after the
    # program has ended by itself. output: none, but the printed lines that match `output`. Else why not.
    picture: str = "still"
    output: str = ""
    # The longest run; and the shortest before a picture counts as still.
    seconds: float = 15
    settle: float = 4
    # Files that the program reads, as name: text; and such in its home directory.
    files: dict = dataclasses.field(default_factory=dict)
    home: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    # Files and executables that must be there, besides the command.
    needs: list = dataclasses.field(default_factory=list)
    remark: str = ""


ANIMATES = "it animates"
SDL = "/usr/libexec/installed-tests/SDL2/"
SAVERS = "/usr/libexec/xscreensaver/"
WINE = {"WINEPREFIX": "{work}/wine/prefix", "WINEDLLOVERRIDES": "mscoree,mshtml=", "WINEDEBUG": "-all"}
# Scenes of glmark2 whose first frame is always the same; that is the only frame they show in no time.
SCENES = [word for scene in ("build:use-vbo=true", "texture:texture-filter=linear", "shading:shading=phong",
                             "shading:shading=cel", "bump:bump-render=normals", "effect2d:kernel=1,1,1;1,1,1;1,1,1;",
                             "conditionals:vertex-steps=5", "function:fragment-steps=5", "loop:fragment-steps=5",
                             "terrain", "jellyfish", "refract")
          for word in ("-b", f"{scene}:duration=0")]

QML = """import QtQuick 2.0
Rectangle {
    width: 300; height: 300
    gradient: Gradient { GradientStop { position: 0; color: "red" } GradientStop { position: 1; color: "blue" } }
    Text { anchors.centerIn: parent; text: "Cairn"; color: "white" }
    Rectangle { x: 20; y: 20; width: 80; height: 80; radius: 20; color: "yellow"; rotation: 30; opacity: 0.5 }
}
"""
LOVE = """local shader = love.graphics.newShader [[
    vec4 effect(vec4 color, Image image, vec2 at, vec2 screen) { return vec4(screen / 600.0, 0.5, 1.0); }
]]
function love.draw()
    love.graphics.print("Cairn", 20, 20)
    love.graphics.setShader(shader)
    love.graphics.rectangle("fill", 100, 100, 200, 200)
    love.graphics.setShader()
end
"""
WEB = """<!doctype html><body style="background: #def"><h1>Cairn</h1><canvas width=300 height=300></canvas><script>
const gl = document.querySelector("canvas").getContext("webgl", {preserveDrawingBuffer: true});
function shader(type, source) {
    const made = gl.createShader(type); gl.shaderSource(made, source); gl.compileShader(made); return made;
}
for (let i = 0; gl && i < 6; ++i) {
    const program = gl.createProgram();
    gl.attachShader(program, shader(gl.VERTEX_SHADER, `attribute vec2 p; void main() {
        gl_Position = vec4(p * 0.3 + vec2(${i}.0 / 3.0 - 0.8, ${i}.0 / 4.0 - 0.6), 0.0, 1.0); }`));
    gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `precision mediump float; void main() {
        gl_FragColor = vec4(fract(gl_FragCoord.x / 50.0), ${i}.0 / 6.0, 0.5, 1.0); }`));
    gl.linkProgram(program); gl.useProgram(program);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, 0, 1]), gl.STATIC_DRAW);
    const at = gl.getAttribLocation(program, "p");
    gl.enableVertexAttribArray(at); gl.vertexAttribPointer(at, 2, gl.FLOAT, false, 0, 0);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
}
if (!gl) document.body.append("no WebGL");
</script>"""
PAGE = {"page.html": WEB}
FIREFOX = """user_pref("webgl.force-enabled", true);
user_pref("gfx.webrender.all", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.tabs.warnOnClose", false);
user_pref("app.normandy.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""
CHROMIUM = ["--no-sandbox", "--user-data-dir=profile", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--ignore-gpu-blocklist", "--disable-gpu-shader-disk-cache",
            "--password-store=basic", "--host-resolver-rules=MAP * ~NOTFOUND", "--test-type"]
GSTREAMER = ["gst-launch-1.0", "videotestsrc", "num-buffers=60", "pattern=circular", "!",
             "video/x-raw,width=320,height=240", "!"]
GODOT = {
    "project.godot": 'config_version=4\n[application]\nconfig/name="Cairn"\nrun/main_scene="res://main.tscn"\n',
    "main.tscn": """[gd_scene load_steps=3 format=2]
[sub_resource type="Shader" id=1]
code = "shader_type spatial; void fragment() { ALBEDO = vec3(UV, 0.5); ROUGHNESS = 0.4; }"
[sub_resource type="ShaderMaterial" id=2]
shader = SubResource( 1 )
[node name="Main" type="Spatial"]
[node name="Camera" type="Camera" parent="."]
transform = Transform( 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 5 )
[node name="Light" type="DirectionalLight" parent="."]
shadow_enabled = true
[node name="Box" type="CSGBox" parent="."]
transform = Transform( 0.8, 0, 0.6, 0, 1, 0, -0.6, 0, 0.8, 0, 0, 0 )
material = SubResource( 2 )
""",
}
# One picture of 64 x 64 pixels, without compression.
VIDEO = "YUV4MPEG2 W64 H64 F25:1 Ip A1:1 C420jpeg\nFRAME\n" + "".join(chr(32 + i * i % 95) for i in range(64 * 96))
SCAD = "difference() { cube(20, center = true); sphere(13); cylinder(h = 40, r = 5, center = true); }\n"

PROGRAMS = [
    # Tools and benchmarks
    Program("glxinfo", "mesa-utils", ["glxinfo", "-l"], "x11", "output", output=r"(?i)^(?!.*(memory|dedicated|pid)).*\S"),
    Program("glxgears", "mesa-utils-bin", ["glxgears"], "x11", ANIMATES, seconds=4),
    Program("es2gears X11", "mesa-utils-bin", ["es2gears_x11"], "x11", ANIMATES, seconds=4),
    Program("es2gears Wayland", "mesa-utils-bin", ["es2gears_wayland"], "wayland", ANIMATES, seconds=4),
    Program("glmark2", "glmark2-x11", ["glmark2", *SCENES], "x11", "last", seconds=60),
    Program("glmark2-es2", "glmark2-es2-x11", ["glmark2-es2", *SCENES], "x11", "last", seconds=60),
    Program("glmark2-wayland", "glmark2-wayland", ["glmark2-wayland", *SCENES], "wayland", ANIMATES, seconds=60),
    Program("glmark2-es2-wayland", "glmark2-es2-wayland", ["glmark2-es2-wayland", *SCENES], "wayland", ANIMATES,
            seconds=60),
    # Toolkits
    Program("Qt 5 Quick", "qmlscene", ["qmlscene", "{files}/scene.qml"], files={"scene.qml": QML},
            environment={"QT_SELECT": "qt5"}, needs=["/usr/lib/x86_64-linux-gnu/qt5/qml/QtQuick.2/qmldir"]),
    Program("Qt 6 Quick", "qml-qt6", ["/usr/lib/qt6/bin/qml", "{files}/scene.qml"], files={"scene.qml": QML},
            environment={"QSG_RHI_BACKEND": "opengl"}, needs=["/usr/lib/x86_64-linux-gnu/qt6/qml/QtQuick/qmldir"]),
    Program("GTK 4 widget factory", "gtk-4-examples", ["gtk4-widget-factory"], seconds=8),
    Program("GTK 4 demo: gears", "gtk-4-examples", ["gtk4-demo", "--run=gears"], seconds=8),
    Program("SDL 2 testgl2", "libsdl2-tests", [SDL + "testgl2"], "x11", ANIMATES, seconds=4),
    Program("SDL 2 testgles2", "libsdl2-tests", [SDL + "testgles2"], "x11", ANIMATES, seconds=4),
    Program("SDL 2 testshader", "libsdl2-tests", ["env", "--chdir=" + SDL, SDL + "testshader"], "x11", ANIMATES,
            seconds=4, needs=[SDL + "testshader"]),
    Program("SDL 2 testrendertarget", "libsdl2-tests", [SDL + "testrendertarget"], "x11", ANIMATES, seconds=4),
    # Media
    Program("GStreamer glimagesink", "gstreamer1.0-gl", [*GSTREAMER, "glimagesink"], picture="last", seconds=30),
    Program("GStreamer gleffects", "gstreamer1.0-gl",
            [*GSTREAMER, "glupload", "!", "gleffects_bulge", "!", "glcolorconvert", "!", "glimagesink"],
            picture="last", seconds=30),
    Program("mpv", "mpv", ["mpv", "--no-config", "--vo=gpu", "--gpu-sw=yes", "--ao=null", "--pause", "--osc=no", "--osd-level=0",
                           "--force-window=yes", "{files}/video.y4m"], files={"video.y4m": VIDEO}),
    Program("OBS Studio", "obs-studio", ["obs", "--multi", "--minimize-to-tray=false"], seconds=15),
    # Browsers
    Program("Firefox", "firefox-esr", ["firefox-esr", "--new-instance", "--profile", "profile", "{files}/page.html"],
            files=PAGE, home={"profile/user.js": FIREFOX}, seconds=25, settle=10),
    Program("Chromium", "chromium", ["chromium", *CHROMIUM, "file://{files}/page.html"], files=PAGE, seconds=25,
            settle=8, remark="without its own cache of programs"),
    Program("Chromium on desktop GL", "chromium",
            ["chromium", *CHROMIUM, "--use-gl=angle", "--use-angle=gl", "file://{files}/page.html"], files=PAGE,
            seconds=25, settle=8, remark="--use-angle=gl, without its own cache of programs"),
    Program("WebKitGTK MiniBrowser", "libwebkit2gtk-4.0-37",
            ["/usr/lib/x86_64-linux-gnu/webkit2gtk-4.0/MiniBrowser", "--enable-webgl=true", "{files}/page.html"],
            files=PAGE, seconds=20, settle=6),
    # Terminals and compositors
    Program("kitty", "kitty", ["kitty", "--config", "NONE", "-o", "cursor_blink_interval=0", "sh", "-c",
                               "echo Cairn; exec sleep 60"]),
    Program("alacritty", "alacritty", ["alacritty", "-e", "sh", "-c", "echo Cairn; exec sleep 60"]),
    Program("weston", "weston", ["weston", "--backend=x11-backend.so", "--shell=kiosk-shell.so", "--no-config",
                                 "--width=640", "--height=480", "--socket=wayland-tried", "--", "/usr/bin/weston-smoke"],
            "x11", ANIMATES, seconds=6, remark="as a compositor in an X window, with one client"),
    Program("weston-simple-egl", "weston", ["weston-simple-egl"], "wayland", ANIMATES, seconds=4),
    # Games and engines
    Program("Godot 3", "godot3", ["godot3", "--audio-driver", "Dummy", "--path", "{files}"], files=GODOT),
    Program("Godot 3 editor", "godot3", ["godot3", "--audio-driver", "Dummy", "--project-manager"]),
    Program("love", "love", ["love", "{files}"], files={"main.lua": LOVE}),
    Program("ScummVM", "scummvm", ["/usr/games/scummvm", "--gfx-mode=opengl"], seconds=15),
    Program("neverball", "neverball", ["/usr/games/neverball"], picture=ANIMATES, seconds=10),
    Program("Extreme Tux Racer", "extremetuxracer", ["/usr/games/etr"], picture=ANIMATES, seconds=10),
    Program("Chromium B.S.U.", "chromium-bsu", ["/usr/games/chromium-bsu"], picture=ANIMATES, seconds=8),
    Program("Armagetron Advanced", "armagetronad", ["/usr/games/armagetronad"], picture=ANIMATES, seconds=10),
    Program("GLtron", "gltron", ["/usr/games/gltron"], picture=ANIMATES, seconds=8),
    Program("FooBillard++", "foobillardplus", ["/usr/games/foobillardplus"], picture=ANIMATES, seconds=8),
    Program("Minetest", "minetest", ["/usr/games/minetest"], picture=ANIMATES, seconds=10),
    Program("SuperTuxKart", "supertuxkart", ["/usr/games/supertuxkart"], picture=ANIMATES, seconds=20),
    Program("RetroArch", "retroarch", ["retroarch"], picture=ANIMATES, seconds=10),
    # Science, design
    Program("Stellarium", "stellarium", ["stellarium", "--full-screen=no"], picture=ANIMATES, seconds=25),
    Program("OpenSCAD", "openscad", ["openscad", "{files}/part.scad"], files={"part.scad": SCAD}),
    Program("MeshLab", "meshlab", ["meshlab"]),
    Program("FreeCAD", "freecad", ["freecad"], seconds=30),
    Program("Blender", "blender", ["blender"], seconds=30, settle=10),
    Program("xscreensaver glplanet", "xscreensaver-gl", [SAVERS + "glplanet"], "x11", ANIMATES, seconds=5),
    # Windows programs
    Program("Direct3D 9 in Wine", "wine64", ["/usr/lib/wine/wine64", "{work}/wine/d3d9.exe"], "x11", "output",
            output=r"^hash", seconds=60, environment=WINE, needs=["x86_64-w64-mingw32-gcc"]),
    Program("Direct3D 11 in Wine", "wine64", ["/usr/lib/wine/wine64", "{work}/wine/d3d11.exe"], "x11", "output",
            output=r"^hash", seconds=60, environment=WINE, needs=["x86_64-w64-mingw32-gcc"]),
]
