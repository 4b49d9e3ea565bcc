#include "addon_values.h"

#include <uv.h>

#include <algorithm>

namespace acpx {

using Napi::Env;
using Napi::Object;
using Napi::Value;

namespace {

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

template <typename Column, typename Number>
Column columnOf(Env env, const std::vector<Number>& numbers) {
  Column column = Column::New(env, numbers.size());
  // A worker that is being terminated gives out no memory any more.
  if (!column.IsEmpty()) std::copy(numbers.begin(), numbers.end(), column.Data());
  return column;
}

}  // namespace

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

Object toJs(Env env, const Result<Snapshot>& result) {
  return toJs(env, result, [&](const Snapshot& table) {
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
  });
}

Object toJs(Env env, const Result<Delivery>& result) {
  return toJs(env, result, [&](const Delivery& delivery) {
    Object object = Object::New(env);
    object["pinned"] = Napi::Boolean::New(env, delivery.pinned);
    return object;
  });
}

Object toJs(Env env, const Backend& known) {
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

}  // namespace acpx
