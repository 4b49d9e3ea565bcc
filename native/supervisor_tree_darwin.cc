// macOS hands orphans to launchd, so who is in the tree is what the kernel noted at each fork.
// Every member is watched for forks, so that a child is recorded while its parent can still be
// asked.
//
// What gets away: somebody whose parent was born and waited for between two looks, who leads a
// session of its own and dropped the lease's variables. So "settled" means that two looks in a row
// found nobody, and proves no more than that.
#include <sys/event.h>

#include <map>

#include "decode.h"
#include "kernel_darwin.h"
#include "lineage.h"
#include "supervisor.h"
#include "supervisor_tree.h"
#include "table_darwin.h"

namespace acpx {

namespace {

constexpr size_t kLargestList = 4096;
constexpr timespec kAtOnce = {0, 0};

Result<TableRow> rowOfOwnChild(pid_t pid) {
  for (const TableRow& row : readChildren(getpid())) {
    if (row.pid == pid) return row;
  }
  return Fault{Reason::gone, ESRCH, "proc_listchildpids"};
}

struct Ids {
  std::string lease;
  std::string instance;
};

// Those of our own environment, if a claim was shown there.
std::optional<Ids> ownIds() {
  const char* lease = getenv(kLeaseIdVariable);
  const char* instance = getenv(kInstanceIdVariable);
  if (lease == nullptr || instance == nullptr || lease == std::string_view(kNilId)) {
    return std::nullopt;
  }
  return Ids{lease, instance};
}

class LineageTree : public Tree {
 public:
  explicit LineageTree(pid_t adapter);

  void reap() override;
  int growthDescriptor() const override { return queue_.get(); }
  void forward(int signo) override;
  void askToEnd(int signo) override;
  void kill() override;
  bool settled() override;
  std::string optedOut() override;
  std::string survivors() override;

 private:
  struct Member {
    TableRow row;
    bool optedOut;
  };

  // Alive and in the tree, children before their parents, whoever opted out included.
  std::vector<Member> members();
  std::vector<Member> toEnd();
  // Records the children that these processes have at this moment.
  void record(const std::vector<TableRow>& rows);
  void watch(const TableRow& member);
  void addCarriers(const std::vector<TableRow>& table);
  bool hasOptedOut(const TableRow& row);
  void signalGroup(int signo, const std::vector<Member>& all) const;

