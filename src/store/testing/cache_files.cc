// SPDX-License-Identifier: MIT
#include "store/testing/cache_files.h"

#include <cstdio>
#include <cstdlib>

#include "store/index_file.h"
#include "store/marks.h"
#include "store/segment_format.h"

namespace cairn::testing {
namespace {

constexpr std::string_view kName = "test";

template <typename T>
T must(Result<T> result) {
    if (!result.ok()) {
        std::fprintf(stderr, "cannot make the files of a test: error %d\n",
                     static_cast<int>(result.error()));
        std::abort();
    }
    return std::move(result.value());
}

}  // namespace

CacheFiles::CacheFiles(std::uint64_t limit_bytes)
    : directory_(must(Directory::open(scratch_.path()))),
      identity_(identity_for_new_index(directory_, kNewestFormat, 1, kName)) {
    if (!create_index_file(directory_, identity_, Replace::no).ok()) std::abort();
    index_ = open_index();
    reader_ = std::make_unique<RecordReader>(directory_);
    account_ = std::make_unique<Account>(directory_, space_limits(limit_bytes));
    writer_ = std::make_unique<Writer>(directory_, *account_);
}

Index &CacheFiles::index() {
    if (!index_->is_named(directory_)) replace_index(open_index());
    return *index_;
}

void CacheFiles::replace_index(std::unique_ptr<Index> index) {
    former_.push_back(std::move(index_));
    index_ = std::move(index);
}

std::unique_ptr<Index> CacheFiles::open_index(Access access) const {
    return must(Index::open(must(directory_.open_file(kIndexFileName, access)), identity_, access));
}

std::shared_ptr<Writer> CacheFiles::open_writer() const {
    struct Process {
        Process(const Directory &directory, const SpaceLimits &limits)
            : account(directory, limits), writer(directory, account) {}
        Account account;
        Writer writer;
    };
    const auto process = std::make_shared<Process>(directory_, account_->limits());
    return {process, &process->writer};
}

Writer::Appended CacheFiles::append(std::string_view key, std::string_view value,
                                    std::uint64_t stamp_ns) {
    RecordHeader header;
    header.key_size = static_cast<std::uint32_t>(key.size());
    header.value_size = header.raw_size = static_cast<std::uint32_t>(value.size());
    header.stamp_ns = stamp_ns;
    header.key_hash = index_->hash(as_bytes(key));
    header.value_check = value_checksum(as_bytes(value));
    return must(
        writer_->append(*index_, header, as_bytes(key), as_bytes(value), Account::Purpose::put));
}

Slot CacheFiles::slot_of(std::string_view key, std::string_view value, Location location) const {
    RecordHeader header;
    header.key_size = static_cast<std::uint32_t>(key.size());
    header.value_size = static_cast<std::uint32_t>(value.size());
    return Slot::make(location, size_class(header.record_size()),
                      Slot::tag_of(index_->hash(as_bytes(key))));
}

Examine CacheFiles::examiner(std::string_view key) {
    return [this, key = std::string(key)](Slot slot) {
        return reader_->read_stamp(identity_.cache_id, slot, as_bytes(key));
    };
}

Location CacheFiles::put(std::string_view key, std::string_view value) {
    const std::uint64_t stamp = index().next_stamp();
    const Writer::Appended record = append(key, value, stamp);
    const Slot slot = slot_of(key, value, record.location);
    const std::uint64_t hash = index_->hash(as_bytes(key));
    for (;;) {
        const auto published =
            publish(*index_, hash, slot, PublishPolicy::replace, stamp, examiner(key));
        if (published.ok() && published->outcome == Published::Outcome::replaced) {
            const PublishedSlot &older = published->other;
            (void)mark_given_up(directory_, {older.slot.location(), older.stamp_ns},
                                GivenUp::replaced, index_->boot());
        }
        if (published.ok()) return record.location;
        if (published.error() != Error::full || !account_->grow_index(*index_, hash).ok())
            std::abort();
    }
}

std::optional<std::string> CacheFiles::get(std::string_view key) {
    Index::Candidates candidates(index(), index_->hash(as_bytes(key)));
    while (const auto found = candidates.next()) {
        if (found->slot.tentative()) continue;
        const ReadBlob read = reader_->read(identity_.cache_id, found->slot, as_bytes(key));
        if (read.outcome != ReadOutcome::found) continue;
        const Bytes value = read.blob->value();
        return std::string(reinterpret_cast<const char *>(value.data()), value.size());
    }
    return std::nullopt;
}

unsigned CacheFiles::published_slots(std::string_view key) {
    unsigned count = 0;
    const Examine examine = examiner(key);
    Index::Candidates candidates(index(), index_->hash(as_bytes(key)));
    while (const auto found = candidates.next()) {
        const auto same = examine(found->slot);
        if (!found->slot.tentative() && same.ok() && same.value()) ++count;
    }
    return count;
}

std::vector<std::string> CacheFiles::keys_of_one_bucket(std::size_t count) const {
    std::vector<std::string> keys;
    for (unsigned i = 0; keys.size() < count; ++i) {
        std::string key = "key" + std::to_string(i);
        if ((index_->hash(as_bytes(key)) & (kFirstLevelBuckets - 1)) == 7) {
            keys.push_back(std::move(key));
        }
    }
    return keys;
}

void CacheFiles::overwrite(const std::string &name, std::uint64_t offset, Bytes bytes) const {
    const File file = must(directory_.open_file(name, Access::read_write));
    const Bytes pieces[] = {bytes};
    if (!file.write_at(offset, pieces).ok()) std::abort();
}

void CacheFiles::set_counter(Counter counter, std::uint64_t word) const {
    std::byte bytes[8];
    put_le(bytes, 0, word);
    overwrite(kIndexFileName, counter_offset(counter), bytes);
}

}  // namespace cairn::testing
