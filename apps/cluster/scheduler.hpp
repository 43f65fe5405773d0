// SPDX-License-Identifier: MIT
// Which jobs start now, and where: a function of the nodes, the jobs that run and those that wait, and of
// nothing else. The first job of the queue that does not fit waits, and those behind it with it: so none
// waits for ever while smaller ones pass it by.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job.hpp"

namespace cluster {

/// What a node offers.
struct capacity {
  std::array<int, 4> slots{};  ///< processes of each role
  int millicores = 0;
  i64 memory = 0;
};

struct waiting_job {
  i64 id = 0;
  std::string user;
  int priority = usual_priority;
  demand asks;
};

struct queue_state {
  std::vector<capacity> nodes;
  bool roles = false;                             ///< whether a job has processes besides its wafers
  std::vector<std::vector<placed_rank>> running;  ///< the processes of each job that runs
  std::vector<waiting_job> waiting;
  std::map<std::string, i64>
      last_turn;  ///< of a user: the number of his or her last start; 0 if there is none
  i64 turns = 0;  ///< the number of starts until now
};

struct decision {
  i64 id = 0;
  std::vector<placed_rank> ranks;
};

/// What the nodes have left beside these processes.
std::vector<capacity> left_of(std::vector<capacity> nodes,
                              const std::vector<std::vector<placed_rank>>& running);

/// The processes of a job, in the order of their ranks: memoryx, swarmx if there are several wafers, wafers,
/// input; or wafers only. A process takes an even share of its node's memory, and of its cores one part or,
/// as a wafer, four, unless the job asks for other sizes of its wafers. Few nodes are better than many. None
/// if it does not fit into what is left.
std::optional<std::vector<placed_rank>> place(const std::vector<capacity>& nodes,
                                              const std::vector<capacity>& left, bool roles,
                                              const demand& asks);

/// The waiting jobs in the order in which they start: by priority, then by whose turn it is (the user whose
/// last start is longest ago), then by age.
std::vector<waiting_job> in_order(const queue_state& s);

/// The jobs that start now, in order.
std::vector<decision> decide(queue_state s);

}  // namespace cluster
