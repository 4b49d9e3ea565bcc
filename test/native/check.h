// The smallest harness that names what failed: rows of checks, one line at the end.
#pragma once

#include <cstdio>
#include <string_view>

namespace check {

inline int passed = 0;
inline int failed = 0;

inline void that(bool holds, std::string_view sentence) {
  ++(holds ? passed : failed);
  if (!holds) printf("FAILED %.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

// The last line of a suite, and its exit code.
inline int report(const char* suite) {
  printf("%s: %d passed, %d failed\n", suite, passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace check
