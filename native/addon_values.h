// C++ values as JavaScript values, in the shapes that lib/evidence.ts and lib/native.ts describe.
#pragma once

#include <napi.h>

#include <string>
#include <vector>

#include "process.h"

namespace acpx {

// { ok: false, reason, call, errno? }
Napi::Object toJs(Napi::Env env, const Fault& fault);
// { ok: true, value }
Napi::Object success(Napi::Env env, const Napi::Value& value);

template <typename T, typename Convert>
Napi::Object toJs(Napi::Env env, const Result<T>& result, Convert convert) {
  return result.ok() ? success(env, convert(*result)) : toJs(env, result.fault());
}

// `names`: those that the environment was asked for.
Napi::Object toJs(Napi::Env env, const std::vector<std::string>& names,
                  const Result<ProcessReading>& reading);
Napi::Object toJs(Napi::Env env, const Result<Snapshot>& table);
Napi::Object toJs(Napi::Env env, const Result<Delivery>& delivery);
Napi::Object toJs(Napi::Env env, const Backend& backend);

}  // namespace acpx
