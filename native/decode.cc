#include "decode.h"

#include <charconv>
#include <cstring>

namespace acpx {
namespace {

constexpr uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD of include/linux/sched.h

// Hands out the space-separated fields of a line one after the other.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const size_t end = rest_.find(' ');
    const std::string_view field = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    return field;
  }

  void skip(int count) {
    while (count-- > 0) next();
  }

  template <typename Number>
  bool number(Number& value) {
    const std::string_view field = next();
    const char* end = field.data() + field.size();
    const auto [last, error] = std::from_chars(field.data(), end, value);
    return error == std::errc() && last == end;
  }

 private:
  std::string_view rest_;
};

// Linux writes small letters, macOS capital ones.
bool isBootId(std::string_view text, char firstLetter) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (c >= '0' && c <= '9') || (c >= firstLetter && c <= firstLetter + 5);
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Removes `;<name>=<value>` from the front of `text`; nullopt, and `text` untouched, if another
// part is next.
std::optional<std::string_view> takePart(std::string_view& text, std::string_view name) {
  if (!startsWith(text, ";") || !startsWith(text.substr(1), name)) return std::nullopt;
  std::string_view value = text.substr(1 + name.size());
  if (!startsWith(value, "=")) return std::nullopt;
  value = value.substr(1);
  const size_t end = value.find(';');
  text = end == std::string_view::npos ? std::string_view() : value.substr(end);
  return value.substr(0, end);
}

std::optional<uint64_t> takeNumber(std::string_view& text, std::string_view name) {
  const std::optional<std::string_view> value = takePart(text, name);
  return value ? parseNumber(*value) : std::nullopt;
}

void appendPart(std::string& text, std::string_view name, uint64_t number) {
  text.append(name);
  appendNumber(text, number);
}

}  // namespace

bool MemoryLayout::operator==(const MemoryLayout& other) const {
  return stack == other.stack && argvStart == other.argvStart && argvEnd == other.argvEnd &&
         environmentStart == other.environmentStart && environmentEnd == other.environmentEnd;
}

std::optional<uint64_t> parseNumber(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || last != end) return std::nullopt;
  return number;
}

void appendNumber(std::string& text, uint64_t number) {
  char digits[20];  // 2^64 - 1 has twenty
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, end);
}

std::optional<StatLine> parseStat(std::string_view line) {
  // The newline is the only sign that nothing was cut off.
  if (line.empty() || line.back() != '\n') return std::nullopt;
  line.remove_suffix(1);
  const size_t open = line.find(" (");
  const size_t close = line.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  StatLine stat{};
  uint64_t flags = 0;
  if (!Fields(line.substr(0, open)).number(stat.pid)) return std::nullopt;

  Fields fields(line.substr(close + 2));
  const std::string_view state = fields.next();
  if (state.size() != 1) return std::nullopt;
  stat.state = state.front();
  if (!fields.number(stat.ppid) || !fields.number(stat.pgid) || !fields.number(stat.sid)) {
    return std::nullopt;
  }
  fields.skip(2);  // terminal and its foreground group
  if (!fields.number(flags)) return std::nullopt;
  stat.kernelThread = (flags & kKernelThread) != 0;
  fields.skip(12);  // faults, times, priorities, threads
  if (!fields.number(stat.startTicks)) return std::nullopt;
  fields.skip(5);  // sizes and code addresses
  if (!fields.number(stat.layout.stack)) return std::nullopt;
  fields.skip(19);  // registers, signal masks, accounting, data addresses
  if (!fields.number(stat.layout.argvStart) || !fields.number(stat.layout.argvEnd) ||
      !fields.number(stat.layout.environmentStart) || !fields.number(stat.layout.environmentEnd)) {
    return std::nullopt;
  }
  return stat;
}

std::vector<std::string> splitNul(std::string_view block) {
  std::vector<std::string> parts;
  while (!block.empty()) {
    const size_t end = block.find('\0');
    parts.emplace_back(block.substr(0, end));
    if (end == std::string_view::npos) break;
    block.remove_prefix(end + 1);
  }
  return parts;
}

