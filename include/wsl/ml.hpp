// SPDX-License-Identifier: MIT
// Floor 6: training on the fabric. Models, optimizers and the trainer that streams weights past the
// activations.
#pragma once
#include "ml/model/block.hpp"
#include "ml/model/decoder.hpp"
#include "ml/optim/schedule.hpp"
#include "ml/run/sample.hpp"
#include "ml/train/pipelined_trainer.hpp"
#include "ml/train/trainer.hpp"
