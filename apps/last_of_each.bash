# SPDX-License-Identifier: MIT
# For tests that change one of many options, each of which may be given once:
#   last_of_each <arguments>   sets `args` to the arguments, but only the last of each option with its values
last_of_each() {
  local -A last=()
  local -i k
  local name="" all=("$@")
  for ((k = 0; k < ${#all[@]}; ++k)); do [[ ${all[k]} != --* ]] || last[${all[k]}]=$k; done
  args=()
  for ((k = 0; k < ${#all[@]}; ++k)); do
    if [[ ${all[k]} == --* ]]; then name=$([[ ${last[${all[k]}]} == "$k" ]] && echo kept || echo left); fi
    [[ $name == left ]] || args+=("${all[k]}")
  done
}
