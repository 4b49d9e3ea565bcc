// The only file that knows Node-API: values across the border, work off the main thread, and the
// end of a process as a promise. lib/native.ts is the only caller and checks the arguments.
#include <napi.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lock.h"
#include "process.h"

namespace acpx {
namespace {

using Napi::CallbackInfo;
using Napi::Env;
using Napi::Object;
using Napi::Value;

// --- values
// -------------------------------------------------------------------------------------------

const char* nameOf(Reason reason) {
  switch (reason) {
    case Reason::denied:
      return "denied";
    case Reason::gone:
      return "gone";
    case Reason::unsupported:
      return "unsupported";
    case Reason::garbled:
      return "garbled";
  }
  return "garbled";
}

Object toJs(Env env, const Fault& fault) {
  Object object = Object::New(env);
  object["ok"] = Napi::Boolean::New(env, false);
  object["reason"] = Napi::String::New(env, nameOf(fault.reason));
  object["call"] = Napi::String::New(env, fault.call);
  if (fault.error != 0) {
    char name[32];
    object["errno"] = Napi::String::New(env, uv_err_name_r(-fault.error, name, sizeof name));
  }
  return object;
}

Object success(Env env, const Value& value) {
  Object object = Object::New(env);
  object["ok"] = Napi::Boolean::New(env, true);
  object["value"] = value;
  return object;
}

template <typename T, typename Convert>
Object toJs(Env env, const Result<T>& result, Convert convert) {
  return result.ok() ? success(env, convert(*result)) : toJs(env, result.fault());
}

Value toJs(Env env, const Executable& executable) {
  Object object = Object::New(env);
  object["path"] = Napi::String::New(env, executable.path);
  object["deleted"] = Napi::Boolean::New(env, executable.deleted);
  object["fileId"] = Napi::String::New(
      env, std::to_string(executable.device) + ":" + std::to_string(executable.inode));
  return object;
}

Value toJs(Env env, const std::vector<std::string>& texts) {
  Napi::Array array = Napi::Array::New(env, texts.size());
  for (uint32_t i = 0; i < texts.size(); ++i) array[i] = Napi::String::New(env, texts[i]);
  return array;
}

Value toJs(Env env, const std::vector<std::string>& names,
           const std::vector<std::optional<std::string>>& values) {
  Object object = Object::New(env);
  for (size_t i = 0; i < names.size(); ++i) {
    object[names[i]] = values[i] ? Napi::String::New(env, *values[i]) : env.Null();
  }
  return object;
}

Object toJs(Env env, const std::vector<std::string>& names, const Result<ProcessReading>& result) {
  return toJs(env, result, [&](const ProcessReading& reading) {
    Object object = Object::New(env);
    object["pid"] = Napi::Number::New(env, reading.pid);
    object["ppid"] = Napi::Number::New(env, reading.ppid);
    object["pgid"] = Napi::Number::New(env, reading.pgid);
    object["sid"] = Napi::Number::New(env, reading.sid);
    object["uid"] = Napi::Number::New(env, reading.uid);
    object["state"] = Napi::String::New(env, std::string(1, reading.state));
    object["token"] = Napi::String::New(env, reading.token);
    object["readAtTicks"] = Napi::Number::New(env, static_cast<double>(reading.readAtTicks));
    object["executable"] =
        toJs(env, reading.executable, [&](const auto& image) { return toJs(env, image); });
    object["argv"] = toJs(env, reading.argv, [&](const auto& argv) { return toJs(env, argv); });
    object["environment"] = toJs(env, reading.environment,
                                 [&](const auto& values) { return toJs(env, names, values); });
    return object;
  });
}

template <typename Column, typename Number>
Column columnOf(Env env, const std::vector<Number>& numbers) {
  Column column = Column::New(env, numbers.size());
  // A worker that is being terminated gives out no memory any more.
  if (!column.IsEmpty()) std::copy(numbers.begin(), numbers.end(), column.Data());
  return column;
}

Value toJs(Env env, const Snapshot& table) {
  Object object = Object::New(env);
  object["complete"] = Napi::Boolean::New(env, table.complete);
  object["pid"] = columnOf<Napi::Int32Array>(env, table.pid);
  object["ppid"] = columnOf<Napi::Int32Array>(env, table.ppid);
  object["pgid"] = columnOf<Napi::Int32Array>(env, table.pgid);
  object["sid"] = columnOf<Napi::Int32Array>(env, table.sid);
  object["uid"] = columnOf<Napi::Uint32Array>(env, table.uid);
  object["startTicks"] = columnOf<Napi::Float64Array>(env, table.startTicks);
  object["state"] = columnOf<Napi::Uint8Array>(env, table.state);
  return object;
}

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

// --- the end of a process
// -----------------------------------------------------------------------------

struct Handle;

// Waits on the loop for the exit descriptor. Lives until libuv has let go of `poll`; everything of
// JavaScript's is released when it settles.
class ExitWatch {
 public:
  static Value start(Env env, const Napi::External<Handle>& owner);
  void settle(const char* outcome);

