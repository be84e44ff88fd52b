// A root of its own, and sessions in it: made without a device, or by a facade around a real one.
// SPDX-License-Identifier: MIT
//
// Thread safety: create(), control() and messages() from any thread.
// Ownership: removes its directories at the end; sessions must be gone by then.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "d3d12/api.h"
#include "support/temp_directory.h"

namespace d3d12_test {

// The real device that stages wrap from now on; null: sessions are made without one.
void set_real_device(ID3D12Device *device);
ID3D12Device *real_device();

// A description with this identifier, everything else by default.
Desc memory_desc(unsigned identifier = 1);
Desc disk_desc(unsigned identifier = 1);

class Stage {
  public:
    Stage();
    ~Stage();
    Stage(const Stage &) = delete;
    Stage &operator=(const Stage &) = delete;

    const std::string &root() const { return root_; }
    cairn_d3d12_options options();

    // The names that DRIVER_VERSIONED uses. REQUIRES: no session was created yet.
    void set_adapter(const char *adapter, const char *driver_version);

    HRESULT create(const Desc *desc, const IID *iid, void **session);
    HRESULT create(const Desc &desc, Session &session) {
        return create(&desc, &IID_ID3D12ShaderCacheSession, session.receive());
    }
    // The same, never by way of the device: for children of fork().
    HRESULT create_without_device(const Desc &desc, Session &session);
    HRESULT control(unsigned kinds, unsigned flags);
    // The facade; null where there is no device.
    ID3D12Device9 *device();

    // Ids of messages since the last call.
    std::vector<int> messages();
    bool said(int id);
    std::vector<std::string> log_lines();
    void forget_log();

    // Paths of the directories of caches in the root.
    std::vector<std::string> caches() const;
    // How many entries all of them have, as others see it.
    unsigned entries_on_disk() const;

  private:
    static void receive_message(void *self, int id, int severity, const char *text);
    static void receive_line(void *self, int severity, const char *line);

    cairn_test::TempDirectory directory_;
    std::string root_;
    std::string adapter_ = "test adapter";
    std::string driver_version_ = "1";
    Com<ID3D12Device9> device_;

    std::mutex mutex_;
    // Guarded by mutex_
    std::vector<int> messages_;
    std::vector<std::string> lines_;
};

// Values of `size` bytes that differ by `seed`.
std::vector<unsigned char> bytes_of(unsigned seed, size_t size);

HRESULT store(const Session &session, const std::string &key, const std::string &value);
HRESULT store(const Session &session, const std::string &key,
              const std::vector<unsigned char> &value);
// The value by the two calls that D3D12 has for it; nothing where one of them fails, with its
// result in `result`.
std::string find(const Session &session, const std::string &key, HRESULT *result = nullptr);
HRESULT look(const Session &session, const std::string &key);

// As long as it lives, CAIRN_DEVELOPER_MODE is 1.
class DeveloperMode {
  public:
    DeveloperMode() { setenv("CAIRN_DEVELOPER_MODE", "1", 1); }
    ~DeveloperMode() { unsetenv("CAIRN_DEVELOPER_MODE"); }
    DeveloperMode(const DeveloperMode &) = delete;
    DeveloperMode &operator=(const DeveloperMode &) = delete;
};

}  // namespace d3d12_test
