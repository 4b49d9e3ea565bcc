// Bytes to values and back, without a system call: what /proc and sysctl say and what a start token
// looks like. Built and tested on every platform.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acpx {

// Where the kernel put the arguments and the environment of the running image. Addresses are random
// for each exec, so two equal layouts mean that there was none in between. All zero where the
// reader may not see them, and for the moment in which an exec has replaced the memory but not
// filled it yet.
struct MemoryLayout {
  uint64_t stack = 0;
  uint64_t argvStart = 0;
  uint64_t argvEnd = 0;
  uint64_t environmentStart = 0;
  uint64_t environmentEnd = 0;

  bool operator==(const MemoryLayout& other) const;
  bool operator!=(const MemoryLayout& other) const { return !(*this == other); }
};

// The fields of /proc/<pid>/stat that somebody here needs; proc_pid_stat(5).
struct StatLine {
  int32_t pid;
  int32_t ppid;
  int32_t pgid;
  int32_t sid;
  char state;
  bool kernelThread;
  uint64_t startTicks;
  MemoryLayout layout;
};

// The command's name stands in parentheses and may hold anything, ")" and newlines included; none
// of the fields behind it can. nullopt: cut short or no stat line at all.
std::optional<StatLine> parseStat(std::string_view line);

// "a\0b\0" -> a, b. Empty arguments count; a missing last NUL is forgiven, since titles are written
// so.
std::vector<std::string> splitNul(std::string_view block);

// The value of the first NAME= in a block of NUL-separated assignments, as getenv(3) would find it.
std::optional<std::string> findVariable(std::string_view block, std::string_view name);

// What macOS answers to KERN_PROCARGS2: the strings that exec put on the stack. Views of the
// buffer.
struct ArgumentArea {
  // As given to exec: may be relative, a symbolic link, or a script's interpreter.
  std::string_view path;
  std::vector<std::string> argv;
  // NUL-separated, the kernel's own strings behind it; nullopt: the kernel has cut it off.
  std::optional<std::string_view> environment;
};

// `offered`: the size of the buffer that was handed to the kernel. One that is too small gets the
// area's tail without an error, so a full one is refused. nullopt: refused, cut short or damaged.
std::optional<ArgumentArea> parseArgumentArea(std::string_view answer, size_t offered);

// A process's start, and the scope in which its numbers mean something: boot, and the observer's
// PID and time namespaces. `inode` is the pidfd's where it is unique (pidfs, Linux 6.9+).
//
//   linux;boot=<uuid>;pidns=<inode>;timens=<inode>;ticks=<n>;inode=<n>
//
// Parts that the kernel does not have are left out: timens before 5.6, inode before 6.9.
struct StartToken {
  std::string boot;
  uint64_t pidNamespace = 0;
  std::optional<uint64_t> timeNamespace;
  uint64_t ticks = 0;
  std::optional<uint64_t> inode;
};

std::string formatToken(const StartToken& token);
std::optional<StartToken> parseToken(std::string_view text);

// On macOS the kernel counts every fork of a boot and never reuses a number.
//
//   darwin;boot=<uuid>;unique=<n>
struct DarwinToken {
  std::string boot;
  uint64_t unique = 0;
};

std::string formatToken(const DarwinToken& token);
std::optional<DarwinToken> parseDarwinToken(std::string_view text);

// What tells apart the processes that had one pid, as the name of a file can have it: start ticks,
// unique id. nullopt: not a token.
std::optional<uint64_t> startNumber(std::string_view token);

// `sameWeak`: nothing differs, but without an inode on both sides a process that reused the number
// within one tick (10 ms) would look the same. `notComparable`: other scope, or garbled text.
enum class TokenComparison : uint8_t { same, sameWeak, different, notComparable };
TokenComparison compareTokens(std::string_view left, std::string_view right);

// Decimal digits and nothing else; nullopt when empty, signed, too big or followed by anything.
std::optional<uint64_t> parseNumber(std::string_view text);
void appendNumber(std::string& text, uint64_t number);

}  // namespace acpx
