// SPDX-License-Identifier: MIT
// The namespaces of the language's floors. Programs and hosts say `using namespace wsl;`, so `wsl` itself
// holds only the words that they use. Other words that the floors from core to host share are in
// `wsl::detail`, and those that the engines share with the state of a PE in `wsl::engines`. The namespaces in
// which whole subsystems are written see the words of `detail`; tests/static/public_names.cpp pins what
// programs see.
#pragma once

namespace wsl {

namespace detail {}
namespace engines {
using namespace detail;
}
namespace rules {
using namespace detail;
}
namespace drawing {
using namespace detail;
}
namespace faults {
using namespace detail;
}
namespace races {
using namespace detail;
using namespace engines;
}  // namespace races
namespace timing {
using namespace engines;
}
namespace mpi {
using namespace detail;
using namespace engines;
}  // namespace mpi

}  // namespace wsl
