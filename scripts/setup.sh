#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what building and testing needs (Debian 12 or later); says nothing when all of it is there.
#   setup.sh [benchmarks | cluster | docs]    with `benchmarks` also what benchmarks are compared with, with `cluster` a Slurm and an ssh server to test jobs on
set -euo pipefail

packages=(g++ cmake ninja-build clang-19 libclang-rt-19-dev catch2 libfmt-dev libboost-dev librange-v3-dev
  libbenchmark-dev pkg-config libcli11-dev libpng-dev libeigen3-dev libyaml-cpp-dev nlohmann-json3-dev zlib1g-dev libicu-dev
  libopenmpi-dev libhwloc-dev libsentencepiece-dev libhdf5-dev libsegyio-dev libwebp-dev
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libssl-dev libsqlite3-dev libcpp-httplib-dev)
if [[ ${1:-} == benchmarks ]]; then packages+=(libtbb-dev libcaf-dev valgrind libopenblas-dev libdnnl-dev libxsmm-dev libfftw3-dev python3-torch); fi
if [[ ${1:-} == docs ]]; then packages+=(mkdocs mkdocs-material doxygen python3); fi
if [[ ${1:-} == cluster ]]; then packages+=(slurm-wlm munge openssh-server openssh-client); fi
missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
(( ${#missing[@]} )) || exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup.sh: there is no apt-get here; please install the equivalents of: ${missing[*]}" >&2
  exit 1
fi
as_root=()
(( EUID == 0 )) || as_root=(sudo)
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)

echo "setup.sh: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${install[@]}" "${missing[@]}" >/dev/null
# Only for the speed of a second build.
"${install[@]}" ccache >/dev/null || echo "setup.sh: going on without ccache"
