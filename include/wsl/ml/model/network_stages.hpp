// SPDX-License-Identifier: MIT
// The stages that network.hpp adds to a network: a part of the library that can be compiled once, see
// ml/compiled.hpp.
#pragma once
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "network.hpp"

namespace wsl::ml {

WSL_ML_COMPILED_PART int network::axis(const std::string& name, int length) {
  if (length < 0)
    throw std::invalid_argument(
        fmt::format("wsl: a sequence has at least 1 token of {}, or 0 for as many as the batch has, not {}",
                    name, length));
  axes_.push_back({name, length});
  return static_cast<int>(axes_.size()) - 1;
}

WSL_ML_COMPILED_PART int network::image(int height, int width) {
  const image_size size{height, width};
  for (std::size_t k = 0; k < axes_.size(); ++k)
    if (axes_[k].image == size) return static_cast<int>(k);
  const int k = axis(name_of_images(size), size.pixels());
  axes_.back().image = size;
  return k;
}

WSL_ML_COMPILED_PART void network::tokens_are_pixels(int height, int width) {
  axes_.front().name = name_of_images({height, width});
  axes_.front().image = {height, width}, axes_.front().length = height * width;
}

WSL_ML_COMPILED_PART std::string network::name_of_images(const image_size& size) {
  std::string name = fmt::format("images of {} x {} pixels", size.height, size.width);
  if (size.height < 1 || size.width < 1 || i64{size.height} * size.width > largest_width)
    throw std::invalid_argument(fmt::format("wsl: there are no {}", name));
  return name;
}

WSL_ML_COMPILED_PART image_size network::image_of(int value) const {
  const image_size size = axes_[static_cast<std::size_t>(info(value).axis)].image;
  if (size.pixels() == 0)
    throw std::invalid_argument(
        fmt::format("wsl: the {} are no pixels of an image: make their axis with network::image", of(value)));
  return size;
}

WSL_ML_COMPILED_PART std::vector<parameter> network::of_convolution(const std::string& name, int outputs,
                                                                    int inputs,
                                                                    const convolution_settings& how) const {
  const sliding_window& w = how.over;
  if (w.height < 1 || w.width < 1 || w.stride < 1 || w.padding < 0 || w.dilation < 1)
    throw std::invalid_argument(fmt::format(
        "wsl: {} has windows of {} x {} pixels, a stride of {}, a padding of {} and a dilation of "
        "{}: the padding is at least 0, the others at least 1",
        name, w.height, w.width, w.stride, w.padding, w.dilation));
  if (how.groups < 1 || inputs % how.groups || outputs % how.groups)
    throw std::invalid_argument(fmt::format("wsl: {} cuts {} channels, and {} of the output, into {} groups",
                                            name, inputs, outputs, how.groups));
  const int of_group = inputs / how.groups;
  const bool is_default = how.start.how == initial::kind::constant && how.start.size == 0;
  const f32 bound = 1 / std::sqrt(static_cast<f32>(of_group * w.taps()));
  std::vector<parameter> all;
  if (how.bias)
    all.push_back({"bias", 1, outputs, is_default ? initial::uniform(bound) : initial::constant(0)});
  all.push_back(parameter::of("weight", {outputs, w.height, w.width, of_group},
                              is_default ? initial::uniform(bound) : how.start));
  return all;
}

WSL_ML_COMPILED_PART int network::convolution(const std::string& name, int x, int outputs,
                                              const convolution_settings& how) {
  const image_size size = image_of(x);
  std::vector<parameter> own = of_convolution(name, outputs, width(x), how);
  if (!how.over.fits(size))
    throw std::invalid_argument(fmt::format(
        "wsl: {} has windows of {} x {} pixels, {} apart, which do not fit on {} x {} with a padding of {}",
        name, how.over.height, how.over.width, how.over.dilation, size.height, size.width, how.over.padding));
  if (how.output_padding != image_size{})
    throw std::invalid_argument(
        fmt::format("wsl: {} has an output padding, which only transposed convolutions have", name));
  const image_size windows = how.over.windows_on(size);
  return add(name, convolution_stage(size, how), {x}, outputs, std::move(own),
             image(windows.height, windows.width));
}

WSL_ML_COMPILED_PART int network::transposed_convolution(const std::string& name, int x, int outputs,
                                                         const convolution_settings& how) {
  const image_size size = image_of(x);
  std::vector<parameter> own = of_convolution(name, outputs, width(x), how);
  if (how.groups != 1)
    throw std::invalid_argument(
        fmt::format("wsl: {} is a transposed convolution, which has no groups", name));
  image_size of_y = how.over.image_of(size);
  for (const int more : {how.output_padding.height, how.output_padding.width})
    if (more < 0 || more >= std::max(how.over.stride, how.over.dilation))
      throw std::invalid_argument(fmt::format(
          "wsl: {} has an output padding of {} x {}: from 0 to less than the stride or the dilation", name,
          how.output_padding.height, how.output_padding.width));
  of_y.height += how.output_padding.height, of_y.width += how.output_padding.width;
  const int axis = image(of_y.height, of_y.width);
  return add(name, transposed_convolution_stage(size, of_y, how), {x}, outputs, std::move(own), axis);
}

WSL_ML_COMPILED_PART int network::pool(const std::string& name, int x, pooling how,
                                       const sliding_window& over) {
  const image_size size = image_of(x);
  if (over.height < 1 || over.width < 1 || over.stride < 1 || over.padding < 0 || over.dilation < 1 ||
      2 * over.padding > over.height || 2 * over.padding > over.width || !over.fits(size))
    throw std::invalid_argument(fmt::format(
        "wsl: {} has windows of {} x {} pixels, a stride of {}, a padding of {} and a dilation of "
        "{}: they fit on {} x {}, and the padding is at most half a window",
        name, over.height, over.width, over.stride, over.padding, over.dilation, size.height, size.width));
  const image_size windows = over.windows_on(size);
  return add(name, pooling_stage(how, size, over), {x}, shape_of(x), {},
             image(windows.height, windows.width));
}

WSL_ML_COMPILED_PART int network::concatenation(const std::string& name, const std::vector<int>& parts) {
  if (parts.empty()) throw std::invalid_argument(fmt::format("wsl: {} joins no values", name));
  std::vector<int> widths;
  i64 all = 0;
  for (const int x : parts) widths.push_back(width(x)), all += width(x);
  if (all > largest_width) throw std::invalid_argument(fmt::format("wsl: {} has {} features", name, all));
  return add(name, concatenation_stage(std::move(widths)), {parts.begin(), parts.end()},
             static_cast<int>(all));
}

WSL_ML_COMPILED_PART int network::batch_norm(const std::string& name, int x, f32 epsilon, f32 momentum) {
  if (!(momentum > 0 && momentum <= 1))
    throw std::invalid_argument(fmt::format(
        "wsl: the statistics of {} follow those of a batch by a momentum above 0, and up to 1, not by {}",
        name, momentum));
  const int n = width(x);
  return add(name, batch_norm_stage(epsilon), {x}, shape_of(x),
             {{.name = "running mean", .columns = n, .start = initial::constant(0), .follows = momentum},
              {.name = "running variance", .columns = n, .start = initial::constant(1), .follows = momentum},
              {"gain", 1, n, initial::constant(1)},
              {"bias", 1, n, initial::constant(0)}});
}

WSL_ML_COMPILED_PART int network::group_norm(const std::string& name, int x, int groups, f32 epsilon) {
  const int n = width(x);
  if (groups < 1 || n % groups)
    throw std::invalid_argument(
        fmt::format("wsl: {} cuts the {} into {} groups: their number divides that of the features", name,
                    of(x), groups));
  return add(name, image_norm_stage(groups, n / groups, epsilon), {x}, shape_of(x),
             {{"gain", 1, n, initial::constant(1)}, {"bias", 1, n, initial::constant(0)}});
}

WSL_ML_COMPILED_PART int network::embedding_of(const std::string& name, int ids, int width,
                                               const embedding_settings& how) {
  const value_info& x = info(ids);
  if (!x.is_ids() || x.each != shape(1))
    throw std::invalid_argument(
        fmt::format("wsl: {} looks up one id of each token, which {} are not", name, of(ids)));
  if (how.unused < 0 || (how.padding && how.unused < 1))
    throw std::invalid_argument(fmt::format("wsl: {} has {} unused rows of positions: at least {}", name,
                                            how.unused, how.padding ? "1, for the id of padding" : "0"));
  limit_positions(how.positions, x.axis);
  if (how.where >= 0 && how.padding)
    throw std::invalid_argument(fmt::format(
        "wsl: {} counts positions from the tokens that are no padding, or by position ids, not by both",
        name));
  std::vector<parameter> tables;
  if (how.table < 0) tables.push_back({"tokens", x.ids_below, width, how.start});
  else if (const parameter& p = parameters_.at(static_cast<std::size_t>(how.table));
           p.rows != x.ids_below || p.columns != width)
    throw std::invalid_argument(
        fmt::format("wsl: {} has a table of {} rows of {}, which {} is not: it has {} of {}", name,
                    x.ids_below, width, p.name, p.rows, p.columns));
  if (how.positions) tables.push_back({"positions", how.unused + how.positions, width, how.start});
  const int y = next_value();
  add(name, std::make_unique<embedding_stage>(y, how.unused, how.padding, how.not_learnt),
      with_positions(name, {ids}, how.where), width, std::move(tables));
  std::vector<int>& of = stages_[stage_count() - 1]->parameters;
  if (how.table >= 0) of.insert(of.begin(), how.table);
  find_gradients(*stages_[stage_count() - 1]);
  return y;
}

WSL_ML_COMPILED_PART int network::linear(const std::string& name, int x, int outputs, bool bias,
                                         initial start, initial bias_start) {
  std::vector<parameter> parameters;
  if (bias) parameters.push_back({"bias", 1, outputs, bias_start});
  parameters.push_back({"weight", outputs, width(x), start});
  const int y =
      add(name, std::make_unique<linear_stage>(x, next_value(), bias), {x}, outputs, std::move(parameters));
  return adapted(name, x, y, stages_[stage_count() - 1]->parameters.back());
}

WSL_ML_COMPILED_PART void network::adapt(const adapter_settings& how) {
  const auto check = [](int rank, f32 alpha) {
    if (rank < 1 || !std::isfinite(alpha))
      throw std::invalid_argument(fmt::format(
          "wsl: adapters have a rank of at least 1 and a finite alpha, not {} and {}", rank, alpha));
  };
  check(how.rank, how.alpha);
  for (const adapted_layers& of : how.layers) check(of.rank.value_or(how.rank), of.alpha.value_or(how.alpha));
  check_probability("the dropout of adapters", how.dropout);
  adapting_ = how;
}

WSL_ML_COMPILED_PART int network::adapted(const std::string& name, int x, int y, int weight) {
  const int outputs = width(y);
  std::vector<adapted_layers> all;
  std::vector<feature_run> taken;
  for (const adapted_layers& of : adapting_.layers) {
    if (::fnmatch(of.pattern.c_str(), name.c_str(), 0) != 0) continue;
    all.push_back(of);
    if (of.parts.empty()) all.back().parts.push_back({0, outputs});
    const std::vector<feature_run>& parts = all.back().parts;
    for (std::size_t k = 0, end = 0; k < parts.size(); end = static_cast<std::size_t>(parts[k++].end()))
      if (parts[k].count < 1 || parts[k].first < static_cast<int>(end) || parts[k].end() > outputs)
        throw std::invalid_argument(fmt::format(
            "wsl: an adapter of {} is for outputs {} to {}: parts have outputs of the layer, of which "
            "there are {}, in ascending order, and do not overlap",
            name, parts[k].first, parts[k].end() - 1, outputs));
    taken.insert(taken.end(), parts.begin(), parts.end());
  }
  if (all.empty()) return y;
  std::sort(taken.begin(), taken.end(), [](const auto& p, const auto& q) { return p.first < q.first; });
  for (std::size_t k = 1; k < taken.size(); ++k)
    if (taken[k].first < taken[k - 1].end())
      throw std::invalid_argument(fmt::format(
          "wsl: output {} of {} has two adapters: name each part of a layer once", taken[k].first, name));
  const int from = dropout(name + " lora_dropout", x, adapting_.dropout);
  for (std::size_t k = 0; k < all.size(); ++k)
    y = sum(all.size() == 1 ? name + " lora" : fmt::format("{} lora {}", name, k), y,
            adapter_of(k == 0 ? name : fmt::format("{} {}", name, all[k].parts.front().first), name, from,
                       outputs, weight, all[k]));
  return y;
}

WSL_ML_COMPILED_PART int network::adapter_of(const std::string& name, const std::string& layer, int from,
                                             int outputs, int weight, const adapted_layers& how) {
  const int rank = how.rank.value_or(adapting_.rank), inside = rank * static_cast<int>(how.parts.size());
  const f32 factor = how.alpha.value_or(adapting_.alpha) / static_cast<f32>(rank);
  const int h =
      add(name + " lora_A", linear_stage(from, next_value(), false), {from}, inside,
          {{"weight", inside, width(from), initial::uniform(1 / std::sqrt(static_cast<f32>(width(from))))}});
  const int a = stages_[stage_count() - 1]->parameters.back();
  const int z =
      add(name + " lora_B", low_rank_stage(rank, how.parts), {scale(name + " lora_scale", h, factor)},
          outputs, {{"weight", outputs, rank, initial::constant(0)}});
  const int b = stages_[stage_count() - 1]->parameters.back();
  adapters_.push_back({layer, weight, a, b, how.parts, factor});
  return z;
}

WSL_ML_COMPILED_PART void network::train_adapters(std::vector<std::string> and_patterns) {
  for (const adapted_layers& of : adapting_.layers)
    if (std::none_of(adapters_.begin(), adapters_.end(), [&](const adapter& a) {
          return ::fnmatch(of.pattern.c_str(), a.layer.c_str(), 0) == 0;
        }))
      throw std::invalid_argument(fmt::format(
          "wsl: adapters are for layers called {}, and the model has no linear layer of that name",
          of.pattern));
  and_patterns.push_back("* lora_[AB].weight");
  freeze_all_but(and_patterns);
}

WSL_ML_COMPILED_PART int network::tied_linear(const std::string& name, int x, int table, bool bias) {
  const parameter& p = parameters_.at(static_cast<std::size_t>(table));
  if (p.columns != width(x))
    throw std::invalid_argument(
        fmt::format("wsl: these two layers do not fit: the second takes another number of features than "
                    "the first gives: {}, and {} takes the {} of {}",
                    of(x), name, p.columns, p.name));
  const int rows = p.rows;
  std::vector<parameter> own;
  if (bias) own.push_back({"bias", 1, rows, initial::constant(0)});
  const int y = add(name, std::make_unique<linear_stage>(x, next_value(), bias), {x}, rows, std::move(own));
  stages_[stage_count() - 1]->parameters.push_back(table);
  find_gradients(*stages_[stage_count() - 1]);
  return y;
}

WSL_ML_COMPILED_PART int network::norm(const std::string& name, int x, f32 epsilon, bool centred, bool bias) {
  std::vector<parameter> parameters{{"gain", 1, width(x), initial::constant(1)}};
  if (bias && centred) parameters.push_back({"bias", 1, width(x), initial::constant(0)});
  return add(name, std::make_unique<norm_stage>(x, next_value(), centred, epsilon), {x}, shape_of(x),
             std::move(parameters));
}

WSL_ML_COMPILED_PART int network::attention(const std::string& name, int qkv, const attention_heads& heads,
                                            int mask, int where) {
  return attention(name, {qkv}, heads, head_width(name, qkv, heads), mask, where);
}

WSL_ML_COMPILED_PART int network::cross_attention(const std::string& name, int queries, int kv,
                                                  const attention_heads& heads, int mask) {
  if (heads.queries < 1 || width(queries) % heads.queries || heads.keys < 0 ||
      heads.queries % heads.groups() ||
      i64{width(kv)} * heads.queries != 2 * i64{width(queries)} * heads.groups())
    throw std::invalid_argument(fmt::format(
        "wsl: heads must divide the features, and heads of keys those of queries: {} shares out the {} to "
        "{} heads of queries, and the {} to {} heads of keys and of values",
        name, of(queries), heads.queries, of(kv), heads.groups()));
  if (heads.causal || heads.alibi)
    throw std::invalid_argument(fmt::format(
        "wsl: {} compares positions in two sequences: cross-attention is not causal and has no ALiBi", name));
  return attention(name, {queries, kv}, heads, width(queries) / heads.queries, mask, -1);
}

WSL_ML_COMPILED_PART int network::attention(const std::string& name, std::vector<stage_input> inputs,
                                            const attention_heads& heads, int head, int mask, int where) {
  check_probability(name, heads.dropout);
  if (heads.window < 0 || (heads.window > 0 && !heads.causal))
    throw std::invalid_argument(
        fmt::format("wsl: {} has a window of {} tokens: causal attention has one of at least 1, or 0 for all",
                    name, heads.window));
  const bool is_cross = inputs.size() > 1;
  const int axis_of_keys = info(inputs.back().value).axis, axis = info(inputs[0].value).axis;
  if (mask >= 0) {
    if (!info(mask).is_ids() || info(mask).each != shape(1) || info(mask).axis != axis_of_keys)
      throw std::invalid_argument(
          fmt::format("wsl: the mask of {} is one id for each of {}, which {} are not", name,
                      axis_name(axis_of_keys), of(mask)));
    inputs.emplace_back(mask);
  }
  if (where >= 0 && (mask >= 0 || !heads.causal))
    throw std::invalid_argument(
        fmt::format("wsl: {} keeps documents apart: it is causal, and no mask hides tokens beside", name));
  inputs = with_positions(name, std::move(inputs), where);
  using last_input = attention_stage::last_input;
  const last_input last = mask >= 0    ? last_input::mask
                          : where >= 0 ? last_input::positions
                                       : last_input::features;
  const relative_positions& r = heads.relative;
  const int least = heads.causal ? 2 : 4;
  if (r.buckets && (r.buckets < least || r.buckets % (least / 2) || r.max_distance <= r.buckets))
    throw std::invalid_argument(
        fmt::format("wsl: {} has {} buckets of distances up to {}: at least {}, an even number unless it "
                    "is causal, and "
                    "fewer than distances",
                    name, r.buckets, r.max_distance, least));
  std::vector<parameter> own;
  if (r.buckets && r.table < 0)
    own.push_back({.name = "relative",
                   .rows = r.buckets,
                   .columns = heads.queries,
                   .start = r.start,
                   .undivided = true});
  const int y = add(name, std::make_unique<attention_stage>(next_value(), heads, head, is_cross, last),
                    inputs, heads.queries * head, std::move(own), axis);
  if (r.buckets && r.table >= 0) {
    const parameter& p = parameters_.at(static_cast<std::size_t>(r.table));
    if (p.rows != r.buckets || p.columns != heads.queries || !p.undivided)
      throw std::invalid_argument(fmt::format("wsl: {} has {} buckets for {} heads, which {} is not", name,
                                              r.buckets, heads.queries, p.name));
    stages_[stage_count() - 1]->parameters.push_back(r.table);
    find_gradients(*stages_[stage_count() - 1]);
  }
  return y;
}

WSL_ML_COMPILED_PART int network::token_projection(const std::string& name, int kv, int heads, int axis,
                                                   int positions, bool shared, bool bias, initial start,
                                                   int mask) {
  const int projected = axes_[static_cast<std::size_t>(existing(axis))].length;
  if (heads < 1 || width(kv) % (2 * heads) || positions < 1 || projected < 1)
    throw std::invalid_argument(fmt::format(
        "wsl: {} projects the {}, keys and values of {} heads, from {} positions to {} of {}: heads "
        "must divide them, and both numbers be at least 1",
        name, of(kv), heads, positions, projected, axis_name(axis)));
  std::vector<stage_input> inputs{kv};
  if (mask >= 0) {
    if (!info(mask).is_ids() || info(mask).each != shape(1) || info(mask).axis != info(kv).axis)
      throw std::invalid_argument(
          fmt::format("wsl: the mask of {} is one id for each of {}, which {} are not", name,
                      axis_name(info(kv).axis), of(mask)));
    inputs.emplace_back(mask);
  }
  limit_positions(positions, info(kv).axis);
  std::vector<parameter> own;
  for (const char* half : {"keys", "values"}) {
    const std::string of_half = shared ? "" : std::string(half) + ".";
    if (bias) own.push_back({of_half + "bias", projected, 1, initial::constant(0)});
    own.push_back({of_half + "weight", projected, positions, start});
    if (shared) break;
  }
  return add(name, std::make_unique<token_projection_stage>(heads, width(kv) / (2 * heads), bias, shared),
             inputs, shape_of(kv), std::move(own), axis);
}

WSL_ML_COMPILED_PART int network::rotary(const std::string& name, int qkv, const attention_heads& heads,
                                         int positions, int features, f64 base, pairs which,
                                         const rotary_scaling& scaling, int where) {
  const int head = head_width(name, qkv, heads), turned = features ? features : head;
  if (turned < 2 || turned > head || turned % 2)
    throw std::invalid_argument(fmt::format(
        "wsl: {} turns {} of the {} features of a head: an even number of at least 2", name, turned, head));
  limit_positions(positions, info(qkv).axis);
  return add(name,
             std::make_unique<rotary_stage>(qkv, next_value(), heads, head,
                                            rotation(positions, turned, base, which, scaling)),
             with_positions(name, {qkv}, where), shape_of(qkv));
}

WSL_ML_COMPILED_PART int network::fixed_positions(const std::string& name, int x, int positions, pairs which,
                                                  int where) {
  limit_positions(positions, info(x).axis);
  return add(name, std::make_unique<sinusoid_stage>(x, next_value(), positions, width(x), which),
             with_positions(name, {x}, where), shape_of(x));
}

WSL_ML_COMPILED_PART std::vector<stage_input> network::with_positions(const std::string& name,
                                                                      std::vector<stage_input> inputs,
                                                                      int where) const {
  if (where < 0) return inputs;
  const int axis = info(inputs[0].value).axis;
  if (!info(where).counts_up || info(where).axis != axis)
    throw std::invalid_argument(
        fmt::format("wsl: {} takes positions of {} (network::position_ids), which {} are not", name,
                    axis_name(axis), of(where)));
  inputs.emplace_back(where);
  return inputs;
}

WSL_ML_COMPILED_PART int network::dropout(const std::string& name, int x, f32 probability) {
  check_probability(name, probability);
  if (probability == 0) return x;
  return add(name, std::make_unique<dropout_stage>(x, next_value(), probability), {x}, shape_of(x));
}

WSL_ML_COMPILED_PART int network::scale(const std::string& name, int x, f32 factor) {
  if (factor == 1) return x;
  return add(name, std::make_unique<scale_stage>(x, next_value(), factor), {x}, shape_of(x));
}

WSL_ML_COMPILED_PART int network::routes(const std::string& name, int scores, int count) {
  if (count < 1 || count > width(scores))
    throw std::invalid_argument(
        fmt::format("wsl: {} sends each token to {} experts: from 1 to all {}", name, count, width(scores)));
  return add(name, std::make_unique<route_stage>(scores, next_value(), count), {scores}, shape_of(scores));
}

WSL_ML_COMPILED_PART int network::mixture(const std::string& name, int routes,
                                          const std::vector<int>& experts) {
  if (experts.size() != static_cast<std::size_t>(width(routes)))
    throw std::invalid_argument(
        fmt::format("wsl: {} mixes {} experts by the {}", name, experts.size(), of(routes)));
  std::vector<stage_input> inputs{routes};
  for (const int x : experts) same_width(name, experts[0], x), inputs.emplace_back(x);
  return add(name, std::make_unique<mixture_stage>(routes, experts, next_value()), inputs,
             shape_of(experts[0]));
}

WSL_ML_COMPILED_PART void network::balance(const std::string& name, const std::vector<int>& scores, int count,
                                           f32 factor) {
  if (scores.empty()) throw std::invalid_argument(fmt::format("wsl: {} balances no experts", name));
  const int experts = width(scores[0]);
  if (count < 1 || count > experts)
    throw std::invalid_argument(
        fmt::format("wsl: {} sends each token to {} experts: from 1 to all {}", name, count, experts));
  for (const int x : scores) same_width(name, scores[0], x);
  loss(name, balance_stage(experts, count), {scores.begin(), scores.end()}, -1, factor);
}

WSL_ML_COMPILED_PART int network::first_token(const std::string& name, int x) {
  return add(name, std::make_unique<first_token_stage>(), {x}, shape_of(x), {}, axis_of_sequences());
}

WSL_ML_COMPILED_PART int network::last_token(const std::string& name, int x, int mask) {
  std::vector<stage_input> inputs{x};
  if (mask >= 0) {
    if (!info(mask).is_ids() || info(mask).axis != info(x).axis)
      throw std::invalid_argument(
          fmt::format("wsl: the mask of {} is an id for each token of {}, which {} are not", name,
                      info(x).name, of(mask)));
    inputs.emplace_back(mask, shape(1));
  }
  return add(name, std::make_unique<last_token_stage>(), inputs, shape_of(x), {}, axis_of_sequences());
}

WSL_ML_COMPILED_PART int network::log_probability(const std::string& name, int logits,
                                                  const log_probability_settings& how) {
  const int classes = width(logits), axis = info(logits).axis,
            right = how.targets >= 0 ? how.targets : ids("labels", classes, 1, axis);
  value_info& targets = values_.at(static_cast<std::size_t>(right));
  if (targets.ids_below != classes || targets.axis != axis || targets.from != origin::input)
    throw std::invalid_argument(
        fmt::format("wsl: {} has {}; it takes an id below {} for each of their tokens, which a batch has "
                    "that is predicted, "
                    "not {}",
                    name, of(logits), classes, of(right)));
  targets.ignored = how.ignore_index;
  return add(name, log_probability_stage(classes, how), {logits, {right, shape(1)}}, 1, {},
             axis_of_sequences());
}

WSL_ML_COMPILED_PART int network::axis_of_sequences() {
  for (std::size_t k = 1; k < axes_.size(); ++k)
    if (axes_[k].length == 1) return static_cast<int>(k);
  return axis("sequences", 1);
}

WSL_ML_COMPILED_PART int network::sum(const std::string& name, int a, int b) {
  same_width(name, a, b);
  return add(name, std::make_unique<sum_stage>(a, b, next_value()), {a, b}, shape_of(a));
}

WSL_ML_COMPILED_PART void network::cross_entropy(const std::string& name, int logits,
                                                 const cross_entropy_settings& how) {
  const shape each = shape_of(logits);
  const int count = each.last(), positions = width(logits) / count;
  const int right = how.targets >= 0 ? how.targets : classes("targets", count, positions, info(logits).axis);
  value_info& targets = values_.at(static_cast<std::size_t>(right));
  if (targets.ids_below != count || targets.width() != positions)
    throw std::invalid_argument(fmt::format(
        "wsl: {} has {}, of which the last axis are classes; it takes {} classes below {}, not {}", name,
        of(logits), positions, count, of(right)));
  targets.ignored = how.ignore_index;
  loss(name, cross_entropy_stage(count, how), {logits, right}, how.mask, how.factor);
}

WSL_ML_COMPILED_PART void network::binary_cross_entropy(const std::string& name, int logits,
                                                        const loss_settings& how) {
  elementwise<binary_cross_entropy_of_logit>(name, logits, how);
}

WSL_ML_COMPILED_PART void network::mean_squared_error(const std::string& name, int x,
                                                      const loss_settings& how) {
  elementwise<squared_error>(name, x, how);
}

WSL_ML_COMPILED_PART void network::retrieval(const std::string& name, int questions,
                                             const std::vector<int>& passages,
                                             const retrieval_settings& how) {
  if (passages.empty()) throw std::invalid_argument(fmt::format("wsl: {} has no passages", name));
  if (!(how.temperature > 0) || std::isinf(how.temperature))
    throw std::invalid_argument(
        fmt::format("wsl: {} divides scores by a temperature above 0, not by {}", name, how.temperature));
  std::vector<stage_input> inputs{questions};
  for (const int x : passages) same_width(name, questions, x), inputs.emplace_back(x);
  for (const stage_input& x : inputs)
    if (axes_[static_cast<std::size_t>(info(x.value).axis)].length != 1)
      throw std::invalid_argument(fmt::format(
          "wsl: {} compares one vector of each sequence, such as that of network::first_token, not the {}",
          name, of(x.value)));
  const int count = static_cast<int>(passages.size());
  if (how.mask >= 0) {
    if (!info(how.mask).is_ids() || info(how.mask).axis != info(questions).axis)
      throw std::invalid_argument(
          fmt::format("wsl: the mask of {} is an id for each passage of a sequence, which {} are not", name,
                      of(how.mask)));
    inputs.emplace_back(how.mask, shape(count));
  }
  loss(name, retrieval_loss(count, how.mask >= 0, how), inputs, -1, how.factor);
}

WSL_ML_COMPILED_PART void network::preference(const std::string& name, int x,
                                              const preference_loss_settings& how) {
  const auto require = [&](bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument(fmt::format("wsl: {} {}", name, what));
  };
  require(how.beta > 0 && !std::isinf(how.beta), fmt::format("has a beta above 0, not {}", how.beta));
  require(how.label_smoothing >= 0 && how.label_smoothing < 0.5f,
          fmt::format("has a label smoothing of at least 0 and below 0.5, not {}", how.label_smoothing));
  require(how.label_smoothing == 0 || how.kind == preference_kind::sigmoid,
          "smooths labels, which only the loss sigmoid does");
  require(!how.penalty || how.kind == preference_kind::dpop, "has a penalty, which only the loss dpop has");
  require(!how.penalty || (*how.penalty >= 0 && !std::isinf(*how.penalty)),
          fmt::format("has a penalty of at least 0, not {}", how.penalty.value_or(0)));
  require(how.kind != preference_kind::dpop || !how.reference_free,
          "is dpop, which compares with a reference: reference_free is for the other losses");
  require(how.reference < 0 || !how.reference_free,
          "is free of a reference, and is given one: leave one of both out");
  require(axes_[static_cast<std::size_t>(info(x).axis)].length == 1 && width(x) == 1,
          fmt::format(
              "compares one number of each sequence, such as that of network::log_probability, not the {}",
              of(x)));
  std::vector<stage_input> inputs{{x, shape(1)}};
  if (!how.reference_free)
    inputs.emplace_back(how.reference >= 0 ? how.reference : target(reference_log_probs, 1, info(x).axis),
                        shape(1));
  loss(name, preference_loss(how), inputs, -1, how.factor);
}

WSL_ML_COMPILED_PART int network::scale_rates(const std::vector<std::string>& patterns, f32 factor) {
  if (!(factor >= 0) || std::isinf(factor))
    throw std::invalid_argument(
        fmt::format("wsl: a factor of a learning rate is a number of at least 0, not {}", factor));
  int found = 0;
  for (parameter& p : parameters_) {
    if (std::none_of(patterns.begin(), patterns.end(),
                     [&](const std::string& x) { return ::fnmatch(x.c_str(), p.name.c_str(), 0) == 0; }))
      continue;
    if (p.rate_factor != 1)
      throw std::invalid_argument(fmt::format("wsl: the learning rate of {} has two factors, {} and {}",
                                              p.name, p.rate_factor, factor));
    p.rate_factor = factor, ++found;
  }
  if (!found)
    throw std::invalid_argument(fmt::format(
        "wsl: a factor of the learning rate is for no parameter: none is called {}; the first is {}",
        patterns.empty() ? "nothing" : patterns.front(),
        parameters_.empty() ? "missing, too" : parameters_.front().name));
  return found;
}

WSL_ML_COMPILED_PART int network::freeze(const std::vector<std::string>& patterns, bool matching) {
  int found = 0;
  for (parameter& p : parameters_) {
    const bool matches = std::any_of(patterns.begin(), patterns.end(), [&](const std::string& x) {
      return ::fnmatch(x.c_str(), p.name.c_str(), 0) == 0;
    });
    found += matches;
    p.frozen = p.frozen || matches == matching;
  }
  if (!found)
    throw std::invalid_argument(fmt::format("wsl: no parameter to {} is called {}; the first is {}",
                                            matching ? "freeze" : "train",
                                            patterns.empty() ? "nothing" : patterns.front(),
                                            parameters_.empty() ? "missing, too" : parameters_.front().name));
  for (const auto& s : stages_) find_gradients(*s);
  return found;
}

WSL_ML_COMPILED_PART void network::find_gradients(stage& s) {
  s.wanted.assign(s.inputs.size(), false), s.frozen.assign(s.parameters.size(), false);
  s.goes_back = false;
  for (std::size_t k = 0; k < s.inputs.size(); ++k) {
    s.wanted[k] = wanted_[static_cast<std::size_t>(s.inputs[k])];
    s.goes_back = s.goes_back || s.wanted[k];
  }
  for (std::size_t k = 0; k < s.parameters.size(); ++k) {
    s.frozen[k] = parameters_[static_cast<std::size_t>(s.parameters[k])].frozen;
    s.goes_back = s.goes_back || !s.frozen[k];
  }
  if (writes_output(s)) wanted_[static_cast<std::size_t>(s.output)] = s.goes_back;
}

WSL_ML_COMPILED_PART int network::new_value(value_info v) {
  for (int k = 0; k < v.each.axes(); ++k)
    if (v.each[k] < 1 || v.each.size() > largest_width)
      throw std::invalid_argument(fmt::format("wsl: {} has {} features", v.name, v.each.text()));
  widths_.push_back(v.is_ids() ? 0 : v.width());
  wanted_.push_back(false);
  values_.push_back(std::move(v));
  return next_value() - 1;
}

WSL_ML_COMPILED_PART int network::new_host_value(value_info v) {
  for (const value_info& other : values_)
    if (other.from != origin::computed && other.name == v.name)
      throw std::invalid_argument(
          fmt::format("wsl: the model has two inputs or targets called {}: give each a name", v.name));
  return new_value(std::move(v));
}

WSL_ML_COMPILED_PART int network::common_ids(const std::string& name, int vocabulary) {
  for (int v = 0; v < next_value(); ++v)
    if (value_info& x = values_[static_cast<std::size_t>(v)]; x.name == "ids" && x.from == origin::input) {
      if (x.ids_below != vocabulary)
        throw std::invalid_argument(
            fmt::format("wsl: {} has a vocabulary of {}, but the ids of the model are below {}", name,
                        vocabulary, x.ids_below));
      return v;
    }
  return ids("ids", vocabulary);
}

WSL_ML_COMPILED_PART int network::at_least_one(const std::string& name, int end) {
  if (end < 1)
    throw std::invalid_argument(
        fmt::format("wsl: {} are numbers from 0 to below {}: at least one is needed, such as a vocabulary of "
                    "1 or more",
                    name, end));
  return end;
}

WSL_ML_COMPILED_PART int network::new_parameter(parameter p) {
  if (p.rows < 1 || p.columns < 1)
    throw std::invalid_argument(fmt::format("wsl: {} has {} rows of {}", p.name, p.rows, p.columns));
  if (shared_) {
    const parameter* const other = *shared_ < static_cast<int>(parameters_.size())
                                       ? &parameters_.at(static_cast<std::size_t>(*shared_))
                                       : nullptr;
    if (!other || other->rows != p.rows || other->columns != p.columns)
      throw std::invalid_argument(fmt::format(
          "wsl: {}, {} rows of {}, shares the parameter of another layer, {}", p.name, p.rows, p.columns,
          other ? fmt::format("{}, which has {} rows of {}", other->name, other->rows, other->columns)
                : "and there are no more"));
    return (*shared_)++;
  }
  parameters_.push_back(std::move(p));
  return static_cast<int>(parameters_.size()) - 1;
}

WSL_ML_COMPILED_PART stage& network::append(const std::string& name, std::unique_ptr<stage> s,
                                            const std::vector<stage_input>& inputs) {
  if (!names_.insert(name).second)
    throw std::invalid_argument(fmt::format(
        "wsl: the model has two layers called {}: checkpoints and reports need a name for each", name));
  s->name = name;
  for (const stage_input& x : inputs) {
    s->inputs.push_back(x.value);
    s->given.push_back(info(x.value).from != origin::computed);
  }
  const bool is_loss = dynamic_cast<const loss_stage*>(s.get());
  const auto at = is_loss ? stages_.end() : stages_.end() - static_cast<std::ptrdiff_t>(losses_.size());
  const auto placed = stages_.insert(at, std::move(s));
  const std::size_t number = static_cast<std::size_t>(placed - stages_.begin());
  for (std::size_t k = number; k < stages_.size(); ++k) stages_[k]->number = static_cast<int>(k);
  return *stages_[number];
}

WSL_ML_COMPILED_PART void network::require_shape(const std::string& name, const stage_input& x) const {
  if (x.value < 0 || x.value >= next_value())
    throw std::invalid_argument(fmt::format("wsl: {} reads value {}, but the model has {} values so far",
                                            name, x.value, next_value()));
  if (x.takes &&
      (info(x.value).is_ids() ? info(x.value).each != *x.takes : !fits(shape_of(x.value), *x.takes)))
    throw std::invalid_argument(
        fmt::format("wsl: {} takes {} features, but reads the {}", name, x.takes->text(), of(x.value)));
}

WSL_ML_COMPILED_PART int network::head_width(const std::string& name, int qkv,
                                             const attention_heads& h) const {
  const int parts = h.queries + 2 * h.groups();
  if (h.queries >= 1 && h.keys >= 0 && h.queries % h.groups() == 0 && width(qkv) % parts == 0)
    return width(qkv) / parts;
  throw std::invalid_argument(
      fmt::format("wsl: heads must divide the features, and heads of keys those of queries: {} shares out "
                  "the {} to {} heads of queries, {} of keys and {} of values",
                  name, of(qkv), h.queries, h.groups(), h.groups()));
}

WSL_ML_COMPILED_PART void network::check_probability(const std::string& name, f32 p) {
  if (!(p >= 0 && p < 1))
    throw std::invalid_argument(
        fmt::format("wsl: {} drops with a probability of at least 0 and below 1, not {}", name, p));
}

WSL_ML_COMPILED_PART std::string network::of(int value) const {
  const value_info& v = info(value);
  return v.is_ids() ? fmt::format("{} ids of {} below {}", v.each.text(), v.name, v.ids_below)
                    : fmt::format("{} features of {}", v.each.text(), v.name);
}

WSL_ML_COMPILED_PART void network::same_width(const std::string& name, int a, int b) const {
  if (!fits(shape_of(a), shape_of(b)))
    throw std::invalid_argument(
        fmt::format("wsl: what is joined must have equally many features on both sides: {} joins {} with {}",
                    name, of(a), of(b)));
}

WSL_ML_COMPILED_PART int network::existing(int axis) const {
  if (axis < 0 || axis >= static_cast<int>(axes_.size()))
    throw std::invalid_argument(
        fmt::format("wsl: there is no axis {}: the model has {} so far", axis, axes_.size()));
  return axis;
}

WSL_ML_COMPILED_PART void network::require_axis(const std::string& name, const stage& s,
                                                const std::vector<stage_input>& inputs, int axis) const {
  for (const stage_input& x : inputs)
    if (info(x.value).axis != axis && !s.needs_whole_sequences())
      throw std::invalid_argument(
          fmt::format("wsl: {} is computed token by token for {}, but the {} are for {}", name,
                      axis_name(axis), of(x.value), axis_name(info(x.value).axis)));
}

WSL_ML_COMPILED_PART void network::require_cut_of_parameters(const std::string& name, const stage& s,
                                                             const shape& output,
                                                             const std::vector<parameter>& parameters) {
  if (s.how_cut() != stage_cut::by_output && s.how_cut() != stage_cut::by_feature) return;
  for (const parameter& p : parameters)
    if (p.rows != output.size() && !(p.rows == 1 && p.columns == output.size()))
      throw std::invalid_argument(
          fmt::format("wsl: {} is cut {}, so columns of workers share out its parameters: {} has a row for "
                      "each of the {} "
                      "features of the output, or is a vector of as many numbers, not {} x {}",
                      name, s.how_cut() == stage_cut::by_output ? "by output" : "by feature", p.name,
                      output.size(), p.rows, p.columns));
}

WSL_ML_COMPILED_PART void network::require_groups_of_prefix(const std::string& name, const stage& s) {
  const int first = s.reads_of_prefix().first_group;
  if (first < 0) return;
  const auto require = [&](bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument(fmt::format("wsl: {} reads a prefix: {}", name, what));
  };
  require(s.how_cut() == stage_cut::by_head, "how_cut() must be stage_cut::by_head");
  require(s.needs_whole_sequences(), "needs_whole_sequences() must be true");
  const int groups = static_cast<int>(s.groups_of_input(0).size());
  require(first < groups,
          fmt::format("groups_of_input(0) has {} groups, of which there is none number {}", groups, first));
  require(s.reads_of_prefix().window >= 0,
          fmt::format("its window is 0, for all earlier tokens, or a number of tokens, not {}",
                      s.reads_of_prefix().window));
}

#ifdef WSL_ML_COMPILED
template int network::activation<gelu>(const std::string&, int);
template int network::activation<gelu_tanh>(const std::string&, int);
template int network::activation<quick_gelu>(const std::string&, int);
template int network::activation<relu>(const std::string&, int);
template int network::activation<silu>(const std::string&, int);
template int network::gate<gelu>(const std::string&, int, int);
template int network::gate<gelu_tanh>(const std::string&, int, int);
template int network::gate<relu>(const std::string&, int, int);
template int network::gate<silu>(const std::string&, int, int);
#endif

}  // namespace wsl::ml
