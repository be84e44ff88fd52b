// Specialises a shader with constants, as engines do for materials, and remembers the results in a
// D3D12 shader cache session: what takes long when it is cold takes no time when it is warm. Run it
// twice.
// SPDX-License-Identifier: MIT
//
// It uses vkd3d's device, if there is one: to know for which driver the results are. Its compiler
// is glslang, which makes SPIR-V of HLSL.
//
// c++ -std=c++20 d3d12_specialise.cc
//     $(pkg-config --cflags --libs cairn-vkd3d libvkd3d-utils glslang spirv)
//     -lglslang-default-resource-limits
// Identifiers of interfaces; and no macros `min` and `max`, which C++'s own headers do not survive.
#define INITGUID
#define NOMINMAX
#include <vkd3d_utils.h>
// Behind the header that declares ID3D12Device.
#include <cairn/cairn_d3d12.h>
#include <cairn/cairn_d3d12_session.h>
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<unsigned>;

constexpr HRESULT kNotFound = static_cast<HRESULT>(0x887A0002);       // DXGI_ERROR_NOT_FOUND
constexpr HRESULT kAlreadyExists = static_cast<HRESULT>(0x887A0036);  // DXGI_ERROR_ALREADY_EXISTS

// The constants that make one variant.
struct Material {
    unsigned lights;
    unsigned shadow_samples;
    unsigned has_fog;
};

constexpr const char *kSource = R"(
struct Pixel { float4 position : SV_Position; float3 normal : NORMAL; float3 place : TEXCOORD; };
cbuffer Scene { float4 light_place[16]; float4 light_colour[16]; float4 fog; };
Texture2D shadow_map; SamplerState shadow_sampler;
float shadow(float2 at) {
    float sum = 0;
    [unroll] for (int i = 0; i < SHADOW_SAMPLES; ++i)
        sum += shadow_map.Sample(shadow_sampler, at + float2(i % 4, i / 4) / 1024).r;
    return sum / SHADOW_SAMPLES;
}
float4 main(Pixel pixel) : SV_Target {
    float3 colour = 0;
    [unroll] for (int i = 0; i < LIGHTS; ++i) {
        float3 to = light_place[i].xyz - pixel.place;
        float3 half_way = normalize(normalize(to) + float3(0, 0, 1));
        float strength = saturate(dot(pixel.normal, normalize(to))) / (1 + dot(to, to));
        strength += pow(saturate(dot(pixel.normal, half_way)), 32);
        colour += strength * light_colour[i].rgb * shadow(to.xy);
    }
    if (HAS_FOG) colour = lerp(colour, fog.rgb, saturate(pixel.position.z * fog.a));
    return float4(colour, 1);
}
)";

std::string defines_of(const Material &material) {
    return "#define LIGHTS " + std::to_string(material.lights) + "\n#define SHADOW_SAMPLES " +
           std::to_string(material.shadow_samples) + "\n#define HAS_FOG " +
           std::to_string(material.has_fog) + "\n";
}

// What takes long.
Words specialise(const Material &material) {
    const std::string defines = defines_of(material);
    const auto messages = static_cast<EShMessages>(EShMsgReadHlsl | EShMsgSpvRules);
    glslang::TShader shader(EShLangFragment);
    shader.setStrings(&kSource, 1);
    shader.setPreamble(defines.c_str());
    shader.setEntryPoint("main");
    shader.setEnvInput(glslang::EShSourceHlsl, EShLangFragment, glslang::EShClientVulkan, 100);
    shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_0);
    shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_0);
    shader.setAutoMapBindings(true);
    glslang::TProgram program;
    program.addShader(&shader);
    Words words;
    if (shader.parse(GetDefaultResources(), 100, false, messages) && program.link(messages)) {
        glslang::GlslangToSpv(*program.getIntermediate(EShLangFragment), words);
    } else {
        std::fprintf(stderr, "%s\n", shader.getInfoLog());
    }
    return words;
}

// Everything that can change the result: the source, the constants, the compiler.
std::string key_of(const Material &material) {
    return "example 1, glslang " + std::to_string(glslang::GetSpirvGeneratorVersion()) + "\n" +
           defines_of(material) + kSource;
}

// From the cache, or made and put there.
Words variant(ID3D12ShaderCacheSession *session, const Material &material, unsigned &found) {
    const std::string key = key_of(material);
    const UINT key_size = static_cast<UINT>(key.size());
    UINT size = 0;
    HRESULT result = session->FindValue(key.data(), key_size, nullptr, &size);
    if (result == S_OK) {
        Words words(size / sizeof(unsigned));
        result = session->FindValue(key.data(), key_size, words.data(), &size);
        if (result == S_OK) {
            ++found;
            return words;
        }
    }
    Words words = specialise(material);
    if (result == kNotFound && !words.empty()) {
        result = session->StoreValue(key.data(), key_size, words.data(),
                                     static_cast<UINT>(words.size() * sizeof(unsigned)));
        if (result != S_OK && result != kAlreadyExists) {
            std::fprintf(stderr, "a variant was not stored: %08x\n", static_cast<unsigned>(result));
        }
    }
    return words;
}

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void make_all(ID3D12ShaderCacheSession *session, const char *what) {
    const Clock::time_point start = Clock::now();
    unsigned count = 0;
    unsigned found = 0;
    size_t bytes = 0;
    for (unsigned lights = 1; lights <= 8; ++lights) {
        for (unsigned shadow_samples : {1u, 4u, 16u}) {
            for (unsigned has_fog : {0u, 1u}) {
                bytes += 4 * variant(session, {lights, shadow_samples, has_fog}, found).size();
                ++count;
            }
        }
    }
    std::printf("%s: %u variants, %zu bytes, %u found in the cache: %.1f ms\n", what, count, bytes,
                found, milliseconds_since(start));
}

ID3D12ShaderCacheSession *open_session(ID3D12Device *device) {
    D3D12_SHADER_CACHE_SESSION_DESC desc = {};
    desc.Identifier = {
        0x5f3c1a90, 0x1c55, 0x4c5e, {0x8e, 0x0a, 0x6d, 0x27, 0x91, 0x3b, 0x44, 0x02}};
    desc.Mode = D3D12_SHADER_CACHE_MODE_DISK;
    desc.Flags = D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED;
    desc.Version = 1;  // of what we store: another one empties the cache
    void *session = nullptr;
    const HRESULT result =
        cairn_vkd3d_create_session(device, nullptr, &desc, &IID_ID3D12ShaderCacheSession, &session);
    if (result != S_OK) {
        std::fprintf(stderr, "no session: %08x\n", static_cast<unsigned>(result));
    }
    return static_cast<ID3D12ShaderCacheSession *>(session);
}

}  // namespace

int main() {
    ID3D12Device *device = nullptr;
    if (D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_ID3D12Device,
                          reinterpret_cast<void **>(&device)) != S_OK) {
        std::puts("there is no device: going on without");
    }
    glslang::InitializeProcess();
    ID3D12ShaderCacheSession *session = open_session(device);
    if (session == nullptr) {
        return 1;
    }
    make_all(session, "first");
    make_all(session, "again");
    session->Release();
    if (device != nullptr) {
        device->Release();
    }
    glslang::FinalizeProcess();
    return 0;
}
