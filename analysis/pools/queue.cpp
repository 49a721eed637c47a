// A heap of events; each end frees slots, and the head of the queue takes them.

#include "analysis/pools/queue.hpp"

#include <algorithm>
#include <utility>

namespace backreach {

int PoolQueue::AddPool(std::int64_t slots) {
  pools_.push_back({slots, 0, {}});
  return static_cast<int>(pools_.size()) - 1;
}

void PoolQueue::Wake(double at, int owner) { events_.push({std::max(at, now_), made_++, false, owner, {}}); }

void PoolQueue::Submit(PoolWork work) {
  work.submitted = now_;
  if (work.pool < 0) return Start(work);
  Pool& pool = pools_[static_cast<std::size_t>(work.pool)];
  pool.queue.push_back(work);
  Fill(pool);
}

void PoolQueue::Start(PoolWork work) {
  work.started = now_;
  events_.push({now_ + work.seconds, made_++, true, work.owner, work});
}

void PoolQueue::Fill(Pool& pool) {
  while (!pool.queue.empty() && pool.taken + pool.queue.front().slots <= pool.slots) {
    pool.taken += pool.queue.front().slots;
    Start(pool.queue.front());
    pool.queue.pop_front();
  }
}

bool PoolQueue::Next(const std::function<void(int)>& woken,
                     const std::function<void(const PoolWork&)>& ended) {
  if (events_.empty()) return false;
  const Event event = events_.top();
  events_.pop();
  now_ = event.at;
  if (!event.ends) {
    woken(event.owner);
    return true;
  }
  if (event.work.pool >= 0) {
    Pool& pool = pools_[static_cast<std::size_t>(event.work.pool)];
    pool.taken -= event.work.slots;
    ended(event.work);
    Fill(pool);
  } else {
    ended(event.work);
  }
  return true;
}

}  // namespace backreach
