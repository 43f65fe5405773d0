// SPDX-License-Identifier: MIT
// Training on the fabric: models, optimizers and the trainer that streams weights past the
// activations.
#pragma once
#include "ml/model/block.hpp"
#include "ml/model/decoder.hpp"
#include "ml/optim/grad_scaler.hpp"
#include "ml/optim/schedule.hpp"
#include "ml/run/sample.hpp"
#include "ml/train/pipelined_trainer.hpp"
#include "ml/train/trainer.hpp"
