#include "expand/dataset.hpp"

#include <algorithm>

#include "expand/split.hpp"
#include "expand/stream.hpp"

namespace wa {
namespace {

// What a key of a data set is for, so that its orders and sizes are independent of each other.
enum : std::uint64_t { files_key = 1, samples_key = 2, sizes_key = 3 };

std::uint64_t key_of(const Plan& plan, const Family& family, std::uint64_t purpose) {
    return mix(mix(plan.seed, static_cast<std::uint64_t>(family.id)), purpose);
}

std::uint64_t in_epoch(std::uint64_t key, SampleOrder order, std::int64_t epoch) {
    return order == SampleOrder::shuffled_each_epoch ? mix(key, static_cast<std::uint64_t>(epoch) + 1) : key;
}

std::int64_t limited(Wide value) {
    return static_cast<std::int64_t>(std::min(value, Wide{INT64_MAX}));
}

}  // namespace

SampleSizes::SampleSizes(const Dataset& dataset, std::uint64_t key)
    : dataset_(dataset), key_(key), samples_(dataset.files * dataset.samples) {}

/// A sum of twelve uniform numbers is nearly normal, and the same on every machine.
std::int64_t SampleSizes::deviation(std::int64_t pair) const {
    if (dataset_.deviation == 0 || 2 * pair + 1 >= samples_) return 0;
    std::int64_t sum = -6 * (std::int64_t{1} << 32U);
    for (std::uint64_t i = 0; i < 6; ++i) {
        const std::uint64_t word = mix(mix(key_, static_cast<std::uint64_t>(pair)), i);
        sum += static_cast<std::int64_t>(word >> 32U) + static_cast<std::int64_t>(word & 0xFFFFFFFFU);
    }
    const auto wanted = static_cast<std::int64_t>((Wide{dataset_.deviation} * sum) >> 32U);
    const std::int64_t most = std::max<std::int64_t>(dataset_.bytes / samples_ - 1, 0);  // a byte remains
    return std::clamp(wanted, -most, most);
}

std::int64_t SampleSizes::before(std::int64_t sample) const {
    const std::int64_t even = shares_before(dataset_.bytes, samples_, sample);
    return sample % 2 == 0 ? even : even + deviation(sample / 2);
}

std::int64_t SampleSizes::offset(std::int64_t file, std::int64_t sample) const {
    const std::int64_t first = file * dataset_.samples;
    return dataset_.header + before(first + sample) - before(first);
}

std::int64_t SampleSizes::size(std::int64_t file, std::int64_t sample) const {
    const std::int64_t number = file * dataset_.samples + sample;
    return before(number + 1) - before(number);
}

std::int64_t SampleSizes::bytes_of_file(std::int64_t file) const {
    return offset(file, dataset_.samples - 1) + size(file, dataset_.samples - 1);
}

SampleSizes sample_sizes(const Plan& plan, const Family& family, const Dataset& dataset) {
    return {dataset, key_of(plan, family, sizes_key)};
}

ReaderPlace reader_place(const Dataset& dataset, std::int64_t epoch, std::int64_t member,
                         std::int64_t members) {
    ReaderPlace out;
    out.readers = dataset.readers > 0 ? std::min(dataset.readers, members) : members;
    const std::int64_t groups = members / out.readers;  // members beyond the last whole group never read
    const std::int64_t reader = member - epoch % groups * out.readers;
    out.reader = reader >= 0 && reader < out.readers ? reader : -1;
    if (dataset.deal == 0 && out.reader >= 0) out = {1, 0};  // every reader reads everything
    return out;
}

DatasetOperations::DatasetOperations(const Plan& plan, const Family& family, const Dataset& dataset,
                                     std::int64_t epoch, std::int64_t member, std::int64_t members)
    : dataset_(dataset),
      sizes_(sample_sizes(plan, family, dataset)),
      place_(reader_place(dataset, epoch, member, members)),
      file_key_(in_epoch(key_of(plan, family, files_key), dataset.file_order, epoch)),
      sample_key_(in_epoch(key_of(plan, family, samples_key), dataset.sample_order, epoch)) {
    if (dataset_.file_order != SampleOrder::sequential) file_order_.emplace(dataset_.files, file_key_);
}

std::int64_t DatasetOperations::own_from(std::int64_t position) const {
    const std::int64_t all = dataset_.files * dataset_.samples;
    if (place_.reader < 0 || position >= all) return all;
    if (place_.readers == 1) return position;
    const std::int64_t hand = position / dataset_.deal;
    const std::int64_t turn = hand % place_.readers;
    if (turn == place_.reader) return position;
    const std::int64_t wait = (place_.reader - turn + place_.readers) % place_.readers;
    return limited(std::min(Wide{hand + wait} * dataset_.deal, Wide{all}));
}

std::int64_t DatasetOperations::samples_before(std::int64_t position) const {
    if (place_.reader < 0) return 0;
    if (place_.readers == 1) return position;
    const Wide round = Wide{dataset_.deal} * place_.readers;
    const auto rounds = static_cast<std::int64_t>(position / round);
    const auto rest = static_cast<std::int64_t>(position - rounds * round);
    return rounds * dataset_.deal +
           std::clamp<std::int64_t>(rest - place_.reader * dataset_.deal, 0, dataset_.deal);
}

std::int64_t DatasetOperations::file_at(std::int64_t visit) const {
    return file_order_ ? (*file_order_)(visit) : visit;
}

std::int64_t DatasetOperations::sample_at(std::int64_t position) const {
    const std::int64_t place = position - visit_ * dataset_.samples;
    return sample_order_ ? (*sample_order_)(place) : place;
}

std::int64_t DatasetOperations::transfers_of(std::int64_t file, std::int64_t sample) const {
    if (dataset_.transfer == 0) return 1;
    const std::int64_t size = sizes_.size(file, sample);
    return std::max<std::int64_t>(size / dataset_.transfer + (size % dataset_.transfer > 0 ? 1 : 0), 1);
}

void DatasetOperations::enter(std::int64_t visit) {
    visit_ = visit;
    file_ = file_at(visit);
    sample_order_.reset();
    if (dataset_.sample_order != SampleOrder::sequential && dataset_.samples > 1)
        sample_order_.emplace(dataset_.samples, mix(sample_key_, static_cast<std::uint64_t>(file_)));
}

bool DatasetOperations::next_file() {
    position_ = own_from((visit_ + 1) * dataset_.samples);
    if (position_ >= dataset_.files * dataset_.samples) return false;
    enter(position_ / dataset_.samples);
    return true;
}

std::int64_t DatasetOperations::operations_of_file() const {
    const std::int64_t first = visit_ * dataset_.samples;
    const std::int64_t end = first + dataset_.samples;
    if (dataset_.transfer == 0) return samples_before(end) - samples_before(first);
    std::int64_t count = 0;
    for (std::int64_t at = own_from(first); at < end; at = own_from(at + 1))
        count += transfers_of(file_, sample_at(at));
    return count;
}

std::int64_t DatasetOperations::operations() const {
    if (dataset_.transfer == 0) return samples();
    DatasetOperations all = *this;
    all.visit_ = -1;
    std::int64_t count = 0;
    while (all.next_file()) count += all.operations_of_file();
    return count;
}

bool DatasetOperations::next(Operation& operation) {
    samples_begun_ = samples_done_;
    if (sample_ < 0) {
        if (visit_ < 0 || position_ >= (visit_ + 1) * dataset_.samples) return false;
        sample_ = sample_at(position_);
        done_ = 0;
        position_ = own_from(position_ + 1);
    }
    const std::int64_t size = sizes_.size(file_, sample_);
    operation = Operation{};
    operation.direction = Direction::read;
    operation.offset = sizes_.offset(file_, sample_) + done_;
    operation.size = dataset_.transfer == 0 ? size : std::min(dataset_.transfer, size - done_);
    done_ += operation.size;
    if (done_ >= size) {
        sample_ = -1;
        ++samples_done_;
    }
    return true;
}

DatasetEffort dataset_effort(const Dataset& dataset, std::int64_t members) {
    const std::int64_t readers = dataset.readers > 0 ? std::min(dataset.readers, members) : members;
    const Wide times = dataset.deal == 0 ? readers : 1;
    const Wide samples = Wide{dataset.files} * dataset.samples * times;
    const Wide pieces = dataset.transfer > 0 ? Wide{dataset.bytes} / dataset.transfer * times : 0;
    const Wide visits =
        dataset.deal == 0 ? Wide{dataset.files} * times : std::min(samples, Wide{dataset.files} * members);
    const Wide of_visit = Wide{2} * dataset.opens + dataset.stats + dataset.seeks;
    return {limited(Wide{dataset.bytes} * times), limited(samples + pieces + visits * of_visit)};
}

}  // namespace wa
