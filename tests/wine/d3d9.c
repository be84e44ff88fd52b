// SPDX-License-Identifier: MIT
// Draws with Direct3D 9 and prints a hash of the pixels; the exit code is 1 where they are wrong.
#define COBJMACROS
#include <d3d9.h>

#include "pixels.h"

static const char kVertexSource[] =
    "float4 main(float4 position : POSITION) : POSITION { return position; }";

static IDirect3DDevice9 *make_device(void) {
    IDirect3D9 *d3d = Direct3DCreate9(D3D_SDK_VERSION);
    if (!d3d) require(E_FAIL, "Direct3DCreate9");
    HWND window = CreateWindowA("static", "Direct3D 9", WS_OVERLAPPEDWINDOW | WS_VISIBLE, 0, 0,
                                kSize, kSize, NULL, NULL, NULL, NULL);
    D3DPRESENT_PARAMETERS parameters = {.Windowed = TRUE,
                                        .SwapEffect = D3DSWAPEFFECT_DISCARD,
                                        .BackBufferFormat = D3DFMT_X8R8G8B8,
                                        .BackBufferWidth = kSize,
                                        .BackBufferHeight = kSize,
                                        .hDeviceWindow = window};
    IDirect3DDevice9 *device = NULL;
    require(IDirect3D9_CreateDevice(d3d, D3DADAPTER_DEFAULT, D3DDEVTYPE_HAL, window,
                                    D3DCREATE_HARDWARE_VERTEXPROCESSING, &parameters, &device),
            "CreateDevice");
    return device;
}

static void draw(IDirect3DDevice9 *device) {
    const D3DVERTEXELEMENT9 elements[] = {
        {0, 0, D3DDECLTYPE_FLOAT4, D3DDECLMETHOD_DEFAULT, D3DDECLUSAGE_POSITION, 0}, D3DDECL_END()};
    IDirect3DVertexDeclaration9 *declaration = NULL;
    require(IDirect3DDevice9_CreateVertexDeclaration(device, elements, &declaration),
            "declaration");
    IDirect3DDevice9_SetVertexDeclaration(device, declaration);
    ID3DBlob *code = compile(kVertexSource, "vs_2_0");
    IDirect3DVertexShader9 *vertex = NULL;
    require(IDirect3DDevice9_CreateVertexShader(device, ID3D10Blob_GetBufferPointer(code), &vertex),
            "CreateVertexShader");
    IDirect3DDevice9_SetVertexShader(device, vertex);
    IDirect3DDevice9_SetRenderState(device, D3DRS_ZENABLE, FALSE);
    IDirect3DDevice9_SetRenderState(device, D3DRS_CULLMODE, D3DCULL_NONE);
    require(IDirect3DDevice9_BeginScene(device), "BeginScene");
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
        float vertices[6][4];
        corners(quadrant, vertices);
        code = compile(pixel_source(quadrant, "COLOR"), "ps_2_0");
        IDirect3DPixelShader9 *pixel = NULL;
        require(
            IDirect3DDevice9_CreatePixelShader(device, ID3D10Blob_GetBufferPointer(code), &pixel),
            "CreatePixelShader");
        IDirect3DDevice9_SetPixelShader(device, pixel);
        require(IDirect3DDevice9_DrawPrimitiveUP(device, D3DPT_TRIANGLELIST, 2, vertices,
                                                 sizeof(vertices[0])),
                "DrawPrimitiveUP");
    }
    require(IDirect3DDevice9_EndScene(device), "EndScene");
}

int main(void) {
    IDirect3DDevice9 *device = make_device();
    require(IDirect3DDevice9_Clear(device, 0, NULL, D3DCLEAR_TARGET, 0xff808080, 1, 0), "Clear");
    draw(device);
    IDirect3DSurface9 *target = NULL;
    IDirect3DSurface9 *copy = NULL;
    require(IDirect3DDevice9_GetRenderTarget(device, 0, &target), "GetRenderTarget");
    require(IDirect3DDevice9_CreateOffscreenPlainSurface(device, kSize, kSize, D3DFMT_X8R8G8B8,
                                                         D3DPOOL_SYSTEMMEM, &copy, NULL),
            "CreateOffscreenPlainSurface");
    require(IDirect3DDevice9_GetRenderTargetData(device, target, copy), "GetRenderTargetData");
    D3DLOCKED_RECT locked;
    require(IDirect3DSurface9_LockRect(copy, &locked, NULL, D3DLOCK_READONLY), "LockRect");
    return judge(locked.pBits, (size_t)locked.Pitch, 2, 0);
}
