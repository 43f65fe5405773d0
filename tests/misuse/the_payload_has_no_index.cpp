// SPDX-License-Identifier: MIT
// A half has no room for an index.
// says: the_payload_has_no_index
// says: color_id.2.*column.1.*row.0
// says: wsl: a range filter looks at the index in the high half of a wavelet, and this payload has two bytes
#include "programs.hpp"

constexpr color<i16> plain{2};
constexpr color<halves<i16>> indexed{2};
template <payload T>
constexpr binding entries[] = {launches, send_entry(color<T>{2}), takes(color<T>{2})};

#ifdef WSL_MISUSE
constexpr program plainly = with(entries<i16>);
constexpr layout wrong = layout{wse2, 2, 1}
    .place(all, plainly)
    .path(plain, at(0, 0), ramp >> east)
    .path(plain, at(1, 0), west >> ramp, range_filter{.first = 0, .last = 3});
static_assert(routed<wrong>());
#else
constexpr program with_index = with(entries<halves<i16>>);
constexpr layout right = layout{wse2, 2, 1}
    .place(all, with_index)
    .path(indexed, at(0, 0), ramp >> east)
    .path(indexed, at(1, 0), west >> ramp, range_filter{.first = 0, .last = 3});
static_assert(routed<right>());
#endif
