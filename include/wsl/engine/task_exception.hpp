// SPDX-License-Identifier: MIT
// An exception of the user's own code inside a task, such as a std::out_of_range of a std::vector, on its way
// from the PE to the host, with its place. The run throws the original: one of the standard library's with a
// text gets the place added to that text, and keeps its type; any other type is thrown as it is, and
// fabric::stopped_by() tells the place. docs/guide/mistakes.md says so to users.
#pragma once
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>

namespace wsl::engines {

/// A std::bad_alloc of a task, with its place.
class out_of_memory : public std::bad_alloc {
 public:
  explicit out_of_memory(const std::string& text) : text_(text) {}
  const char* what() const noexcept override { return text_.what(); }

 private:
  std::runtime_error text_;  // whose copies throw nothing
};

class task_exception : public std::exception {
 public:
  /// Requires that an exception is being handled. `place` is "\n  in pass on PE(3, 1) of runner".
  explicit task_exception(const std::string& place) : original_(std::current_exception()), text_(place) {
    try {
      throw;
    } catch (const std::exception& e) { text_ = e.what() + place; } catch (...) {
      text_ = "an exception that is no std::exception" + place;
    }
  }

  const char* what() const noexcept override { return text_.c_str(); }

  /// Throws the original, with its place if it is an exception of the standard library that has a text.
  [[noreturn]] void rethrow_original() const {
    try {
      std::rethrow_exception(original_);
    } catch (const std::bad_alloc& e) {
      if (typeid(e) == typeid(std::bad_alloc) || typeid(e) == typeid(std::bad_array_new_length))
        throw out_of_memory(text_);
      throw;
    } catch (const std::logic_error& e) {
      throw_if_same<std::logic_error, std::invalid_argument, std::domain_error, std::length_error,
                    std::out_of_range>(e);
      throw;
    } catch (const std::runtime_error& e) {
      throw_if_same<std::runtime_error, std::range_error, std::overflow_error, std::underflow_error>(e);
      throw;
    }
  }

 private:
  // Exactly these types: one that the user has derived from them would lose what it adds.
  template <class... Type>
  void throw_if_same(const std::exception& e) const {
    ((typeid(e) == typeid(Type) ? throw Type(text_) : void()), ...);
  }

  std::exception_ptr original_;
  std::string text_;
};

}  // namespace wsl::engines
