// The claim: how the gateway tells a waiting supervisor which lease its launch belongs to. Until it
// is there nothing is started, so whatever runs under a wrapper is named by a lease.
#pragma once

#include <optional>
#include <string>

#include "supervisor_parent.h"

namespace acpx {

struct Claim {
  std::string leaseId;
  std::string instanceId;
};

// Pure: the text of a claim file, or nullopt if it is not one for the process with this token.
std::optional<Claim> parseClaim(const std::string& text, const std::string& ownToken);

enum class Waiting { claimed, refused, parentDied, signalled, timedOut };

// The supervisor's corner of the claims directory: files named `<own pid>.<own start number>`.
class ClaimFiles {
 public:
  static std::optional<ClaimFiles> open(const char* directory);

  // Until a claim is there, the parent is dead, one of the signals that end a tree is pending (it
  // is left pending), or 30 s have passed. One poll, no wake-ups in between.
  Waiting wait(const Parent& parent, Claim& claim) const;
  // Complete or not at all: a temporary name, then a rename.
  bool publish(const char* suffix, const std::string& text) const;

 private:
  ClaimFiles(std::string path, int directory, std::string name, std::string token)
      : path_(std::move(path)),
        directory_(directory),
        name_(std::move(name)),
        token_(std::move(token)) {}

  std::optional<std::string> read() const;

  std::string path_;
  int directory_;  // for life
  std::string name_;
  std::string token_;
};

}  // namespace acpx
