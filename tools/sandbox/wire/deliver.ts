import { gzipSync } from 'node:zlib';
import type { Answer, Dialect, Frame, Truth } from '#tools/sandbox/dialect';
import type { Behaviour, Stop } from '#tools/sandbox/scenario/behaviour';
import { faultOf } from '#tools/sandbox/scenario/provider-fault';
import type { Outlet } from '#tools/sandbox/wire/outlet';
import { type Wording, wordingOf } from '#tools/sandbox/wire/wording';

/** What was sent, for the truth log. */
export interface Delivery {
  /** Generated until the end, whether or not the client received it. */
  outputTokens: number;
  chunksSent: number;
  usageReported: unknown;
  /** The fault cut the answer short. */
  faulted: boolean;
}

type Headers = Readonly<Record<string, string>>;

/** How an answer is sent. */
interface Manner {
  readonly behaviour: Behaviour;
  readonly dialect: Dialect;
  readonly headers: Headers;
}

/** Sends an answer with a behavior. Resolves when it is sent or broken, or the client is gone. */
export async function deliver(
  outlet: Outlet,
  answer: Answer,
  { behaviour, dialect, headers }: Manner,
): Promise<Delivery> {
  const delivery: Delivery = { outputTokens: 0, chunksSent: 0, usageReported: null, faulted: false };
  const { content, truth, status = 200 } = answer;
  if (content.kind === 'flow') {
    const length: Headers = content.length === null ? {} : { 'content-length': String(content.length) };
    const described = { ...headers, 'content-type': content.type, ...length };
    outlet.start(status, { ...described, ...answer.headers });
    await sendFlow(outlet, content.pieces, behaviour, delivery);
    return delivery;
  }
  if (content.kind !== 'stream') {
    const whole = content.kind === 'whole';
    if (!(await think(outlet, truth, behaviour, delivery))) return delivery;
    delivery.outputTokens = truth.outputTokens;
    delivery.usageReported = whole ? (content.usage ?? null) : null;
    const body = whole ? Buffer.from(content.text) : content.bytes;
    const type = { 'content-type': whole ? 'application/json' : content.type };
    const wholeHeaders = { ...headers, ...type, ...answer.headers };
    await sendWhole(outlet, { status, headers: wholeHeaders, plain: body }, behaviour, delivery);
    return delivery;
  }
  const wording = wordingOf(content.framing ?? 'events', dialect, behaviour);
  const streamHeaders = { ...headers, 'content-type': wording.contentType, 'cache-control': 'no-cache' };
  if (behaviour.gzip || behaviour.lengthOffset !== null) {
    const frames = [...content.frames];
    delivery.outputTokens = truth.outputTokens;
    delivery.usageReported = frames.findLast((frame) => frame.usage !== undefined)?.usage ?? null;
    const text = frames.map((frame, index) => wording.text(frame, index === 0)).join('');
    const plain = Buffer.from(text + wording.ending);
    await sendWhole(outlet, { status: 200, headers: streamHeaders, plain }, behaviour, delivery);
    return delivery;
  }
  outlet.start(200, streamHeaders);
  const error = dialect.errorEvent(faultOf(500));
  const stream = { frames: content.frames, wording, error, reasoning: truth.reasoningTokens };
  await sendStream(outlet, stream, behaviour, delivery);
  return delivery;
}

/**
 * A whole answer with reasoning takes as long as its pace says.
 * @returns false if its client left before that; the tokens generated until then are counted.
 */
async function think(
  outlet: Outlet,
  { outputTokens, reasoningTokens }: Truth,
  { gapMs }: Behaviour,
  delivery: Delivery,
): Promise<boolean> {
  if (reasoningTokens === 0 || gapMs === 0) return true;
  const startMs = performance.now();
  await outlet.sleep(outputTokens * gapMs);
  delivery.outputTokens = Math.min(outputTokens, Math.floor((performance.now() - startMs) / gapMs));
  return !outlet.gone;
}

async function sendWhole(
  outlet: Outlet,
  { status, headers, plain }: { readonly status: number; readonly headers: Headers; readonly plain: Buffer },
  behaviour: Behaviour,
  delivery: Delivery,
): Promise<void> {
  const { stop, sliceBytes, lengthOffset } = behaviour;
  const body = behaviour.gzip ? gzipSync(plain) : plain;
  const half = body.subarray(0, Math.floor(body.length / 2));
  const endsEarly = stop?.by === 'end' || stop?.by === 'error-event' || stop?.by === 'malformed';
  const announced = (endsEarly ? half : body).length + (lengthOffset ?? 0);
  const coding: Headers = behaviour.gzip ? { 'content-encoding': 'gzip' } : {};
  outlet.start(status, { ...headers, ...coding, 'content-length': String(Math.max(0, announced)) });
  if (stop) {
    await outlet.write(half, sliceBytes);
    delivery.faulted = !endsEarly;
    if (stop.by === 'stall') await outlet.stall(stop.resumeMs);
    else if (stop.by === 'reset') return outlet.reset();
    else if (endsEarly) return outlet.end();
    else return outlet.fin();
  }
  await outlet.write(stop ? body.subarray(half.length) : body, sliceBytes);
  delivery.faulted = lengthOffset !== null;
  // Fewer bytes than announced: after a proper end, the client would wait for them.
  return lengthOffset !== null && lengthOffset > 0 ? outlet.fin() : outlet.end();
}

