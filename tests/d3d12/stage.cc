// SPDX-License-Identifier: MIT
#include "d3d12/stage.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "support/random.h"

namespace d3d12_test {
namespace {

ID3D12Device *g_real_device = nullptr;

}  // namespace

void set_real_device(ID3D12Device *device) {
    g_real_device = device;
}

ID3D12Device *real_device() {
    return g_real_device;
}

Desc memory_desc(unsigned identifier) {
    Desc desc = {};
    desc.Identifier = {identifier, 0x1234, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
    desc.Mode = D3D12_SHADER_CACHE_MODE_MEMORY;
    return desc;
}

Desc disk_desc(unsigned identifier) {
    Desc desc = memory_desc(identifier);
    desc.Mode = D3D12_SHADER_CACHE_MODE_DISK;
    return desc;
}

Stage::Stage() : root_(directory_ / "root") {}

Stage::~Stage() {
    device_.reset();
}

cairn_d3d12_options Stage::options() {
    cairn_d3d12_options options = {};
    options.size = sizeof options;
    options.root = root_.c_str();
    options.adapter = adapter_.c_str();
    options.driver_version = driver_version_.c_str();
    options.message = receive_message;
    options.log = receive_line;
    options.user = this;
    return options;
}

void Stage::set_adapter(const char *adapter, const char *driver_version) {
    adapter_ = adapter;
    driver_version_ = driver_version;
    device_.reset();
}

ID3D12Device9 *Stage::device() {
    if (device_ || g_real_device == nullptr) {
        return device_.get();
    }
    const cairn_d3d12_options given = options();
    ID3D12Device *wrapped = nullptr;
    if (CAIRN_TEST_FUNCTION(wrap_device)(g_real_device, &given, &wrapped) != kOk ||
        wrapped->QueryInterface(IID_ID3D12Device9, device_.receive()) != kOk) {
        std::fprintf(stderr, "the device cannot be wrapped\n");
        std::abort();
    }
    wrapped->Release();
    return device_.get();
}

HRESULT Stage::create(const Desc *desc, const IID *iid, void **session) {
    if (device() != nullptr) {
        return device()->CreateShaderCacheSession(desc, *iid, session);
    }
    const cairn_d3d12_options given = options();
    return CAIRN_TEST_FUNCTION(create_session)(nullptr, &given, desc, iid, session);
}

HRESULT Stage::create_without_device(const Desc &desc, Session &session) {
    const cairn_d3d12_options given = options();
    return CAIRN_TEST_FUNCTION(create_session)(nullptr, &given, &desc,
                                               &IID_ID3D12ShaderCacheSession, session.receive());
}

HRESULT Stage::control(unsigned kinds, unsigned flags) {
    if (device() != nullptr) {
        return device()->ShaderCacheControl(static_cast<D3D12_SHADER_CACHE_KIND_FLAGS>(kinds),
                                            static_cast<D3D12_SHADER_CACHE_CONTROL_FLAGS>(flags));
    }
    const cairn_d3d12_options given = options();
    return CAIRN_TEST_FUNCTION(shader_cache_control)(&given, kinds, flags);
}

std::vector<int> Stage::messages() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
}

bool Stage::said(int id) {
    return std::ranges::count(messages(), id) > 0;
}

std::vector<std::string> Stage::log_lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
}

void Stage::forget_log() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
}

void Stage::receive_message(void *self, int id, int, const char *) {
    auto *stage = static_cast<Stage *>(self);
    const std::lock_guard lock(stage->mutex_);
    stage->messages_.push_back(id);
}

void Stage::receive_line(void *self, int, const char *line) {
    auto *stage = static_cast<Stage *>(self);
    const std::lock_guard lock(stage->mutex_);
    stage->lines_.emplace_back(line);
}

std::vector<std::string> Stage::caches() const {
    std::vector<std::string> paths;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(root_, error)) {
        if (entry.is_directory()) {
            paths.push_back(entry.path());
        }
    }
    std::ranges::sort(paths);
    return paths;
}

unsigned Stage::entries_on_disk() const {
    uint64_t entries = 0;
    for (const std::string &path : caches()) {
        const std::string identifier = path.substr(path.rfind('/') + 1);
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.identifier = identifier.c_str();
        options.flags = CAIRN_OPEN_EXISTING | CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_READ_ONLY;
        cairn_cache *cache = nullptr;
        cairn_stats stats = {};
        stats.size = sizeof stats;
        if (cairn_open(&options, &cache) == CAIRN_OK &&
            cairn_stats_get(cache, &stats) == CAIRN_OK) {
            entries += stats.entries;
        }
        cairn_close(cache);
    }
    return static_cast<unsigned>(entries);
}

std::vector<unsigned char> bytes_of(unsigned seed, size_t size) {
    std::vector<unsigned char> bytes(size);
    cairn_test::Random(seed).fill(bytes);
    return bytes;
}

HRESULT store(const Session &session, const std::string &key, const std::string &value) {
    return session->StoreValue(key.data(), static_cast<UINT>(key.size()), value.data(),
                               static_cast<UINT>(value.size()));
}

HRESULT store(const Session &session, const std::string &key,
              const std::vector<unsigned char> &value) {
    return session->StoreValue(key.data(), static_cast<UINT>(key.size()), value.data(),
                               static_cast<UINT>(value.size()));
}

std::string find(const Session &session, const std::string &key, HRESULT *result) {
    UINT size = 0;
    const auto key_size = static_cast<UINT>(key.size());
    HRESULT found = session->FindValue(key.data(), key_size, nullptr, &size);
    std::string value(size, '\0');
    if (found == kOk) {
        found = session->FindValue(key.data(), key_size, value.data(), &size);
    }
    if (result != nullptr) {
        *result = found;
    }
    return found == kOk ? value : std::string();
}

HRESULT look(const Session &session, const std::string &key) {
    UINT size = 0;
    return session->FindValue(key.data(), static_cast<UINT>(key.size()), nullptr, &size);
}

}  // namespace d3d12_test
