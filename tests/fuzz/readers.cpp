// SPDX-License-Identifier: MIT
// Every reader of files gets bytes that nobody thought of (libFuzzer). It takes them or throws the error that it promises; whatever else
// happens is a fault: another exception, a crash, memory that the bytes do not account for, or something that was taken and
// does not come back when it is written and read again.
//   readers --reader=idx [libFuzzer's options] [corpus...]
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <wsl/ml/data/bpe.hpp>
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/images.hpp>
#include <wsl/ml/data/token_file.hpp>
#include <wsl/ml/file/checkpoint.hpp>
#include <wsl/ml/file/hugging_face.hpp>
#include <wsl/ml/file/llmc.hpp>

namespace {
using namespace wsl;
using namespace wsl::ml;

void holds(bool x) {
  if (!x) std::abort();
}

/// Bytes as a file without a disk.
class memory_file {
 public:
  explicit memory_file(std::string_view bytes) : file_(::memfd_create("fuzz", 0)) { holds(file_ >= 0 && ::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(file_); }
  std::string name() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// A folder in memory for what is written.
const std::string& scratch() {
  static const struct folder {
    std::string name = "/dev/shm/wsl_fuzz_XXXXXX";
    folder() { holds(::mkdtemp(name.data())); }
    ~folder() { std::filesystem::remove_all(name); }
  } here;
  return here.name;
}

void safetensors(std::string_view bytes) {
  const memory_file f(bytes);
  safetensors_file in(f.name());
  for (const tensor_info& t : in.tensors()) {
    holds(t.end <= bytes.size());
    if (t.type.name == "F16") in.numbers(t);
    if (t.type.name == "I32") in.read<i32>(t);
  }
}
void checkpoints_of(std::string_view bytes) {
  const memory_file f(bytes);
  checkpoint c(f.name());
  std::vector<f32> w(4);
  c.restore(std::vector<named_array>{{"w", {2, 2}, w}});
  c.step(), c.place_in_data();
}
void idx(std::string_view bytes) {
  const memory_file f(bytes);
  const idx_array x = read_idx(f.name());
  write_idx(scratch() + "/idx", x);
  const idx_array y = read_idx(scratch() + "/idx");
  // Numbers that are NaN are not equal, their bytes are.
  const auto bytes_of = [](const idx_array& a) {
    return std::visit([](const auto& n) { return std::string(reinterpret_cast<const char*>(n.data()), n.size() * sizeof n[0]); }, a.numbers);
  };
  holds(x.shape == y.shape && bytes_of(x) == bytes_of(y));
}
void gzip(std::string_view bytes) {
  const memory_file f("\x1f\x8b\x08" + std::string(bytes));
  gzip_file in(f.name());
  in.take<u8>(1 << 16, "numbers");
}
void text(std::string_view bytes) {
  const memory_file f(bytes);
  const std::string all = read_text(f.name());
  const characters letters = characters::of(all);
  holds(letters.decode(letters.encode(all)) == all && characters::in_order(letters.letters()).size() == letters.size());
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t word = pretoken_at(all, at);
    holds(word > 0 && word <= all.size() - at);
    at += word;
  }
}
std::string bytes_in_json() {
  nlohmann::json numbers;
  for (char32_t c : ml::detail::characters_of_bytes()) {
    std::string token;
    append_utf8(token, c);
    numbers[token] = numbers.size();
  }
  for (const char* token : {"ab", "abc", "bc", "aa", "aaaa", "<|endoftext|>"}) numbers[token] = numbers.size();
  return numbers.dump();
}
void merges(std::string_view bytes) {
  static const memory_file numbers(bytes_in_json());
  const memory_file f(bytes);
  const bpe b(numbers.name(), f.name());
  const std::string sample = "abcabc aaaaaaa bc 'll \n\n x";
  holds(b.decode(b.encode(sample)) == sample);
}
void vocabulary(std::string_view bytes) {
  static const memory_file no_merges("");
  const memory_file f(bytes);
  const bpe b(f.name(), no_merges.name());
  holds(b.decode(b.encode("any text\n")) == "any text\n");
}
void token_files(std::string_view bytes) {
  const memory_file f(bytes);
  const tokens x = read_tokens(f.name());
  const bool wide = x.numbers().index() == 1;
  write_tokens(scratch() + "/tokens", x, wide ? token_format::llmc_llama3 : token_format::llmc);
  const tokens y = read_tokens(scratch() + "/tokens");
  holds(x.size() == y.size() && x.numbers().index() == y.numbers().index());
  for (i64 i = 0; i < x.size(); ++i) holds(x[i] == y[i]);
}
void llmc(std::string_view bytes) {
  const memory_file f(bytes);
  const llmc_model m = read_llmc_model(f.name());
  write_llmc_model(scratch() + "/model", m);
  holds(read_llmc_model(scratch() + "/model").numbers.size() == m.numbers.size());
}
void llmc_states(std::string_view bytes) {
  const llmc_model m{{.vocabulary = 3, .positions = 4, .layers = 1, .heads = 1, .width = 1, .between = nonlinearity::gelu_tanh}, 4, std::vector<f32>(10)};
  const memory_file f(bytes);
  holds(read_llmc_state(f.name(), m).gradients.size() == 10);
}
void hugging_face(std::string_view bytes) {
  const memory_file f(bytes);
  const decoder d = ml::detail::gpt2_config(f.name());
  holds(d.width % d.heads == 0 && d.layers > 0);
}

struct reader {
  std::string_view name;
  void (*reads)(std::string_view);
};
constexpr reader readers[] = {{"safetensors", safetensors}, {"checkpoint", checkpoints_of}, {"idx", idx},       {"gzip", gzip},
                              {"text", text},               {"merges", merges},             {"vocabulary", vocabulary}, {"tokens", token_files},
                              {"llmc", llmc},               {"llmc_state", llmc_states},    {"config", hugging_face}};
const reader* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i)
    for (const reader& r : readers)
      if ((*argv)[i] == "--reader=" + std::string(r.name)) chosen = &r;
  if (chosen) return 0;
  std::fputs("readers: --reader=<name> chooses what is read:", stderr);
  for (const reader& r : readers) std::fprintf(stderr, " %s", r.name.data());
  std::fputs("\n", stderr);
  std::exit(1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    chosen->reads({reinterpret_cast<const char*>(data), size});
  } catch (const file_error& e) {
    holds(std::string_view(e.what()).starts_with("wsl: "));
  }
  return 0;
}
