import type { Next, Step } from '#lib/core/audio/step';

/** Elements that are read into, by their ids: segment, info, cluster, group of blocks. */
const entered: ReadonlySet<number> = new Set([0x18538067, 0x1549a966, 0x1f43b675, 0xa0]);
const SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const CLUSTER_TIME = 0xe7;
const blocks: ReadonlySet<number> = new Set([0xa3, 0xa1]);
/** Of a block: the number of its track, and its time after that of its cluster. */
const BLOCK_HEAD = 3;

interface Times {
  /** Nanoseconds a unit. */
  scale: number;
  /** As the file says; browsers leave it out. Units. */
  duration: number;
  cluster: number;
  /** When the last block begins. */
  last: number;
}

/** WebM and Matroska. @param start the first bytes of the file, whose own header is one more element. */
export function webm(start: Buffer): Next {
  return { step: idStart({ scale: 1_000_000, duration: 0, cluster: 0, last: 0 }), keep: start };
}

/** The id of an element: as many bytes as zeros lead in the first one, and one more. */
function idStart(times: Times): Step {
  return {
    want: 1,
    ms: () => msOf(times),
    take(bytes) {
      const first = bytes[0] ?? 0;
      const length = Math.clz32(first) - 23;
      if (length > 4) return null;
      return length === 1 ? { step: sizeStart(times, first) } : { step: idRest(times, length), keep: bytes };
    },
  };
}

function idRest(times: Times, length: number): Step {
  return {
    want: length,
    ms: () => msOf(times),
    take: (bytes) => ({ step: sizeStart(times, bytes.readUIntBE(0, length)) }),
  };
}

function sizeStart(times: Times, id: number): Step {
  return {
    want: 1,
    ms: () => msOf(times),
    take(bytes) {
      const length = Math.clz32(bytes[0] ?? 0) - 23;
      if (length > 8) return null;
      return length === 1
        ? element(times, id, sizeIn(bytes))
        : { step: sizeRest(times, id, length), keep: bytes };
    },
  };
}

function sizeRest(times: Times, id: number, length: number): Step {
  return {
    want: length,
    ms: () => msOf(times),
    take: (bytes) => element(times, id, sizeIn(bytes)),
  };
}

/** @returns null for a size that is left open. */
function sizeIn(bytes: Buffer): number | null {
  const mask = 2 ** (8 - bytes.length) - 1;
  let size = (bytes[0] ?? 0) & mask;
  let open = size === mask;
  for (const byte of bytes.subarray(1)) {
    size = size * 256 + byte;
    open &&= byte === 0xff;
  }
  return open ? null : size;
}

function element(times: Times, id: number, size: number | null): Next | null {
  if (entered.has(id)) return { step: idStart(times) };
  if (size === null || !Number.isSafeInteger(size)) return null;
  const isUint = size >= 1 && size <= 6;
  if (id === SCALE && isUint) {
    return value(times, size, (bytes) => {
      times.scale = bytes.readUIntBE(0, size);
    });
  }
  if (id === CLUSTER_TIME && isUint) {
    return value(times, size, (bytes) => {
      times.cluster = bytes.readUIntBE(0, size);
    });
  }
  if (id === DURATION && (size === 4 || size === 8)) {
    return value(times, size, (bytes) => {
      times.duration = size === 4 ? bytes.readFloatBE() : bytes.readDoubleBE();
    });
  }
  if (!blocks.has(id) || size < BLOCK_HEAD) return { step: idStart(times), skip: size };
  const rest = size - BLOCK_HEAD;
  return value(
    times,
    BLOCK_HEAD,
    (bytes) => {
      times.last = Math.max(times.last, times.cluster + bytes.readInt16BE(1));
    },
    rest,
  );
}

/** A value of an element. @param rest bytes of the element behind it. */
function value(times: Times, want: number, read: (bytes: Buffer) => void, rest = 0): Next {
  const step: Step = {
    want,
    ms: () => msOf(times),
    take(bytes) {
      read(bytes);
      return { step: idStart(times), skip: rest };
    },
  };
  return { step };
}

function msOf({ scale, duration, last }: Times): number | null {
  const units = Math.max(duration, last);
  return units > 0 ? (units * scale) / 1_000_000 : null;
}
