#include "addon_exit.h"

#include <cerrno>
#include <utility>

#include "addon_values.h"

namespace acpx {

using Napi::Env;
using Napi::Value;

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

}  // namespace acpx
