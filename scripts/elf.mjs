// As much of ELF as tells for which machine a file is, what it needs and what it gives away; elf(5), 64 bit and little
// endian only.
const VERSION_NEEDED = 0x6ffffffe;
const DYNAMIC_SYMBOLS = 11;
const DYNAMIC = 6;
const NEEDED = 1n;

export const MACHINES = { x64: 62, arm64: 183 };

/** undefined: not such a file. */
export function readElf(bytes) {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1)
    return undefined;
  const sections = sectionsOf(bytes);
  return {
    machine: bytes.readUInt16LE(18),
    libraries: sections
      .filter(({ type }) => type === DYNAMIC)
      .flatMap((section) => librariesOf(bytes, section, sections)),
    versions: sections
      .filter(({ type }) => type === VERSION_NEEDED)
      .flatMap((section) => versionsOf(bytes, section, sections)),
    exports: sections
      .filter(({ type }) => type === DYNAMIC_SYMBOLS)
      .flatMap((section) => exportsOf(bytes, section, sections)),
  };
}

function sectionsOf(bytes) {
  const start = Number(bytes.readBigUInt64LE(40));
  const size = bytes.readUInt16LE(58);
  return Array.from({ length: bytes.readUInt16LE(60) }, (_, index) => {
    const at = start + index * size;
    return {
      type: bytes.readUInt32LE(at + 4),
      offset: Number(bytes.readBigUInt64LE(at + 24)),
      size: Number(bytes.readBigUInt64LE(at + 32)),
      link: bytes.readUInt32LE(at + 40),
    };
  });
}

function librariesOf(bytes, { offset, size, link }, sections) {
  const libraries = [];
  for (let at = offset; at < offset + size; at += 16) {
    if (bytes.readBigInt64LE(at) === NEEDED) {
      libraries.push(text(bytes, sections[link].offset + Number(bytes.readBigUInt64LE(at + 8))));
    }
  }
  return libraries;
}

/** Names such as "GLIBC_2.28". */
function versionsOf(bytes, { offset, link }, sections) {
  const versions = [];
  for (let file = offset; ; file += bytes.readUInt32LE(file + 12)) {
    let at = file + bytes.readUInt32LE(file + 8);
    for (let left = bytes.readUInt16LE(file + 2); left > 0; left--) {
      versions.push(text(bytes, sections[link].offset + bytes.readUInt32LE(at + 8)));
      at += bytes.readUInt32LE(at + 12);
    }
    if (bytes.readUInt32LE(file + 12) === 0) return versions;
  }
}

/** Global or weak symbols that the file defines. */
function exportsOf(bytes, { offset, size, link }, sections) {
  const names = [];
  for (let at = offset; at < offset + size; at += 24) {
    const isDefined = bytes.readUInt16LE(at + 6) !== 0;
    if (isDefined && bytes[at + 4] >> 4 !== 0)
      names.push(text(bytes, sections[link].offset + bytes.readUInt32LE(at)));
  }
  return names;
}

function text(bytes, at) {
  return bytes.toString("latin1", at, bytes.indexOf(0, at));
}
