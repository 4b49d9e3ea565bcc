// Prints what parseArgumentArea makes of the answer on stdin, for procargs.test.ts: path,
// environment ("visible" or "denied"), the lease's id if there is one, arguments, each with a NUL;
// nothing at all for what it refuses.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "decode.h"

namespace {

void print(std::string_view text) {
  fwrite(text.data(), 1, text.size(), stdout);
  putchar('\0');
}

}  // namespace

// The argument: how large a buffer the kernel was offered.
int main(int, char** arguments) {
  std::string answer(1 << 20, '\0');
  const ssize_t length = read(STDIN_FILENO, answer.data(), answer.size());
  if (length < 0) return 1;
  // Of its own size, so that the sanitizers see a read past its end.
  answer = std::string(answer.data(), static_cast<size_t>(length));

  const auto area = acpx::parseArgumentArea(answer, strtoul(arguments[1], nullptr, 10));
  if (!area) return 0;
  print(area->path);
  print(area->environment ? "visible" : "denied");
  print(acpx::findVariable(area->environment.value_or(""), "OPENCLAW_ACPX_LEASE_ID").value_or(""));
  for (const std::string& argument : area->argv) print(argument);
  return 0;
}
