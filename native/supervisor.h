// Words that the files of the supervisor share: variables of the environment, exit codes, stderr.
#pragma once

#include <initializer_list>

namespace acpx {

constexpr const char* kClaimsVariable = "OPENCLAW_ACPX_CLAIMS";
constexpr const char* kGatewayVariable = "OPENCLAW_GATEWAY_PID";
constexpr const char* kGraceVariable = "OPENCLAW_ACPX_TERM_GRACE_MS";
constexpr const char* kDetachVariable = "OPENCLAW_ACPX_LEASE_DETACH";
constexpr const char* kLeaseIdVariable = "OPENCLAW_ACPX_LEASE_ID";
constexpr const char* kInstanceIdVariable = "OPENCLAW_GATEWAY_INSTANCE_ID";

// In place of an id that the gateway does not know yet, of the same length.
constexpr const char* kNilId = "00000000-0000-0000-0000-000000000000";

constexpr int kExitUsage = 64;       // EX_USAGE
constexpr int kExitNotStarted = 75;  // EX_TEMPFAIL: no claim, no gateway, no process
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;
constexpr int kExitKilled = 128 + 9;  // the adapter outlived its grace

// One line on stderr, in one write.
void complain(std::initializer_list<const char*> parts);

// Milliseconds of the monotonic clock.
long long monotonicMilliseconds();

}  // namespace acpx
