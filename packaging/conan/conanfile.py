# SPDX-License-Identifier: MIT
"""wsl for Conan 2: headers, and the packages that its parts need."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load


class Wsl(ConanFile):
    name = 'wsl'
    description = 'Programs for wafer-scale dataflow machines, in C++20'
    license = 'MIT'
    package_type = 'header-library'
    settings = 'os', 'arch', 'compiler', 'build_type'
    options = {part: [True, False] for part in ('debug', 'ml_data', 'tokenizer', 'pictures', 'hdf5', 'low_rank', 'hwloc', 'mpi')}
    default_options = {'debug': False, 'ml_data': False, 'tokenizer': False, 'pictures': False, 'hdf5': False, 'low_rank': False, 'hwloc': False, 'mpi': False}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, '../../include/wsl/version.hpp'))
        self.version = '.'.join(re.findall(r'#define WSL_VERSION_\w+ (\d+)', text))

    def export_sources(self):
        for pattern in ('CMakeLists.txt', 'LICENSE', 'cmake/*', 'include/*'):
            copy(self, pattern, os.path.join(self.recipe_folder, '../..'), self.export_sources_folder)

    def requirements(self):
        self.requires('fmt/[>=9 <12]')
        if self.options.ml_data or self.options.tokenizer or self.options.pictures or self.options.hdf5:
            for package in ('boost/[>=1.74]', 'nlohmann_json/[>=3.11]', 'range-v3/[>=0.12]', 'zlib/[>=1.2]'):
                self.requires(package)
        elif self.options.debug:
            self.requires('zlib/[>=1.2]')
        if self.options.tokenizer:
            self.requires('icu/[>=72]')
        if self.options.pictures:
            self.requires('libpng/[>=1.6]')
        if self.options.hdf5:
            self.requires('hdf5/[>=1.10.3]')
        if self.options.low_rank:
            self.requires('eigen/[>=3.4]')
        if self.options.hwloc:
            self.requires('hwloc/[>=2.9]')
        if self.options.mpi:
            self.requires('openmpi/[>=4.1]')

    def package_id(self):
        self.info.clear()

    def generate(self):
        tools = CMakeToolchain(self)
        for option in ('WSL_BUILD_TESTS', 'WSL_BUILD_EXAMPLES', 'WSL_BUILD_APPS'):
            tools.cache_variables[option] = False
        tools.generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()
        copy(self, 'LICENSE', self.source_folder, os.path.join(self.package_folder, 'licenses'))

    def package_info(self):
        # The project's own files for find_package are the ones that are used.
        self.cpp_info.set_property('cmake_find_mode', 'none')
        self.cpp_info.builddirs = ['share/cmake/wsl']
        self.cpp_info.libdirs = []
        self.cpp_info.bindirs = []
