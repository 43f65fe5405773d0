// SPDX-License-Identifier: MIT
#include "certificate.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

#include "../files.hpp"

namespace cluster {
namespace {

struct with_openssl {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(GENERAL_NAMES* p) const { GENERAL_NAMES_free(p); }
};
template <class T>
using owned = std::unique_ptr<T, with_openssl>;

owned<BIO> of_text(const std::string& text) {
  return owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}
std::string text_in(const owned<BIO>& b) {
  char* first = nullptr;
  const long n = BIO_get_mem_data(b.get(), &first);
  return {first, static_cast<std::size_t>(n)};
}

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw std::runtime_error(file + " " + why);
}

/// No key is asked for on a terminal.
int no_password(char*, int, int, void*) { return -1; }

/// The first certificate of a file, valid today; null if there are several and any will do.
owned<X509> certificate_in(const std::string& file, bool any_will_do) {
  const std::string text = app::read_file(file);
  const owned<BIO> in = of_text(text);
  owned<X509> c(PEM_read_bio_X509(in.get(), nullptr, no_password, nullptr));
  if (c && any_will_do && owned<X509>(PEM_read_bio_X509(in.get(), nullptr, no_password, nullptr))) return {};
  if (!c) refuse(file, "holds no certificate (PEM: a text with -----BEGIN CERTIFICATE-----)");
  const auto when = [&](const ASN1_TIME* t) {
    const owned<BIO> out(BIO_new(BIO_s_mem()));
    ASN1_TIME_print(out.get(), t);
    return text_in(out);
  };
  if (X509_cmp_current_time(X509_get0_notAfter(c.get())) < 0)
    refuse(file,
           "is a certificate that has ended on " + when(X509_get0_notAfter(c.get())) + ": make a new one");
  if (X509_cmp_current_time(X509_get0_notBefore(c.get())) > 0)
    refuse(file, "is a certificate that begins on " + when(X509_get0_notBefore(c.get())) +
                     ": is the clock of this computer right?");
  return c;
}

/// The other names of a certificate, which servers have and authorities have not.
std::string names_of(X509* c) {
  const owned<GENERAL_NAMES> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(c, NID_subject_alt_name, nullptr, nullptr)));
  if (!names) return "";
  const owned<BIO> out(BIO_new(BIO_s_mem()));
  for (int k = 0; k < sk_GENERAL_NAME_num(names.get()); ++k) {
    if (k) BIO_puts(out.get(), ", ");
    GENERAL_NAME_print(out.get(), sk_GENERAL_NAME_value(names.get(), k));
  }
  return text_in(out);
}

}  // namespace

void check_own_certificate(const std::string& certificate_file, const std::string& key_file) {
  const owned<X509> c = certificate_in(certificate_file, false);
  const std::string text = app::read_file(key_file);
  const owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(of_text(text).get(), nullptr, no_password, nullptr));
  if (!key)
    refuse(key_file,
           text.find("ENCRYPTED") != text.npos
               ? "is a key with a password: a manager starts without anybody to ask; give it one without"
               : "holds no key (PEM: a text with -----BEGIN PRIVATE KEY-----)");
  if (X509_check_private_key(c.get(), key.get()) != 1)
    refuse(key_file, "is not the key of " + certificate_file);
}

void check_certificate_of(const std::string& certificate_file, const std::string& address) {
  const owned<X509> c = certificate_in(certificate_file, true);
  if (!c) return;
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with("[") && host.ends_with("]")) host = host.substr(1, host.size() - 2);
  const std::string names = names_of(c.get());
  if (names.empty() || X509_check_host(c.get(), host.data(), host.size(), 0, nullptr) == 1 ||
      X509_check_ip_asc(c.get(), host.c_str(), 0) == 1)
    return;
  refuse(certificate_file,
         "is the certificate of " + names + ", not of " + host + ": give --cluster with one of these names");
}

}  // namespace cluster
