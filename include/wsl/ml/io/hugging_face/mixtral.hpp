// SPDX-License-Identifier: MIT
// Mixtral (transformers, models/mixtral): Mistral with several feed-forward parts in each block, among which
// a router divides the tokens. The loss that balances them is there if output_router_logits is true.
#pragma once
#include "llama.hpp"

namespace wsl::ml::hugging_face {

inline constexpr family mixtral{
    "mixtral",
    "MixtralForCausalLM",
    "model.",
    "lm_head.weight",
    [](const config_file& c) {
      decoder d =
          read_llama(c, {.positions = 131072, .kv_heads = 8, .epsilon = 1e-5f, .rotary_base = 1'000'000});
      d.window = c.whole("sliding_window", 0);
      d.experts = c.whole("num_local_experts", 8), d.experts_per_token = c.whole("num_experts_per_tok", 2);
      if (d.experts_per_token > d.experts)
        throw c.error("'num_experts_per_tok' is {}, more than the {} of 'num_local_experts'",
                      d.experts_per_token, d.experts);
      if (c.flag("output_router_logits", false)) d.balance = c.number("router_aux_loss_coef", 0.001f);
      return d;
    },
    [](const decoder& d) {
      json c = write_llama(d);
      c["sliding_window"] = d.window ? json(d.window) : json();
      c["num_local_experts"] = std::max(d.experts, 1), c["num_experts_per_tok"] = d.experts_per_token;
      c["output_router_logits"] = d.balance != 0;
      if (d.balance != 0) c["router_aux_loss_coef"] = shortest(d.balance);
      return c;
    },
    [](const decoder& d) {
      return llama_tensors(d, [&](tensor_rules& r, const std::string& theirs, const std::string& ours) {
        const std::string h = theirs + "block_sparse_moe.";
        r.linear(h + "gate", ours + "router", false);
        for (int e = 0; e < d.experts; ++e)
          for (const auto& [name, part] : {std::pair("w1", "gate"), {"w2", "down"}, {"w3", "up"}})
            r.linear(fmt::format("{}experts.{}.{}", h, e, name), fmt::format("{}expert {} {}", ours, e, part),
                     false);
      });
    }};

}  // namespace wsl::ml::hugging_face