/** Bytes that are generated while they are sent; a piece counts as a chunk. */
async function sendFlow(
  outlet: Outlet,
  pieces: Iterable<Buffer>,
  { stop, gapMs, sliceBytes }: Behaviour,
  delivery: Delivery,
): Promise<void> {
  for (const piece of pieces) {
    if (outlet.gone) return;
    if (stop && delivery.chunksSent === stop.after) {
      delivery.faulted = stop.by !== 'stall';
      if (stop.by === 'stall') await outlet.stall(stop.resumeMs);
      else return stop.by === 'reset' ? outlet.reset() : outlet.fin();
    }
    await outlet.sleep(gapMs);
    await outlet.write(piece, sliceBytes);
    delivery.chunksSent++;
  }
  return outlet.end();
}

interface StreamParts {
  readonly frames: Iterable<Frame>;
  readonly wording: Wording;
  /** Sent if the behavior ends the stream with an error. */
  readonly error: Frame;
  /** Tokens of reasoning, generated before the first frame. */
  readonly reasoning: number;
}

async function sendStream(
  outlet: Outlet,
  { frames, wording, error, reasoning }: StreamParts,
  behaviour: Behaviour,
  delivery: Delivery,
): Promise<void> {
  const beganMs = performance.now();
  const startMs = beganMs + reasoning * behaviour.gapMs;
  let stop = behaviour.stop;
  for (const frame of frames) {
    const first = outlet.bytesSent === 0;
    const bytes = Buffer.from(wording.text(frame, first));
    if (stop && strikes(stop, frame, bytes, delivery.chunksSent)) {
      if (stop.by !== 'stall' && stop.by !== 'malformed') {
        delivery.faulted = true;
        const errorEvent = wording.text(error, first) + wording.ending;
        return breakOff(outlet, stop.by, { bytes, errorEvent }, behaviour);
      }
      if (stop.by === 'stall') await outlet.stall(stop.resumeMs);
      else await outlet.write(Buffer.from(wording.text({ ...frame, data: '{"id":"chatcmpl-' }, first)), null);
      stop = null;
    }
    if (frame.content && behaviour.gapMs > 0) {
      await outlet.sleep(startMs + (delivery.chunksSent + 1) * behaviour.gapMs - performance.now());
    }
    if (outlet.gone) {
      // Reasoning is counted on an event before the text, but is generated at the pace of the text.
      const unmade = reasoning - Math.floor((performance.now() - beganMs) / (behaviour.gapMs || 1));
      if (behaviour.gapMs > 0 && unmade > 0)
        delivery.outputTokens = Math.max(0, delivery.outputTokens - unmade);
      return;
    }
    delivery.outputTokens += frame.tokens;
    await outlet.write(bytes, behaviour.sliceBytes);
    if (frame.content) delivery.chunksSent++;
    if (frame.usage !== undefined) delivery.usageReported = frame.usage;
  }
  if (behaviour.extra === 'trailing-bytes')
    await outlet.write(Buffer.from('data: {"late":true}\n\ntail'), null);
  await outlet.write(Buffer.from(wording.ending), null);
  return outlet.end();
}

/** After N chunks, and before the finish at the latest; `cut-inside` waits for a character that it can cut. */
function strikes(stop: Stop, frame: Frame, bytes: Buffer, chunks: number): boolean {
  const over = chunks > 0 && !frame.content;
  if (stop.by === 'inside' && !over && !bytes.some((byte) => byte >= 0xc0)) return false;
  return chunks >= stop.after || over;
}

async function breakOff(
  outlet: Outlet,
  by: Exclude<Stop['by'], 'stall' | 'malformed'>,
  { bytes, errorEvent }: { readonly bytes: Buffer; readonly errorEvent: string },
  { sliceBytes }: Behaviour,
): Promise<void> {
  if (by === 'reset') return outlet.reset();
  if (by === 'fin') return outlet.fin();
  if (by === 'inside') {
    const lead = bytes.findIndex((byte) => byte >= 0xc0);
    await outlet.write(bytes.subarray(0, lead < 0 ? bytes.length >> 1 : lead + 1), sliceBytes);
    return outlet.fin();
  }
  if (by === 'error-event') await outlet.write(Buffer.from(errorEvent), sliceBytes);
  return outlet.end();
}
