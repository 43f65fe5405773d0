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
      tensor_rules r;
      for (const tensor_rule& rule : llama_tensors(d)) {
        const std::size_t part = rule.theirs.find(".mlp.");
        if (part == std::string::npos) {
          r.all.push_back(rule);
          continue;
        }
        // The matrices of one expert become those of all.
        const std::string h = rule.theirs.substr(0, part) + ".block_sparse_moe.",
                          o = rule.ours.substr(0, rule.ours.find(' ', std::string("layer ").size()) + 1),
                          last = rule.ours.substr(o.size());
        const char* const name = last == "gate.weight" ? "w1" : last == "up.weight" ? "w3" : "w2";
        if (last == "gate.weight") r.linear(h + "gate", o + "router", false);
        for (int e = 0; e < d.experts; ++e)
          r.all.push_back({fmt::format("{}experts.{}.{}.weight", h, e, name),
                           fmt::format("{}expert {} {}", o, e, last), rule.rows});
      }
      return r.all;
    }};

}  // namespace wsl::ml::hugging_face
