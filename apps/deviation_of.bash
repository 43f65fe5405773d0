# SPDX-License-Identifier: MIT
# deviation_of <checkpoint> <parameter>: the standard deviation of the numbers of a parameter of f32 in a file of safetensors.

deviation_of() {
  local header begin end
  header=$(od -An -td8 -N8 "$1" | tr -d ' ')
  read -r begin end < <(tail -c +9 "$1" | head -c "$header" | grep -o "\"$2\":{[^}]*}" | sed -nE 's/.*"data_offsets":\[([0-9]+), ?([0-9]+)\].*/\1 \2/p')
  od -An -v -tf4 -w4 -j $((8 + header + begin)) -N $((end - begin)) "$1" | awk '{ sum += $1; squares += $1 * $1 } END { printf "%.5f", sqrt(squares / NR - (sum / NR)^2) }'
}
