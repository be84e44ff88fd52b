// SPDX-License-Identifier: MIT
// Draws with Direct3D 11 and prints a hash of the pixels; the exit code is 1 where they are wrong.
#define COBJMACROS
#include <d3d11.h>

#include "pixels.h"

static const char kVertexSource[] =
    "float4 main(float4 position : POSITION) : SV_POSITION { return position; }";

static ID3D11Texture2D *texture(ID3D11Device *device, D3D11_USAGE usage, UINT bind, UINT access) {
    const D3D11_TEXTURE2D_DESC description = {.Width = kSize,
                                              .Height = kSize,
                                              .MipLevels = 1,
                                              .ArraySize = 1,
                                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                                              .SampleDesc = {1, 0},
                                              .Usage = usage,
                                              .BindFlags = bind,
                                              .CPUAccessFlags = access};
    ID3D11Texture2D *made = NULL;
    require(ID3D11Device_CreateTexture2D(device, &description, NULL, &made), "CreateTexture2D");
    return made;
}

// The vertices of all quadrants, for the shader that is set.
static void set_vertices(ID3D11Device *device, ID3D11DeviceContext *context, ID3DBlob *code) {
    const D3D11_INPUT_ELEMENT_DESC element = {
        "POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0};
    ID3D11InputLayout *layout = NULL;
    require(ID3D11Device_CreateInputLayout(device, &element, 1, ID3D10Blob_GetBufferPointer(code),
                                           ID3D10Blob_GetBufferSize(code), &layout),
            "CreateInputLayout");
    float vertices[4][6][4];
    for (int quadrant = 0; quadrant < 4; ++quadrant) corners(quadrant, vertices[quadrant]);
    const D3D11_BUFFER_DESC description = {.ByteWidth = sizeof(vertices),
                                           .Usage = D3D11_USAGE_DEFAULT,
                                           .BindFlags = D3D11_BIND_VERTEX_BUFFER};
    const D3D11_SUBRESOURCE_DATA data = {.pSysMem = vertices};
    ID3D11Buffer *buffer = NULL;
    require(ID3D11Device_CreateBuffer(device, &description, &data, &buffer), "CreateBuffer");
    const UINT stride = sizeof(vertices[0][0]);
    const UINT offset = 0;
    ID3D11DeviceContext_IASetInputLayout(context, layout);
    ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &buffer, &stride, &offset);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
}

static void draw(ID3D11Device *device, ID3D11DeviceContext *context) {
    ID3DBlob *code = compile(kVertexSource, "vs_4_0");
    ID3D11VertexShader *vertex = NULL;
    require(ID3D11Device_CreateVertexShader(device, ID3D10Blob_GetBufferPointer(code),
                                            ID3D10Blob_GetBufferSize(code), NULL, &vertex),
            "CreateVertexShader");
    ID3D11DeviceContext_VSSetShader(context, vertex, NULL, 0);
    set_vertices(device, context, code);
    const D3D11_VIEWPORT viewport = {0, 0, kSize, kSize, 0, 1};
    ID3D11DeviceContext_RSSetViewports(context, 1, &viewport);
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
        code = compile(pixel_source(quadrant, "SV_TARGET"), "ps_4_0");
        ID3D11PixelShader *pixel = NULL;
        require(ID3D11Device_CreatePixelShader(device, ID3D10Blob_GetBufferPointer(code),
                                               ID3D10Blob_GetBufferSize(code), NULL, &pixel),
                "CreatePixelShader");
        ID3D11DeviceContext_PSSetShader(context, pixel, NULL, 0);
        ID3D11DeviceContext_Draw(context, 6, 6 * (UINT)quadrant);
    }
}

int main(void) {
    ID3D11Device *device = NULL;
    ID3D11DeviceContext *context = NULL;
    require(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION,
                              &device, NULL, &context),
            "D3D11CreateDevice");
    ID3D11Texture2D *target = texture(device, D3D11_USAGE_DEFAULT, D3D11_BIND_RENDER_TARGET, 0);
    ID3D11RenderTargetView *view = NULL;
    require(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)target, NULL, &view),
            "CreateRenderTargetView");
    const float grey[4] = {0.5f, 0.5f, 0.5f, 1};
    ID3D11DeviceContext_ClearRenderTargetView(context, view, grey);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &view, NULL);
    draw(device, context);
    ID3D11Texture2D *copy = texture(device, D3D11_USAGE_STAGING, 0, D3D11_CPU_ACCESS_READ);
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)target);
    D3D11_MAPPED_SUBRESOURCE mapped;
    require(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &mapped),
            "Map");
    return judge(mapped.pData, mapped.RowPitch, 0, 2);
}