std::optional<std::string> findVariable(std::string_view block, std::string_view name) {
  while (!block.empty()) {
    const size_t end = block.find('\0');
    const std::string_view assignment = block.substr(0, end);
    if (assignment.size() > name.size() && assignment[name.size()] == '=' &&
        startsWith(assignment, name)) {
      return std::string(assignment.substr(name.size() + 1));
    }
    if (end == std::string_view::npos) break;
    block.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::optional<ArgumentArea> parseArgumentArea(std::string_view answer, size_t offered) {
  int32_t count = 0;
  if (answer.size() >= offered || answer.size() < sizeof count) return std::nullopt;
  memcpy(&count, answer.data(), sizeof count);
  answer.remove_prefix(sizeof count);
  if (count < 0 || static_cast<size_t>(count) > answer.size()) return std::nullopt;

  ArgumentArea area;
  const size_t pathEnd = answer.find('\0');
  if (pathEnd == std::string_view::npos) return std::nullopt;
  area.path = answer.substr(0, pathEnd);
  // Up to a multiple of 8 and no further: the next NUL may be an empty argv[0].
  const size_t argvStart = (pathEnd + 8) / 8 * 8;
  if (argvStart > answer.size() ||
      answer.substr(pathEnd, argvStart - pathEnd).find_first_not_of('\0') !=
          std::string_view::npos) {
    return std::nullopt;
  }
  answer.remove_prefix(argvStart);
  for (int32_t i = 0; i < count; ++i) {
    const size_t end = answer.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    area.argv.emplace_back(answer.substr(0, end));
    answer.remove_prefix(end + 1);
  }
  // The kernel's own strings stand behind an environment that is shown, even behind an empty one.
  if (!answer.empty()) area.environment = answer;
  return area;
}

std::string formatToken(const StartToken& token) {
  std::string text = "linux;boot=";
  text.append(token.boot);
  appendPart(text, ";pidns=", token.pidNamespace);
  if (token.timeNamespace) appendPart(text, ";timens=", *token.timeNamespace);
  appendPart(text, ";ticks=", token.ticks);
  if (token.inode) appendPart(text, ";inode=", *token.inode);
  return text;
}

std::optional<StartToken> parseToken(const std::string_view whole) {
  constexpr std::string_view kPlatform = "linux";
  if (!startsWith(whole, kPlatform)) return std::nullopt;
  std::string_view text = whole.substr(kPlatform.size());

  StartToken token;
  const std::optional<std::string_view> boot = takePart(text, "boot");
  const std::optional<uint64_t> pidNamespace = takeNumber(text, "pidns");
  token.timeNamespace = takeNumber(text, "timens");
  const std::optional<uint64_t> ticks = takeNumber(text, "ticks");
  token.inode = takeNumber(text, "inode");
  if (!text.empty() || !boot || !isBootId(*boot, 'a') || !pidNamespace || !ticks)
    return std::nullopt;
  token.boot = std::string(*boot);
  token.pidNamespace = *pidNamespace;
  token.ticks = *ticks;
  // One process has one spelling: an empty or misspelt optional part and leading zeros end here.
  if (formatToken(token) != whole) return std::nullopt;
  return token;
}

std::string formatToken(const DarwinToken& token) {
  std::string text = "darwin;boot=";
  text.append(token.boot);
  appendPart(text, ";unique=", token.unique);
  return text;
}

std::optional<DarwinToken> parseDarwinToken(const std::string_view whole) {
  constexpr std::string_view kPlatform = "darwin";
  if (!startsWith(whole, kPlatform)) return std::nullopt;
  std::string_view text = whole.substr(kPlatform.size());

  const std::optional<std::string_view> boot = takePart(text, "boot");
  const std::optional<uint64_t> unique = takeNumber(text, "unique");
  if (!text.empty() || !boot || !isBootId(*boot, 'A') || !unique) return std::nullopt;
  DarwinToken token{std::string(*boot), *unique};
  if (formatToken(token) != whole) return std::nullopt;
  return token;
}

std::optional<uint64_t> startNumber(std::string_view text) {
  if (const std::optional<DarwinToken> token = parseDarwinToken(text)) return token->unique;
  const std::optional<StartToken> token = parseToken(text);
  return token ? std::optional(token->ticks) : std::nullopt;
}

TokenComparison compareTokens(std::string_view left, std::string_view right) {
  const std::optional<DarwinToken> c = parseDarwinToken(left);
  const std::optional<DarwinToken> d = parseDarwinToken(right);
  if (c && d && c->boot == d->boot) {
    return c->unique == d->unique ? TokenComparison::same : TokenComparison::different;
  }
  const std::optional<StartToken> a = parseToken(left);
  const std::optional<StartToken> b = parseToken(right);
  if (!a || !b) return TokenComparison::notComparable;
  if (a->boot != b->boot || a->pidNamespace != b->pidNamespace ||
      a->timeNamespace != b->timeNamespace) {
    return TokenComparison::notComparable;
  }
  if (a->ticks != b->ticks) return TokenComparison::different;
  if (!a->inode || !b->inode) return TokenComparison::sameWeak;
  return *a->inode == *b->inode ? TokenComparison::same : TokenComparison::different;
}

}  // namespace acpx
