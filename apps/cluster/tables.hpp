// SPDX-License-Identifier: MIT
// What wsl-ctl prints: tables with the columns of csctl, and JSON.
#pragma once
#include <string>

#include "cluster.pb.h"

namespace cluster {

/// "20s", "3m5s", "18h", "2d4h": two units at most, as csctl has them.
std::string text_of_time(long long milliseconds);
/// "64GB", with three digits.
std::string text_of_bytes(long long bytes);

/// "a=1,b=2", sorted by name.
std::string labels_of(const wsl::cluster::Job& j);

std::string table_of(const wsl::cluster::Jobs& jobs, long long now);
std::string table_of(const wsl::cluster::Nodes& nodes);
std::string text_of(const wsl::cluster::Description& d, long long now);

/// A message as JSON, with all of its fields.
std::string json_of(const google::protobuf::Message& m);

}  // namespace cluster