  const Descriptor queue_;
  const std::optional<Ids> ids_;
  std::optional<Lineage> lineage_;  // none: the adapter had ended before we looked
  std::map<uint64_t, bool> optedOut_;
  std::set<uint64_t> watched_;
  bool ending_ = false;
};

// Through a handle that has the row's identity, or not at all.
void signalMember(const TableRow& row, std::initializer_list<int> signals) {
  const Result<Process> handle = Process::open(row.pid);
  const Result<std::string> token = startToken(row.unique);
  if (!handle.ok() || !token.ok() || handle->token() != *token) return;
  for (const int signo : signals) (void)handle->signal(signo).ok();
}

LineageTree::LineageTree(pid_t adapter) : Tree(adapter), queue_(kqueue()), ids_(ownIds()) {
  const Result<TableRow> root = rowOfOwnChild(adapter);
  if (!root.ok()) return;
  lineage_.emplace(*root, getsid(0));
  watch(*root);
  // It may have forked before it was watched.
  record(readChildren(adapter));
}

void LineageTree::watch(const TableRow& member) {
  if (!watched_.insert(member.unique).second) return;
  struct kevent change;
  EV_SET(&change, static_cast<uintptr_t>(member.pid), EVFILT_PROC, EV_ADD,
         NOTE_FORK | NOTE_EXEC | NOTE_EXIT, 0, nullptr);
  kevent(queue_.get(), &change, 1, nullptr, 0, nullptr);
}

void LineageTree::record(const std::vector<TableRow>& rows) {
  if (!lineage_) return;
  std::vector<TableRow> found = lineage_->look(rows);
  for (const TableRow& row : found) {
    if (watched_.count(row.unique) != 0) continue;
    watch(row);
    record(readChildren(row.pid));
  }
}

// A note is about a process, not about a number, but it is named by the number: whoever has that
// now is looked at, and belongs or does not.
void LineageTree::reap() {
  struct kevent notes[32];
  int count;
  bool lost = false;
  while ((count = kevent(queue_.get(), nullptr, 0, notes, 32, &kAtOnce)) > 0) {
    for (int i = 0; i < count; i++) {
      if ((notes[i].fflags & NOTE_FORK) != 0)
        record(readChildren(static_cast<pid_t>(notes[i].ident)));
      // Its children are launchd's by now.
      lost = lost || (notes[i].fflags & (NOTE_FORK | NOTE_EXIT)) == (NOTE_FORK | NOTE_EXIT);
    }
  }
  if (lost) (void)members();

  siginfo_t seen;
  if (!exit_ && look(P_PID, adapter(), WNOWAIT, seen)) exit_ = seen;
}

bool LineageTree::hasOptedOut(const TableRow& row) {
  // The adapter cannot opt out: it is what the launch is about.
  if (row.pid == adapter() && !waitedFor_) return false;
  const auto known = optedOut_.find(row.unique);
  if (known != optedOut_.end() && known->second) return true;
  const auto above = optedOut_.find(row.parentUnique);
  bool out = above != optedOut_.end() && above->second;
  const Result<Process> handle = Process::open(row.pid);
  const Result<ProcessReading> reading =
      handle.ok() ? handle->read({kDetachVariable}) : handle.fault();
  if (reading.ok() && reading->environment.ok() && (*reading->environment)[0] == "1") out = true;
  optedOut_[row.unique] = out;
  return out;
}

// The environment finds whom the lineage lost; where it is hidden, as in Apple's own programs, it
// finds nobody.
void LineageTree::addCarriers(const std::vector<TableRow>& table) {
  if (!ids_) return;
  for (const TableRow& row : table) {
    if (!lineage_->mayHave(row) || lineage_->has(row.unique) || row.uid != geteuid()) continue;
    if (row.pid == getpid()) continue;
    const Result<Process> handle = Process::open(row.pid);
    const Result<std::string> token = startToken(row.unique);
    if (!handle.ok() || !token.ok() || handle->token() != *token) continue;
    const Result<ProcessReading> reading = handle->read({kLeaseIdVariable, kInstanceIdVariable});
    if (!reading.ok() || !reading->environment.ok()) continue;
    const auto& values = *reading->environment;
    if (values[0] == ids_->lease && values[1] == ids_->instance) lineage_->add(row);
  }
}

std::vector<LineageTree::Member> LineageTree::members() {
  std::vector<Member> all;
  const Result<std::vector<TableRow>> table = readTable();
  if (!lineage_ || !table.ok()) return all;
  lineage_->look(*table);
  if (ending_) addCarriers(*table);
  const std::vector<TableRow> rows = lineage_->look(*table);
  // Parents first, so that what they opted out of holds for their children.
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    watch(*row);
    all.insert(all.begin(), Member{*row, hasOptedOut(*row)});
  }
  return all;
}

std::vector<LineageTree::Member> LineageTree::toEnd() {
  std::vector<Member> left;
  for (const Member& member : members()) {
    // Its number is kept until it is waited for; that it has exited is known better from there.
    if (member.row.pid == adapter() && exit_) continue;
    if (!member.optedOut) left.push_back(member);
  }
  return left;
}

void LineageTree::forward(int signo) {
  signalGroup(signo, members());
}

void LineageTree::askToEnd(int signo) {
  ending_ = true;
  const std::vector<Member> all = members();
  for (const Member& member : all) {
    if (member.optedOut || member.row.pgid == adapter()) continue;
    signalMember(member.row, {SIGTERM, SIGCONT});
  }
  signalGroup(signo, all);
  signalGroup(SIGCONT, all);
}

void LineageTree::kill() {
  if (!exit_) killSent_ = true;
  const std::vector<Member> all = members();
  signalGroup(SIGKILL, all);
  for (const Member& member : all) {
    if (!member.optedOut && member.row.pgid != adapter()) signalMember(member.row, {SIGKILL});
  }
}

bool LineageTree::settled() {
  if (!exit_ || !toEnd().empty() || !toEnd().empty()) return false;
  waitForAdapter();
  return true;
}

std::string LineageTree::optedOut() {
  std::string lines;
  for (const Member& member : members()) {
    const Result<std::string> token = startToken(member.row.unique);
    if (!member.optedOut || !token.ok()) continue;
    std::string line;
    appendNumber(line, static_cast<uint64_t>(member.row.pid));
    line += " " + *token + "\n";
    if (lines.size() + line.size() <= kLargestList) lines += line;
  }
  return lines;
}

std::string LineageTree::survivors() {
  std::string numbers;
  for (const Member& member : toEnd()) {
    if (!numbers.empty()) numbers += ' ';
    appendNumber(numbers, static_cast<uint64_t>(member.row.pid));
  }
  return numbers;
}

void LineageTree::signalGroup(int signo, const std::vector<Member>& all) const {
  bool oneByOne = false;
  for (const Member& member : all) {
    oneByOne = oneByOne || (member.optedOut && member.row.pgid == adapter());
  }
  if (!oneByOne) {
    signalAdapterGroup(signo);
    return;
  }
  for (const Member& member : all) {
    if (!member.optedOut && member.row.pgid == adapter()) signalMember(member.row, {signo});
  }
}

}  // namespace

std::unique_ptr<Tree> Tree::of(pid_t adapter) {
  return std::make_unique<LineageTree>(adapter);
}

}  // namespace acpx
