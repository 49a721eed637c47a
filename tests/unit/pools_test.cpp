// The queue of a pool, held against what is known of such queues: Little's law, one server with equal service
// times, several with exponential ones.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "analysis/pools/forecast.hpp"
#include "analysis/pools/queue.hpp"

namespace backreach {

namespace {

// Numbers in (0, 1), always the same.
class Chance {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return (static_cast<double>(state_ >> 11) + 0.5) / 9007199254740992.0;
  }
  double Exponential(double mean) { return -mean * std::log((*this)()); }

 private:
  std::uint64_t state_ = 20260301;
};

struct Observed {
  double waited = 0;     // on average, before it started
  double present = 0;    // pieces of work in the system, on average over time
  double in_system = 0;  // how long each was there, on average
  double rate = 0;       // arrivals a second
};

// So many arrivals at random; each takes what `service` says.
template <typename Service>
Observed Play(std::int64_t servers, double between, int arrivals, Service service) {
  PoolQueue queue;
  Chance chance;
  const int pool = queue.AddPool(servers);
  double at = 0;
  for (int i = 0; i < arrivals; ++i) queue.Wake(at += chance.Exponential(between), i);
  Observed seen;
  double area = 0, last = 0;
  int there = 0, done = 0;
  const auto pass = [&] { area += there * (queue.now() - last), last = queue.now(); };
  while (queue.Next(
      [&](int owner) {
        pass();
        ++there;
        PoolWork work;
        work.pool = pool, work.seconds = service(chance), work.owner = owner;
        queue.Submit(work);
      },
      [&](const PoolWork& work) {
        pass();
        --there;
        seen.waited += work.started - work.submitted;
        seen.in_system += queue.now() - work.submitted;
        ++done;
      })) {
  }
  CHECK(done == arrivals);
  CHECK(queue.Taken(pool) == 0);
  seen.waited /= done, seen.in_system /= done;
  seen.present = area / queue.now();
  seen.rate = done / queue.now();
  return seen;
}

double Erlang(std::int64_t c, double load) {  // that all of c servers are busy when one comes
  double term = 1, sum = 1;
  for (std::int64_t k = 1; k < c; ++k) sum += term *= load / static_cast<double>(k);
  term *= load / static_cast<double>(c);
  const double last = term * static_cast<double>(c) / (static_cast<double>(c) - load);
  return last / (sum + last);
}

}  // namespace

TEST_CASE("one server with equal service times makes those wait who Pollaczek and Khinchine say") {
  const double mean = 1.0, between = 1.25, load = mean / between;
  const Observed seen = Play(1, between, 200'000, [&](Chance&) { return mean; });
  CHECK(seen.waited == doctest::Approx(load * mean / (2 * (1 - load))).epsilon(0.04));
}

TEST_CASE("several servers with exponential service times make those wait who Erlang says") {
  for (const std::int64_t c : {2, 4, 8}) {
    const double mean = 1.0, load = 0.8 * static_cast<double>(c), between = mean / load;
    const Observed seen = Play(c, between, 200'000, [&](Chance& chance) { return chance.Exponential(mean); });
    const double expected = Erlang(c, load) * mean / (static_cast<double>(c) - load);
    CHECK(seen.waited == doctest::Approx(expected).epsilon(0.06));
  }
}

TEST_CASE("what is in a pool is the rate of arrivals times the time that each is there") {
  for (const std::int64_t c : {1, 3}) {
    const Observed seen =
        Play(c, 1.0 / static_cast<double>(c), 50'000, [](Chance& chance) { return 0.5 + 0.5 * chance(); });
    CHECK(seen.present == doctest::Approx(seen.rate * seen.in_system).epsilon(1e-9));
  }
}

TEST_CASE("work of several slots waits at the head of the queue until they are free together") {
  PoolQueue queue;
  const int pool = queue.AddPool(3);
  std::vector<std::pair<int, double>> ended;
  const auto submit = [&](int owner, std::int64_t slots, double seconds) {
    PoolWork work;
    work.pool = pool, work.slots = slots, work.seconds = seconds, work.owner = owner;
    queue.Submit(work);
  };
  submit(1, 2, 10), submit(2, 3, 5), submit(3, 1, 1);
  CHECK(queue.Waiting(pool) == 2);
  while (queue.Next([](int) {}, [&](const PoolWork& w) { ended.emplace_back(w.owner, queue.now()); })) {
  }
  CHECK(ended == std::vector<std::pair<int, double>>{{1, 10}, {2, 15}, {3, 16}});
}

}  // namespace backreach
