// Work that waits for slots of pools, by events: what is submitted first starts first, as soon as as many
// slots as it takes are free. Times are seconds from any beginning.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

namespace backreach {

struct PoolWork {
  int pool = -1;  // -1: it waits for nothing
  std::int64_t slots = 1;
  double seconds = 0;
  int owner = 0;  // whose it is, for whoever submitted it
  double submitted = 0, started = 0;
};

class PoolQueue {
 public:
  // A pool of so many slots; its number.
  int AddPool(std::int64_t slots);
  // Calls `wake` with `owner` at a time.
  void Wake(double at, int owner);
  void Submit(PoolWork work);
  // The next event: true if there was one. `woken` and `ended` may submit more.
  bool Next(const std::function<void(int owner)>& woken, const std::function<void(const PoolWork&)>& ended);
  double now() const { return now_; }
  // Slots of a pool that are taken, and how many pieces of work wait for it.
  std::int64_t Taken(int pool) const { return pools_[static_cast<std::size_t>(pool)].taken; }
  std::size_t Waiting(int pool) const { return pools_[static_cast<std::size_t>(pool)].queue.size(); }

 private:
  struct Pool {
    std::int64_t slots = 0, taken = 0;
    std::deque<PoolWork> queue;
  };
  struct Event {
    double at;
    std::uint64_t order;  // events of one moment happen in the order in which they were made
    bool ends;
    int owner;
    PoolWork work;
    friend bool operator>(const Event& a, const Event& b) {
      if (a.at != b.at) return a.at > b.at;
      return a.order > b.order;
    }
  };
  void Start(PoolWork work);
  void Fill(Pool& pool);

  double now_ = 0;
  std::uint64_t made_ = 0;
  std::vector<Pool> pools_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace backreach
