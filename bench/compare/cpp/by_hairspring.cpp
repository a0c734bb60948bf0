// Hairspring: a lambda, an init for what must be made anew.
#include "hairspring.hpp"
#include "work.hpp"

namespace {

work::Data data;

}  // namespace

HAIRSPRING_BENCH("sort_100", [] { work::sort(data.numbers.values); })
    .init([] { data.numbers.refill(); });
HAIRSPRING_BENCH("hash_1k", [] { return work::hash(data.kilobyte); });
HAIRSPRING_BENCH("parse_list", [] { return work::parse(data.list); });
HAIRSPRING_BENCH("memcpy_4k",
    [] { work::copy(data.buffers->to.data(), data.buffers->from.data(), 4096); });
HAIRSPRING_BENCH("memcpy_64k",
    [] { work::copy(data.buffers->to.data(), data.buffers->from.data(), 65536); });
HAIRSPRING_BENCH("json_500", [] { return work::json(data.document); });

HAIRSPRING_MAIN_CPP
