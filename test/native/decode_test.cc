// Rows for decode.h. Run under AddressSanitizer and UndefinedBehaviorSanitizer by
// scripts/sanitizers.mjs, so that a read past the end of a damaged line fails even where the answer
// happens to be right.
#include "decode.h"

#include <random>

#include "check.h"

namespace {

using namespace acpx;
using std::string;
using std::string_view;

// Fields 4 to 52 of a line as Linux 6 writes it: the number of each field is its value, except for
// the flags (9) and the start (22).
string statOf(string_view pid, string_view name, string_view state, string_view flags = "4194560") {
  string line = string(pid) + " (" + string(name) + ") " + string(state);
  for (int field = 4; field <= 52; ++field) {
    line += ' ';
    line += field == 9 ? string(flags) : field == 22 ? "123456789012" : std::to_string(field);
  }
  return line + '\n';
}

void statLines() {
  const auto plain = parseStat(statOf("4711", "node", "S"));
  check::that(plain && plain->pid == 4711, "a stat line has its pid");
  check::that(plain && plain->ppid == 4 && plain->pgid == 5 && plain->sid == 6,
              "parent, group and session come from fields 4, 5 and 6");
  check::that(plain && plain->state == 'S', "the state is the letter behind the name");
  check::that(plain && plain->startTicks == 123456789012, "the start comes from field 22 in full");
  check::that(plain && plain->layout.stack == 28 && plain->layout.argvStart == 48 &&
                  plain->layout.argvEnd == 49 && plain->layout.environmentStart == 50 &&
                  plain->layout.environmentEnd == 51,
              "the memory layout comes from fields 28 and 48 to 51");
  check::that(plain && !plain->kernelThread, "an ordinary process is no kernel thread");
  const auto kernel = parseStat(statOf("2", "kthreadd", "S", "2129984"));
  check::that(kernel && kernel->kernelThread, "PF_KTHREAD marks a kernel thread");

  for (const string_view name :
       {"with space", "a) S 1 1 1", "((", "))", ")", "", "new\nline", "x) (y", "\xff\xfe"}) {
    const auto stat = parseStat(statOf("7", name, "R"));
    check::that(stat && stat->pid == 7 && stat->state == 'R' && stat->ppid == 4,
                "a name may hold spaces, parentheses, newlines or no text at all");
  }

  const string whole = statOf("4711", "no)de", "S");
  bool refused = true;
  for (size_t length = 0; length < whole.size(); ++length) {
    // A copy of its own, so that reading past its end is seen.
    const string cut(whole.data(), length);
    refused = refused && !parseStat(cut);
  }
  check::that(refused, "a line cut short anywhere is refused");
  check::that(!parseStat(statOf("-", "node", "S")), "a pid that is no number is refused");
  check::that(!parseStat(statOf("99999999999", "node", "S")), "a pid beyond 32 bits is refused");
  check::that(!parseStat(statOf("1", "node", "SS")), "a state of two letters is refused");
  check::that(!parseStat(") S (\n"), "parentheses in the wrong order are refused");
}

// A literal with its inner NULs, without the compiler's last one.
template <size_t size>
string_view bytes(const char (&literal)[size]) {
  return {literal, size - 1};
}

void blocks() {
  using Parts = std::vector<string>;
  const auto split = [](string_view block) { return splitNul(block); };
  check::that(split("") == Parts{}, "an empty block has no arguments");
  check::that(split(bytes("a\0b\0")) == Parts{"a", "b"}, "each argument ends with NUL");
  check::that(split(bytes("a\0b")) == Parts{"a", "b"}, "a missing last NUL is forgiven");
  check::that(split(bytes("a\0\0b\0\0")) == Parts{"a", "", "b", ""},
              "empty arguments count, the last one too");
  check::that(split(bytes("\0")) == Parts{""}, "one NUL is one empty argument");
  check::that(split(bytes("it's \"q\" \\ $x\0")) == Parts{"it's \"q\" \\ $x"},
              "quotes and backslashes are text");

  const string_view environment = bytes("A=1\0AB=2\0A=3\0E=\0=odd\0noequals\0X=a=b");
  check::that(findVariable(environment, "A") == "1", "the first assignment wins");
  check::that(findVariable(environment, "AB") == "2", "a longer name is another variable");
  check::that(findVariable(environment, "E") == "", "an empty value is a value");
  check::that(findVariable(environment, "X") == "a=b", "only the first = separates");
  check::that(!findVariable(environment, "noequals"), "text without = is no variable");
  check::that(!findVariable(environment, "B"), "a name is not found inside another");
  check::that(!findVariable(environment, "1"), "a value is not a name");
  check::that(!findVariable("", "A"), "an empty environment has no variable");
  const string big = string(3 << 20, 'x') + '\0' + "LATE=here";
  check::that(findVariable(big, "LATE") == "here", "a variable behind three megabytes is found");
}

constexpr string_view kBoot = "0a1b2c3d-0000-4000-8000-00000000b007";

StartToken tokenOf(uint64_t ticks, std::optional<uint64_t> inode,
                   std::optional<uint64_t> timeNamespace = 4026531834) {
  return {string(kBoot), 4026531836, timeNamespace, ticks, inode};
}

void tokens() {
  check::that(formatToken(tokenOf(7, 9)) ==
                  "linux;boot=0a1b2c3d-0000-4000-8000-00000000b007;"
                  "pidns=4026531836;timens=4026531834;ticks=7;inode=9",
              "a full token names all its parts");
  check::that(formatToken(tokenOf(7, {}, {})) ==
                  "linux;boot=0a1b2c3d-0000-4000-8000-00000000b007;pidns=4026531836;ticks=7",
              "parts that the kernel does not have are left out");
  for (const StartToken& token :
       {tokenOf(7, 9), tokenOf(0, {}), tokenOf(UINT64_MAX, UINT64_MAX), tokenOf(7, 9, {})}) {
    const auto parsed = parseToken(formatToken(token));
    check::that(parsed && formatToken(*parsed) == formatToken(token),
                "a token read back is the same token");
  }

  const string base = formatToken(tokenOf(7, 9));
  for (const string& garbled :
       {string(), string("linux"), string("darwin") + base.substr(5), base + ";", base + ";more=1",
        base + " ", " " + base, base.substr(0, base.size() - 1), base + "x",
        string("linux;boot=0A1B2C3D-0000-4000-8000-00000000b007;pidns=1;ticks=1"),
        string("linux;boot=short;pidns=1;ticks=1"),
        string("linux;boot=0a1b2c3d-0000-4000-8000-00000000b007;pidns=01;ticks=1"),
        string("linux;boot=0a1b2c3d-0000-4000-8000-00000000b007;pidns=-1;ticks=1"),
        string("linux;boot=0a1b2c3d-0000-4000-8000-00000000b007;ticks=1;pidns=1"),
        string(
            "linux;boot=0a1b2c3d-0000-4000-8000-00000000b007;pidns=1;ticks=99999999999999999999"),
        string("linux;boot=0a1b2c3d-0000-4000-8000-00000000b007;pidns=1;ticks=1;inode=")}) {
    check::that(!parseToken(garbled), "text that is not exactly a token is refused: " + garbled);
  }

  const auto compare = [](const StartToken& left, const StartToken& right) {
    const auto forth = compareTokens(formatToken(left), formatToken(right));
    const auto back = compareTokens(formatToken(right), formatToken(left));
    check::that(forth == back, "a comparison does not depend on the order");
    return forth;
  };
  StartToken otherBoot = tokenOf(7, 9);
  otherBoot.boot.back() = '8';
  StartToken otherNamespace = tokenOf(7, 9);
  otherNamespace.pidNamespace = 1;
  using Compared = TokenComparison;
  check::that(compare(tokenOf(7, 9), tokenOf(7, 9)) == Compared::same, "equal with an inode: same");
  check::that(compare(tokenOf(7, {}), tokenOf(7, {})) == Compared::sameWeak,
              "equal without inodes: only weakly the same");
  check::that(compare(tokenOf(7, 9), tokenOf(7, {})) == Compared::sameWeak,
              "an inode on one side only: weakly the same");
  check::that(compare(tokenOf(7, 9), tokenOf(7, 8)) == Compared::different,
              "another inode in the same tick: another process");
  check::that(compare(tokenOf(7, {}), tokenOf(8, {})) == Compared::different,
              "another start: another process");
  check::that(compare(tokenOf(7, 9), otherBoot) == Compared::notComparable,
              "another boot: not comparable");
  check::that(compare(tokenOf(7, 9), otherNamespace) == Compared::notComparable,
              "another PID namespace: not comparable");
  check::that(compare(tokenOf(7, 9), tokenOf(7, 9, 5)) == Compared::notComparable,
              "another time namespace: not comparable");
  check::that(compare(tokenOf(7, 9), tokenOf(7, 9, {})) == Compared::notComparable,
              "a time namespace on one side only: not comparable");
  check::that(compareTokens("", "") == Compared::notComparable, "nothing equals nothing: no");
}

// What macOS answers to KERN_PROCARGS2; test/native/procargs.test.ts has the recorded layouts.
string areaOf(int32_t count, string_view path, string_view strings) {
  string area(reinterpret_cast<const char*>(&count), sizeof count);
  area.append(path);
  area.append(8 - path.size() % 8, '\0');
  return area.append(strings);
}

void argumentAreas() {
  const auto parse = [](const string& answer) {
    return parseArgumentArea(answer, answer.size() + 1);
  };
  const string shown = areaOf(2, "/bin/node", bytes("node\0\0A=1\0\0B=2\0\0\0ptr_munge=\0"));
  const auto area = parse(shown);
  check::that(area && area->path == "/bin/node", "an argument area begins with the path");
  check::that(area && area->argv == std::vector<string>{"node", ""}, "an empty argument is one");
  check::that(area && area->environment && findVariable(*area->environment, "B") == "2",
              "an empty string does not end the environment");
  const auto hidden = parse(areaOf(1, "/bin/sh", bytes("sh\0")));
  check::that(hidden && !hidden->environment, "an area that ends with argv hides its environment");
  check::that(!parseArgumentArea(shown, shown.size()), "a full buffer is a tail and is refused");
  check::that(!parse(areaOf(-1, "/bin/sh", bytes("sh\0"))), "a negative count is refused");
  check::that(!parse(areaOf(3, "/bin/sh", bytes("sh\0"))), "fewer arguments than counted: refused");
  bool contained = true;
  for (size_t length = 0; length < shown.size(); ++length) {
    const string cut(shown.data(), length);
    const auto part = parse(cut);
    contained = contained && (!part || part->argv.size() == 2);
  }
  check::that(contained, "an area cut short has all its arguments or is refused");
}

void darwinTokens() {
  const string token = formatToken(DarwinToken{"0A1B2C3D-0000-4000-8000-00000000B007", 77});
  const string later = formatToken(DarwinToken{"0A1B2C3D-0000-4000-8000-00000000B007", 78});
  const string reboot = formatToken(DarwinToken{"0A1B2C3D-0000-4000-8000-00000000B008", 77});
  using Compared = TokenComparison;
  check::that(token == "darwin;boot=0A1B2C3D-0000-4000-8000-00000000B007;unique=77",
              "a token of macOS is boot and unique id");
  check::that(compareTokens(token, token) == Compared::same, "equal unique ids: same");
  check::that(compareTokens(token, later) == Compared::different, "another id: another process");
  check::that(compareTokens(token, reboot) == Compared::notComparable,
              "an id of another boot: not comparable");
  check::that(compareTokens(token, formatToken(tokenOf(77, 9))) == Compared::notComparable,
              "tokens of two platforms: not comparable");
  check::that(startNumber(token) == 77U, "the number of a token of macOS is the unique id");
  check::that(startNumber(formatToken(tokenOf(7, 9))) == 7U,
              "the number of a token of Linux is its ticks");
  for (const string& garbled : {token + "0x", token + ";", token.substr(0, 40), string("darwin")}) {
    check::that(!parseDarwinToken(garbled) && !startNumber(garbled), "garbled: " + garbled);
  }
}

// Damaged input from a fixed seed: the sanitizers watch, and whatever is accepted must be
// consistent.
void noise() {
  std::mt19937 random(20240229);
  const string seeds[] = {statOf("4711", "no (d) e", "S"), formatToken(tokenOf(7, 9)),
                          string(bytes("A=1\0B=2\0")),
                          formatToken(DarwinToken{"0A1B2C3D-0000-4000-8000-00000000B007", 77}),
                          areaOf(2, "/bin/node", bytes("node\0-e\0A=1\0\0ptr_munge=\0"))};
  bool consistent = true;
  for (int round = 0; round < 200'000; ++round) {
    string text = seeds[random() % std::size(seeds)];
    for (unsigned change = 0; change < 1 + random() % 3; ++change) {
      const size_t at = random() % text.size();
      if (random() % 4 == 0) {
        text.resize(at + 1);
      } else {
        text[at] = static_cast<char>(random());
      }
    }
    const auto token = parseToken(text);
    consistent = consistent && (!token || formatToken(*token) == text);
    const auto darwin = parseDarwinToken(text);
    consistent = consistent && (!darwin || formatToken(*darwin) == text);
    parseStat(text);
    const auto area = parseArgumentArea(text, text.size() + random() % 2);
    if (area && area->environment) findVariable(*area->environment, "A");
    size_t length = 0;
    for (const string& part : splitNul(text)) length += part.size() + 1;
    consistent = consistent && (length == text.size() || length == text.size() + 1);
    findVariable(text, "A");
  }
  check::that(consistent, "damaged text is refused or means exactly what it says");
}

}  // namespace

int main() {
  statLines();
  blocks();
  tokens();
  argumentAreas();
  darwinTokens();
  noise();
  return check::report("decode");
}
