// SPDX-License-Identifier: MIT
// A fault in a call of the builder is one error, and the check of the layout adds a single sentence.
// says: a_color_id_must_be_below_the_number_of_colors_of_the_machine
// says: there is no color {}: the colors of this machine are 0 to {}
// says: wsl: the layout is not a constant: mend the error above, or declare the layout constexpr
// lines: 50
#include "programs.hpp"

#ifdef WSL_MISUSE
constexpr color<f32> far{24};
#else
constexpr color<f32> far{23};
#endif
constexpr binding far_table[] = {launches, send_entry(far), takes(far)};
constexpr program distant = with(far_table);
constexpr layout row_of_four = layout{wse2, 4, 1}
    .place(all, distant)
    .path(far, columns(0, edge, 2), ramp >> east)
    .path(far, columns(1, edge, 2), west >> ramp);
static_assert(routed<row_of_four>());
