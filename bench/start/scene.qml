// SPDX-License-Identifier: MIT
// A window for bench/start_bench: one still picture of what Qt Quick draws with programs of several kinds.
import QtQuick
import QtQuick.Window

Window {
    width: 640; height: 480; visible: true; color: "#f4f4f0"

    Rectangle {
        width: parent.width; height: 70
        gradient: Gradient {
            orientation: Gradient.Horizontal
            GradientStop { position: 0; color: "#35506b" }
            GradientStop { position: 1; color: "#7a9bb5" }
        }
        Text { anchors.centerIn: parent; text: "Cairn"; color: "white"; font.pixelSize: 32; style: Text.Outline; styleColor: "#203040" }
    }
    Grid {
        x: 20; y: 90; columns: 5; spacing: 12
        Repeater {
            model: 15
            Rectangle {
                width: 108; height: 108; radius: index * 3
                color: Qt.hsla(index / 15, 0.6, 0.6, 1)
                border { width: index % 4; color: "#304050" }
                rotation: index % 3 * 4; opacity: 1 - index % 4 * 0.15
                antialiasing: true
                Text { anchors.centerIn: parent; text: index; font.pixelSize: 14 + index; style: index % 2 ? Text.Raised : Text.Normal }
                Canvas {
                    anchors.fill: parent
                    onPaint: {
                        const context = getContext("2d");
                        context.strokeStyle = "#80ffffff";
                        context.beginPath();
                        context.arc(54, 54, 10 + index * 2, 0, 5);
                        context.stroke();
                    }
                }
                layer.enabled: index % 5 == 0
            }
        }
    }
}
