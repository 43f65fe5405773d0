#%Module1.0
# SPDX-License-Identifier: MIT
# A module file for Environment Modules and Lmod: copy it as <modules>/wsl/<version>, and set `root` to the prefix that
# `cmake --install` was given. Then: module load wsl
proc ModulesHelp {} {
  puts stderr "wsl, the wafer-scale language: its headers, its trainers (wsl-gpt, wsl-zoo, ...), wsl-clusterd and wsl-ctl"
}
module-whatis "Programs for wafer-scale dataflow machines"
conflict wsl

set root /opt/wsl
prepend-path PATH $root/bin
prepend-path CPATH $root/include
prepend-path CMAKE_PREFIX_PATH $root
prepend-path PKG_CONFIG_PATH $root/share/pkgconfig
