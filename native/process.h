// The one interface to the processes of a machine. Each platform implements it in
// process_<platform>.cc, chosen by binding.gyp; addon.cc and supervisor.cc know nothing else.
//
// A `Process` is a handle that the kernel pins to one process: it never speaks about, or acts on, a
// later process that was given the same number. Whatever could not be looked at is a `Fault`, never
// a default.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#ifdef _MSC_VER
using pid_t = int;
using uid_t = unsigned;
#endif

namespace acpx {

struct StatLine;

enum class Reason : uint8_t {
  denied,       // the kernel refused (EPERM, EACCES)
  gone,         // no such process, or it ended while we looked
  unsupported,  // this kernel, sandbox or platform has no such thing
  garbled,      // an answer that makes no sense, or arguments that no process can have
};

// Why a value is missing: `error` is the errno (0 where none applies), `call` the system call or
// file.
struct Fault {
  Reason reason;
  int error;
  const char* call;
};

// A value or the reason why there is none. No exceptions are used anywhere in native/.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::move(value)) {}
  Result(Fault fault) : held_(fault) {}
  bool ok() const { return std::holds_alternative<T>(held_); }
  const Fault& fault() const { return *std::get_if<Fault>(&held_); }
  T& operator*() { return *std::get_if<T>(&held_); }
  const T& operator*() const { return *std::get_if<T>(&held_); }
  T* operator->() { return std::get_if<T>(&held_); }
  const T* operator->() const { return std::get_if<T>(&held_); }

 private:
  std::variant<T, Fault> held_;
};

// One property of a process as it was seen, or why it could not be seen.
template <typename T>
using Observed = Result<T>;

struct Executable {
  std::string path;  // as the kernel names the image, a trailing " (deleted)" split off
  bool deleted;
  uint64_t device;
  uint64_t inode;
};

struct ProcessReading {
  pid_t pid;
  pid_t ppid;
  pid_t pgid;
  pid_t sid;
  uid_t uid;   // effective
  char state;  // of a living thread: "Z" of an exited main thread says nothing about the process
  std::string token;     // the start token, see decode.h
  uint64_t readAtTicks;  // the boot clock just before the process was proven alive
  Observed<Executable> executable;
  Observed<std::vector<std::string>> argv;
  // One entry per asked name, in order; nullopt: the environment was readable and has no such
  // variable.
  Observed<std::vector<std::optional<std::string>>> environment;
};

// `pinned`: the kernel guaranteed that the signal reached the process of the handle and nobody
// else.
struct Delivery {
  bool pinned;
};

class Process {
 public:
  // Any pid >= 1. ESRCH -> gone.
  static Result<Process> open(pid_t pid);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  // The start token, read at open through the handle.
  const std::string& token() const { return token_; }
  // The parent's pid, read through the handle; `gone` once the process is dead.
  Result<pid_t> parent() const;
  // Everything, from one living process between two execs, or `gone`.
  Result<ProcessReading> read(const std::vector<std::string>& environmentNames) const;
  // Refuses pid 1 and the calling process before any system call.
  Result<Delivery> signal(int signo) const;
  // The group led by this process. Refuses pid 1 and the caller's own group before any system call.
  Result<Delivery> signalGroup(int signo) const;
  // Dead: every thread has exited; a zombie is dead.
  Result<bool> dead() const;
  // Becomes readable when the process is dead; -1 where the platform has no such descriptor. Owned
  // by the handle.
  int exitDescriptor() const;

 private:
  Process(pid_t pid, int process, int directory);
  // The kernel has taken the number back. A zombie still has its number.
  Result<bool> reaped() const;
  // The stat line of a process that was alive after it was read.
  Result<StatLine> living() const;
  // One attempt; nullopt when an exec came in between.
  // `lastly`: what cannot be read whole by now never will be.
  std::optional<Result<ProcessReading>> readOnce(const std::vector<std::string>& names,
                                                 bool lastly) const;
  // Every member of the group, each pinned and looked at, for kernels that cannot signal a pinned
  // group.
  Result<Delivery> signalMembers(int signo) const;

  pid_t pid_;
  int process_ = -1;     // pidfd (Linux), kqueue (macOS)
  int directory_ = -1;   // open /proc/<pid> (Linux)
  uint64_t unique_ = 0;  // p_uniqueid (macOS)
  std::string token_;
};

// The process table as columns of equal length. `complete` is false when it was cut short, a row
// could not be read for another reason than the process having ended, or pid 1 or our own pid is
// missing (every PID namespace has both; a table without them is one that hides processes from us).
struct Snapshot {
  bool complete;
  std::vector<int32_t> pid, ppid, pgid, sid;
  std::vector<uint32_t> uid;
  std::vector<double> startTicks;  // macOS: the unique id, which orders the starts as well
  std::vector<uint8_t> state;      // the main thread's letter: "Z" may still have living threads
};
Result<Snapshot> snapshot();

// Own children only. Fault: denied (EACCES after exec, EPERM across sessions), gone.
Result<pid_t> setProcessGroup(pid_t pid, pid_t pgid);

// The calling process's own group, which signalGroup refuses.
pid_t ownGroup();

// What this kernel and sandbox can do; probed once, read-only.
struct Backend {
  const char* platform;
  bool supported;       // handles and evidence at all
  bool pinnedHandles;   // pidfd_open works
  bool pinnedSignals;   // pidfd_send_signal works
  bool groupSignals;    // PIDFD_SIGNAL_PROCESS_GROUP (Linux 6.9+)
  bool uniqueIdentity;  // the pidfd's inode (pidfs, 6.9+) or macOS unique id is part of the token
  Observed<std::string> selfToken;
};
const Backend& backend();

// The boot clock in the unit of a token's ticks.
uint64_t bootTicks();

}  // namespace acpx
