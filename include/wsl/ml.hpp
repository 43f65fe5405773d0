// SPDX-License-Identifier: MIT
// Floor 6: training on the fabric. Models, optimizers and the trainer that streams weights past the activations.
#pragma once
#include "ml/model/block.hpp"
#include "ml/model/decoder.hpp"
#include "ml/optim/schedule.hpp"
#include "ml/pipelined_trainer.hpp"
#include "ml/sample.hpp"
#include "ml/trainer.hpp"