 private:
  struct Waiter {
    Napi::Promise::Deferred deferred;
    Napi::AsyncContext context;
    Napi::Reference<Napi::External<Handle>> owner;  // no collection while somebody waits
  };

  explicit ExitWatch(Env env) : env_(env) { poll_.data = this; }
  void release();

  Env env_;
  uv_poll_t poll_{};
  Handle* handle_ = nullptr;
  std::optional<Waiter> waiter_;
  napi_async_cleanup_hook_handle cleanup_ = nullptr;
};

struct Handle {
  std::optional<Process> process;
  ExitWatch* watch = nullptr;
};

Value ExitWatch::start(Env env, const Napi::External<Handle>& owner) {
  Napi::Promise::Deferred deferred(env);
  Handle* handle = owner.Data();
  const int descriptor = handle->process->exitDescriptor();
  uv_loop_t* loop = nullptr;
  napi_get_uv_event_loop(env, &loop);
  auto* watch = new ExitWatch(env);
  const int error = descriptor < 0 ? -ENOSYS : uv_poll_init(loop, &watch->poll_, descriptor);
  if (error != 0) {
    delete watch;
    const Reason reason = descriptor < 0 ? Reason::unsupported : Reason::denied;
    deferred.Resolve(toJs(env, Fault{reason, -error, "exit descriptor"}));
    return deferred.Promise();
  }
  watch->handle_ = handle;
  watch->waiter_.emplace(Waiter{deferred, Napi::AsyncContext(env, "acpx-lifecycle.exited"),
                                Napi::Reference<Napi::External<Handle>>::New(owner, 1)});
  handle->watch = watch;
  // Asynchronous, because the environment must not end before libuv has let go of the poll.
  napi_add_async_cleanup_hook(
      env,
      [](napi_async_cleanup_hook_handle, void* data) { static_cast<ExitWatch*>(data)->release(); },
      watch, &watch->cleanup_);
  uv_poll_start(&watch->poll_, UV_READABLE, [](uv_poll_t* poll, int, int) {
    static_cast<ExitWatch*>(poll->data)->settle("exited");
  });
  return deferred.Promise();
}

void ExitWatch::settle(const char* outcome) {
  const Napi::HandleScope handles(env_);
  // Let go first: the promise's reactions run at the end of the callback scope and may close the
  // handle.
  const Waiter waiter = std::move(*waiter_);
  release();
  const Napi::CallbackScope callback(env_, waiter.context);
  waiter.deferred.Resolve(Napi::String::New(env_, outcome));
}

void ExitWatch::release() {
  handle_->watch = nullptr;
  waiter_.reset();
  uv_poll_stop(&poll_);
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* poll) {
    auto* watch = static_cast<ExitWatch*>(poll->data);
    napi_remove_async_cleanup_hook(watch->cleanup_);
    delete watch;
  });
}

// --- verbs
// --------------------------------------------------------------------------------------------

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

Value delivered(Env env, const Result<Delivery>& result) {
  return toJs(env, result, [&](const Delivery& delivery) {
    Object object = Object::New(env);
    object["pinned"] = Napi::Boolean::New(env, delivery.pinned);
    return object;
  });
}

Value signal(const CallbackInfo& info) {
  return delivered(info.Env(), handleOf(info).process->signal(numberOf(info[1])));
}

Value signalGroup(const CallbackInfo& info) {
  return delivered(info.Env(), handleOf(info).process->signalGroup(numberOf(info[1])));
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
      [](Env env, const Result<Snapshot>& table) {
        return toJs(env, table, [&](const Snapshot& columns) { return toJs(env, columns); });
      });
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
  const Env env = info.Env();
  const Backend& known = acpx::backend();
  Object object = Object::New(env);
  object["platform"] = Napi::String::New(env, known.platform);
  object["supported"] = Napi::Boolean::New(env, known.supported);
  object["pinnedHandles"] = Napi::Boolean::New(env, known.pinnedHandles);
  object["pinnedSignals"] = Napi::Boolean::New(env, known.pinnedSignals);
  object["groupSignals"] = Napi::Boolean::New(env, known.groupSignals);
  object["uniqueIdentity"] = Napi::Boolean::New(env, known.uniqueIdentity);
  object["selfToken"] =
      toJs(env, known.selfToken, [&](const auto& token) { return Napi::String::New(env, token); });
  return object;
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
