// What every Unix gives: descriptors that close themselves, one meaning for each errno.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <memory>

#include "process.h"

namespace acpx {

// Closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// One meaning for each errno, wherever it comes from.
Fault faultOf(int error, const char* call);

// Pid 1, ourselves and our own group are refused before any system call.
constexpr Fault kProtected{Reason::denied, 0, "protected process"};

}  // namespace acpx
