# SPDX-License-Identifier: MIT
# For tests of applications that run on several processes.

# has_ranks <program>: whether mpirun and its library are there; without them there is nothing to test
has_ranks() { command -v mpirun >/dev/null && [[ $(ldd "$1") == *libmpi* ]]; }

# on_ranks <program> <options>: runs it on 3 ranks, or on $ranks
on_ranks() {
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
    WSL_THREADS=1 mpirun --oversubscribe -n "${ranks:-3}" "$@"
}

# same_on_ranks <pattern of lines that may differ> <program> <options>: 3 ranks print what one process prints, once
same_on_ranks() {
  local differs=$1 alone several; shift
  has_ranks "$1" || return 0
  alone=$("$@" | grep -Ev "$differs") || fail "$* fails"
  several=$(on_ranks "$@" | grep -Ev "$differs") || fail "$* fails on 3 ranks: $several"
  [[ $several == "$alone" ]] || fail "$* says on 3 ranks: $several, not: $alone"
}
