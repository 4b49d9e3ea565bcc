// The end of a process as a promise.
#pragma once

#include <napi.h>
#include <uv.h>

#include <optional>

#include "process.h"

namespace acpx {

class ExitWatch;

// What JavaScript holds: a process until it is closed, and whoever waits for its end.
struct Handle {
  std::optional<Process> process;
  ExitWatch* watch = nullptr;
};

// Waits on the loop for the exit descriptor. Lives until libuv has let go of `poll`; everything of
// JavaScript's is released when it settles.
class ExitWatch {
 public:
  static Napi::Value start(Napi::Env env, const Napi::External<Handle>& owner);
  void settle(const char* outcome);

 private:
  struct Waiter {
    Napi::Promise::Deferred deferred;
    Napi::AsyncContext context;
    Napi::Reference<Napi::External<Handle>> owner;  // no collection while somebody waits
  };

  explicit ExitWatch(Napi::Env env) : env_(env) { poll_.data = this; }
  void release();

  Napi::Env env_;
  uv_poll_t poll_{};
  Handle* handle_ = nullptr;
  std::optional<Waiter> waiter_;
  napi_async_cleanup_hook_handle cleanup_ = nullptr;
};

}  // namespace acpx
