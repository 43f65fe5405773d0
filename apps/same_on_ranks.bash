# SPDX-License-Identifier: MIT
# For tests of applications: an application prints the same on several ranks as alone, once.

# same_on_ranks <pattern of lines that may differ> <program> <options>: nothing is tested where mpirun or its library is not
same_on_ranks() {
  local differs=$1 alone several; shift
  command -v mpirun >/dev/null && ldd "$1" | grep -q libmpi || return 0
  alone=$("$@" | grep -Ev "$differs") || fail "$* fails"
  several=$(export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
            export OMPI_MCA_btl_vader_single_copy_mechanism=none WSL_THREADS=1
            mpirun --oversubscribe -n 3 "$@" | grep -Ev "$differs") || fail "$* fails on 3 ranks: $several"
  [[ $several == "$alone" ]] || fail "$* says on 3 ranks: $several, not: $alone"
}
