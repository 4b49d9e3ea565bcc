// Signals are never delivered to the supervisor: all are blocked, and read where its one poll
// waits.
#pragma once

#include <signal.h>

namespace acpx {

// The ones that end a tree.
sigset_t endingSignals();
bool endsTree(int signo);

// Blocks everything, and ignores nothing: with SIGCHLD ignored children could not be waited for.
void blockSignals();
// A descriptor for what is forwarded to the adapter, and for SIGCHLD.
int openSignals();
// The next pending one, or 0.
int nextSignal(int descriptor);

// For a child before exec.
void unblockSignals();
// By one of the signals that are pending, without a core of our own. Returns only where the kernel
// protects us from them: as the init of a PID namespace.
void dieByPending(const sigset_t& set);
void dieBy(int signo);

}  // namespace acpx
