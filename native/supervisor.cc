// The wrapper executable: starts one command for a gateway that has put it on record, ends the
// whole tree below it when it should end, and exits as the command did.
//
//   <wrapper> [--foreground] -- <command> <argument...>
//   <wrapper> --self-check
//
// One thread, one poll, no wake-ups while nothing happens. It decides nothing about sessions and
// reads no configuration but the variables named in supervisor.h.
#include "supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "decode.h"
#include "supervisor_adapter.h"
#include "supervisor_claim.h"
#include "supervisor_kernel.h"
#include "supervisor_parent.h"
#include "supervisor_signals.h"
#include "supervisor_tree.h"

namespace acpx {

void complain(std::initializer_list<const char*> parts) {
  iovec pieces[8];
  int count = 0;
  for (const char* part : parts) pieces[count++] = {const_cast<char*>(part), strlen(part)};
  // A full pipe that nobody drains must not hold up the end of a tree.
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (poll(&room, 1, 0) > 0) (void)!writev(STDERR_FILENO, pieces, count);
}

long long monotonicMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

namespace {

constexpr long long kDefaultGraceMilliseconds = 1000;
constexpr uint64_t kLongestGraceMilliseconds = 1200;
constexpr long long kBoundAfterGraceMilliseconds = 3000;
// Between KILL rounds. Each death announces itself, but not to us if its parent is a process that
// opted out.
constexpr int kRoundMilliseconds = 50;

struct CommandLine {
  bool foreground = false;
  char** command = nullptr;
};

std::optional<CommandLine> parseCommandLine(char** arguments) {
  CommandLine line;
  char** at = arguments + 1;
  if (*at != nullptr && strcmp(*at, "--foreground") == 0) {
    line.foreground = true;
    at++;
  }
  if (*at == nullptr || strcmp(*at, "--") != 0 || at[1] == nullptr) return std::nullopt;
  line.command = at + 1;
  return line;
}

long long graceMilliseconds() {
  const char* text = getenv(kGraceVariable);
  const uint64_t grace = parseNumber(text != nullptr ? text : "").value_or(UINT64_MAX);
  return grace > kLongestGraceMilliseconds ? kDefaultGraceMilliseconds
                                           : static_cast<long long>(grace);
}

// Descriptors that we open must not become anybody's stdio.
void occupyStandardDescriptors() {
  int descriptor;
  do {
    descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
}

// What the launch is to be, once parent and claim have been looked at.
struct Launch {
  std::optional<ClaimFiles> files;
  std::optional<Claim> claim;  // nullopt: supervised without a lease
};

int refuse(const char* why) {
  complain({"acpx-lifecycle: ", why, "; the command was not started\n"});
  return kExitNotStarted;
}

// The exit code if the command must not be started.
std::optional<int> awaitClaim(const Parent& parent, Launch& launch) {
  const char* directory = getenv(kClaimsVariable);
  const char* named = getenv(kGatewayVariable);
  if (directory == nullptr && named == nullptr) return std::nullopt;
  if (directory == nullptr || named == nullptr)
    return refuse("half of the claim variables is missing");
  const std::optional<ExpectedGateway> gateway = parseExpectedGateway(named);
  if (!gateway) return refuse("the gateway's identity is garbled");
  switch (parent.to(*gateway)) {
    case Relation::relative:
      return std::nullopt;
    case Relation::dead:
      return refuse("the gateway is gone");
    case Relation::unknown:
      return refuse("the gateway could not be looked at");
    case Relation::parent:
      break;
  }
  launch.files = ClaimFiles::open(directory);
  if (!launch.files) return refuse("the directory of claims cannot be opened");
  Claim claim;
  switch (launch.files->wait(parent, claim)) {
    case Waiting::claimed:
      launch.claim = claim;
      return std::nullopt;
    case Waiting::refused:
      return refuse("the claim is not for this process");
    case Waiting::parentDied:
      return refuse("the gateway died");
    case Waiting::timedOut:
      return refuse("no claim came in time");
    case Waiting::signalled:
      break;
  }
  // Nothing runs yet, so nothing needs a grace: the pending signal ends us.
  dieByPending(endingSignals());
  return kExitNotStarted;
}

// Forwards, reaps and waits until the tree has ended. False: it did not within its bound.
bool superviseToTheEnd(Tree& tree, const Parent& parent, int signals, long long grace) {
  std::optional<long long> killAt;
  // A supervisor that was stopped for a while must not give up before it has sent a single KILL.
  std::optional<long long> killedSince;
  const auto end = [&](int signo) {
    if (killAt) {
      tree.forward(signo);
    } else {
      killAt = monotonicMilliseconds() + grace;
      tree.askToEnd(signo);
    }
  };
  for (;;) {
    tree.reap();
    if (tree.adapterExited() && !killAt) end(SIGTERM);
    if (tree.settled()) return true;

    int timeout = killAt ? -1 : parent.pollMilliseconds();
    if (killAt) {
      const long long now = monotonicMilliseconds();
      if (killedSince && now >= *killedSince + kBoundAfterGraceMilliseconds) return false;
      if (now >= *killAt) tree.kill();
      if (now >= *killAt && !killedSince) killedSince = monotonicMilliseconds();
      timeout = now < *killAt ? static_cast<int>(*killAt - now) : kRoundMilliseconds;
    }
    // A dead parent stays readable: once its death has been acted upon it is left out.
    pollfd events[] = {{signals, POLLIN, 0},
                       {killAt ? -1 : parent.exitDescriptor(), POLLIN, 0},
                       {tree.growthDescriptor(), POLLIN, 0}};
    poll(events, 3, timeout);

    if (!killAt && parent.died()) end(SIGTERM);
    while (const int signo = nextSignal(signals)) {
      if (endsTree(signo)) {
        end(signo);
      } else if (signo != SIGCHLD) {
        tree.forward(signo);
      }
    }
  }
}

int exitAs(const Tree& tree) {
  const siginfo_t& exit = tree.adapterExit();
  if (exit.si_code == CLD_EXITED) return exit.si_status;
  if (tree.adapterWasKilled()) return kExitKilled;
  dieBy(exit.si_status);
  return 128 + exit.si_status;
}

int supervise(const CommandLine& line) {
  blockSignals();
  occupyStandardDescriptors();
  // Without it nobody below us could be told from a stranger.
  if (!backend().supported) return refuse("/proc is missing or that of another PID namespace");
  const Parent parent = Parent::pin();
  // A leader of its group cannot leave it, and need not: it has left its parent's.
  if (!line.foreground) setsid();

  Launch launch;
  if (const std::optional<int> refusal = awaitClaim(parent, launch)) return *refusal;
  if (launch.claim) showClaim(*launch.claim);
  adoptOrphans();

  const long long grace = launch.claim ? graceMilliseconds() : kDefaultGraceMilliseconds;
  const int signals = openSignals();
  const Terminal terminal(line.foreground);
  const Start start = startAdapter(line.command, AdapterEnvironment(launch.claim), terminal);
  if (start.pid < 0) return refuse(strerror(start.error));
  if (start.error != 0) {
    complain({"acpx-lifecycle: ", line.command[0], ": ", strerror(start.error), "\n"});
    waitpid(start.pid, nullptr, 0);
    return start.error == ENOENT ? kExitNotFound : kExitNotExecutable;
  }
  closeInherited();
  if (launch.claim) {
    std::string report = "adapter ";
    appendNumber(report, static_cast<uint64_t>(start.pid));
    if (!launch.files->publish(".report", report + "\n")) {
      complain({"acpx-lifecycle: the report cannot be written\n"});
    }
  }

  const std::unique_ptr<Tree> tree = Tree::of(start.pid);
  if (!superviseToTheEnd(*tree, parent, signals, grace)) {
    complain({"acpx-lifecycle: still alive after KILL: ", tree->survivors().c_str(), "\n"});
    dieBy(SIGKILL);
  }
  const std::string optedOut = tree->optedOut();
  if (launch.files && !optedOut.empty()) launch.files->publish(".detached", optedOut);
  terminal.takeBack();
  return exitAs(*tree);
}

}  // namespace

}  // namespace acpx

int main(int, char** arguments) {
  using namespace acpx;
  if (arguments[0] != nullptr && arguments[1] != nullptr &&
      strcmp(arguments[1], "--self-check") == 0) {
    return write(STDOUT_FILENO, "ok\n", 3) == 3 ? 0 : 1;
  }
  const std::optional<CommandLine> line =
      arguments[0] != nullptr ? parseCommandLine(arguments) : std::nullopt;
  if (!line) {
    // No digits: hosts look for version numbers in what a probed command prints.
    complain({"usage: <wrapper> [--foreground] -- <command> <argument...>\n"});
    return kExitUsage;
  }
  return supervise(*line);
}
