# SPDX-License-Identifier: MIT
# Plain loops are at their best: compiled for this computer, free to reorder sums, with OpenMP.
wsl_peers_at_their_best(train "-O3;-march=native;-ffast-math" loops.cpp)
