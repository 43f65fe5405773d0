// SPDX-License-Identifier: MIT
// What can be said of a certificate before a connection fails by it: libraries tell the reason to nobody, or
// only to the other side.
#pragma once
#include <string>

namespace cluster {

/// Throws std::runtime_error that says what is wrong with a manager's certificate and its key: files without
/// one (PEM), a key that is encrypted or of another certificate, a certificate that is not valid today.
void check_own_certificate(const std::string& certificate_file, const std::string& key_file);

/// Throws std::runtime_error if a client cannot know a manager at HOST:PORT by this certificate: a file
/// without one (PEM), one that is not valid today, or that of a server of another name. That of an authority
/// may be for any, and of several certificates in a file the connection finds the right one.
void check_certificate_of(const std::string& certificate_file, const std::string& address);

}  // namespace cluster
