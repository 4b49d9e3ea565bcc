// The verbs of lib/native.ts, which is the only caller and checks the arguments. Only the addon's
// files know Node-API.
#include <napi.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addon_exit.h"
#include "addon_values.h"
#include "lock.h"
#include "process.h"

namespace acpx {
namespace {

using Napi::CallbackInfo;
using Napi::Env;
using Napi::Object;
using Napi::Value;

std::vector<std::string> namesOf(const Value& value) {
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<std::string> names;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    names.push_back(array.Get(i).As<Napi::String>().Utf8Value());
  }
  return names;
}

int numberOf(const Value& value) {
  return value.As<Napi::Number>().Int32Value();
}

Handle& handleOf(const CallbackInfo& info) {
  return *info[0].As<Napi::External<Handle>>().Data();
}

Value open(const CallbackInfo& info) {
  const Env env = info.Env();
  Result<Process> process = Process::open(numberOf(info[0]));
  if (!process.ok()) return toJs(env, process.fault());
  const std::string token = process->token();
  auto handle = std::make_unique<Handle>();
  handle->process.emplace(std::move(*process));
  const auto external =
      Napi::External<Handle>::New(env, handle.get(), [](Env, Handle* old) { delete old; });
  // Fails in a worker that is being terminated; then nobody else would close it.
  if (external.IsEmpty()) return env.Undefined();
  handle.release();
  Object opened = Object::New(env);
  opened["token"] = Napi::String::New(env, token);
  opened["handle"] = external;
  return success(env, opened);
}

Value read(const CallbackInfo& info) {
  const std::vector<std::string> names = namesOf(info[1]);
  return toJs(info.Env(), names, handleOf(info).process->read(names));
}

Value signal(const CallbackInfo& info) {
  return toJs(info.Env(), handleOf(info).process->signal(numberOf(info[1])));
}

Value signalGroup(const CallbackInfo& info) {
  return toJs(info.Env(), handleOf(info).process->signalGroup(numberOf(info[1])));
}

Value exited(const CallbackInfo& info) {
  return ExitWatch::start(info.Env(), info[0].As<Napi::External<Handle>>());
}

Value close(const CallbackInfo& info) {
  Handle& handle = handleOf(info);
  if (handle.watch != nullptr) handle.watch->settle("closed");
  handle.process.reset();
  return info.Env().Undefined();
}

// Runs `work` on libuv's pool and resolves with what `convert` makes of its answer.
template <typename Work, typename Convert>
class OffThread : public Napi::AsyncWorker {
 public:
  OffThread(Napi::Env env, Work work, Convert convert)
      : AsyncWorker(env, "acpx-lifecycle"),
        deferred_(env),
        work_(std::move(work)),
        convert_(std::move(convert)) {}

  Value promise() const { return deferred_.Promise(); }
  void Execute() override { answer_.emplace(work_()); }
  void OnOK() override { deferred_.Resolve(convert_(Env(), *answer_)); }

 private:
  Napi::Promise::Deferred deferred_;
  Work work_;
  Convert convert_;
  std::optional<std::invoke_result_t<Work>> answer_;
};

template <typename Work, typename Convert>
Value runOffThread(Env env, Work work, Convert convert) {
  auto* task = new OffThread<Work, Convert>(env, std::move(work), std::move(convert));
  const Value promise = task->promise();
  task->Queue();  // deletes itself
  return promise;
}

Value readMany(const CallbackInfo& info) {
  const Napi::Array numbers = info[0].As<Napi::Array>();
  std::vector<pid_t> pids;
  for (uint32_t i = 0; i < numbers.Length(); ++i) pids.push_back(numberOf(numbers.Get(i)));
  const std::vector<std::string> names = namesOf(info[1]);
  return runOffThread(
      info.Env(),
      [pids, names] {
        std::vector<Result<ProcessReading>> readings;
        readings.reserve(pids.size());
        for (const pid_t pid : pids) {
          const Result<Process> process = Process::open(pid);
          readings.push_back(process.ok() ? process->read(names) : process.fault());
        }
        return readings;
      },
      [names](Env env, const std::vector<Result<ProcessReading>>& readings) {
        Napi::Array array = Napi::Array::New(env, readings.size());
        for (uint32_t i = 0; i < readings.size(); ++i) array[i] = toJs(env, names, readings[i]);
        return array;
      });
}

Value snapshot(const CallbackInfo& info) {
  return runOffThread(
      info.Env(), [] { return acpx::snapshot(); },
      [](Env env, const Result<Snapshot>& table) { return toJs(env, table); });
}

Value setProcessGroup(const CallbackInfo& info) {
  const Env env = info.Env();
  return toJs(env, acpx::setProcessGroup(numberOf(info[0]), numberOf(info[1])),
              [&](pid_t pgid) { return Napi::Number::New(env, pgid); });
}

// Each environment's own: they go when it ends, those of others stay.
struct Locks {
  std::map<uint32_t, std::unique_ptr<HeldLock>> held;
  uint32_t last = 0;
};

// Answers with a number for releaseLock, 0 for a lock that was free, null for one that is busy.
Value takeLock(const CallbackInfo& info) {
  const Env env = info.Env();
  const LockMode mode = info[1].As<Napi::Boolean>() ? LockMode::exclusive : LockMode::probe;
  Result<LockAttempt> attempt = acpx::takeLock(info[0].As<Napi::String>().Utf8Value(), mode);
  if (!attempt.ok()) return toJs(env, attempt.fault());
  if (attempt->busy) return success(env, env.Null());
  if (!attempt->held) return success(env, Napi::Number::New(env, 0));
  Locks* locks = env.GetInstanceData<Locks>();
  locks->held.emplace(++locks->last, std::move(attempt->held));
  return success(env, Napi::Number::New(env, locks->last));
}

Value releaseLock(const CallbackInfo& info) {
  info.Env().GetInstanceData<Locks>()->held.erase(info[0].As<Napi::Number>().Uint32Value());
  return info.Env().Undefined();
}

Value backend(const CallbackInfo& info) {
  return toJs(info.Env(), acpx::backend());
}

Value ownGroup(const CallbackInfo& info) {
  return Napi::Number::New(info.Env(), acpx::ownGroup());
}

Object init(Env env, Object exports) {
  env.SetInstanceData(new Locks);
  const std::pair<const char*, Value (*)(const CallbackInfo&)> verbs[] = {
      {"open", open},
      {"read", read},
      {"signal", signal},
      {"signalGroup", signalGroup},
      {"exited", exited},
      {"close", close},
      {"readMany", readMany},
      {"snapshot", snapshot},
      {"setProcessGroup", setProcessGroup},
      {"ownGroup", ownGroup},
      {"takeLock", takeLock},
      {"releaseLock", releaseLock},
      {"backend", backend},
  };
  for (const auto& [name, verb] : verbs) exports[name] = Napi::Function::New(env, verb, name);
  // libuv aborts the process if it cannot start its threads, so they start now and not in the
  // middle of a clean-up on a machine that is out of processes.
  runOffThread(env, [] { return true; }, [](Env inner, bool) { return inner.Undefined(); });
  return exports;
}

}  // namespace
}  // namespace acpx

static Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  return acpx::init(env, exports);
}
NODE_API_MODULE(acpx_lifecycle, initialize)
