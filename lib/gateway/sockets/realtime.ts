import type { RawData, WebSocket } from 'ws';
import { isRefusal, type Refusal, statusOf } from '#lib/core/errors';
import { applyEdits } from '#lib/core/families/edits';
import type { Edit } from '#lib/core/families/family';
import { type JsonObject, objectIn, textIn } from '#lib/core/families/reading/json';
import { namesLimit, realtimeFields } from '#lib/core/families/realtime/ask';
import {
  type ContextTokens,
  contextAfter,
  heardAudio,
  ResponseMeter,
  usageOfTranscript,
} from '#lib/core/families/realtime/meter';
import { type Scan, type ScanFault, scan, scanInSlices } from '#lib/core/families/scan';
import { FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { AnsweredCall, ClaimedCall } from '#lib/gateway/flow/call/call';
import type { Arrival } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { type OpenSession, releaseSession } from '#lib/gateway/flow/session/open-session';
import {
  beginCall,
  type CheckedEvent,
  checkEvent,
  checkpoint,
  claimEvent,
  closeCall,
  editsOf,
  giveBack,
  type ResponseEnd,
  refuseEvent,
  type SessionTerms,
} from '#lib/gateway/flow/session/session-call';
import { takeTurn } from '#lib/gateway/flow/upload/turns';
import { type Connection, closing } from '#lib/gateway/sockets/connection';
import { FrameBody } from '#lib/gateway/sockets/frame-body';
import {
  appendedTokens,
  asksForDetection,
  audioDeltas,
  beginsAsEvent,
  eventIn,
  idEdits,
  lengthOf,
  newState,
  providerFields,
  realtimeError,
  type SessionState,
  stateIn,
  textDeltas,
} from '#lib/gateway/sockets/pure/realtime-event';
import { RealtimeReply } from '#lib/gateway/sockets/realtime-reply';

/** How long a session may be open, ms (contract: realtime/ends). */
const LIFE_MS = 60 * 60_000;
/** Messages that wait in one direction before nothing more is read there. */
const MOST_WAITING = 64;
/** Bytes that wait in one direction before nothing more is read there. */
const MOST_BYTES = 1024 * 1024;
/** Responses that a client may have asked for and that have not begun. */
const MOST_ASKED = 16;
/** Between two checkpoints of a running response, ms. */
const CHECKPOINT_MS = 1_000;
/** How long a provider may take to end responses that are cancelled, ms. */
const CANCEL_MS = 5_000;
/** How long a session that ends waits for responses that were asked for to begin, ms. */
const BEGIN_MS = 60_000;
/** Between pings to a silent provider, and after which silence it is gone; ms. */
const PING_MS = 25_000;
const SILENCE_MS = 80_000;
/** What is held ahead is given back when no audio has come for this long, ms. */
const IDLE_MS = 30_000;
/** After audio was refused, how long until money and limits are asked for again, ms. */
const RETRY_MS = 1_000;
/** Audio that may come between the moment at which money is held ahead and the response, tokens: 60 s. */
const AHEAD_TOKENS = 600;
/** Bytes of a body that count as a token: of text, and of audio (contract: money/hold). */
const TEXT_BYTES = 4;
const AUDIO_BYTES = 400;
/** Transcripts that are remembered as charged. */
const MOST_TRANSCRIPTS = 1_000;

/** A response that its client has asked for. */
interface AskedResponse {
  readonly call: AnsweredCall;
  readonly eventId: string;
}

/** A response that has begun. */
interface RunningResponse {
  readonly call: AnsweredCall;
  readonly meter: ResponseMeter;
  checkpointMono: number;
  /** What the conversation had when it began: later responses read the rest. */
  readonly weight: Weight;
  cancelled: boolean;
}

/** What came since the newest response, which the next one reads. */
interface Weight {
  readonly textBytes: number;
  readonly audioTokens: number;
  readonly images: number;
}

interface SessionParts {
  readonly runtime: Runtime;
  /** What the calls of the session take from its handshake. */
  readonly head: Pick<Arrival, 'target' | 'headers'>;
  readonly opened: OpenSession;
}

/** A message on its way, and what is done with it. */
interface Waiting {
  readonly message: Buffer;
  readonly isBinary: boolean;
  readonly done: () => void;
}

/**
 * A session of the Realtime API: relays the messages of a client and a provider, and makes a call of each response
 * (contract: realtime/session).
 */
export class RealtimeSession {
  readonly #parts: SessionParts;
  readonly #connection: Connection;
  readonly #provider: WebSocket;
  readonly #up = new Line(
    (one) => this.#fromClient(one),
    () => this.#moved(),
  );
  readonly #down = new Line(
    (one) => this.#fromProvider(one),
    () => this.#moved(),
  );
  readonly #asked: AskedResponse[] = [];
  readonly #running = new Map<string, RunningResponse>();
  readonly #transcripts = new Set<string>();
  readonly #untilMono: number;
  #state: SessionState = newState;
  #context: ContextTokens = { text: 0, audio: 0 };
  #weight: Weight = { textBytes: 0, audioTokens: 0, images: 0 };
  /** Held ahead for a response that the provider starts, or for a transcript. */
  #ahead: CheckedEvent<ClaimedCall> | null = null;
  /** Audio that it covers, tokens. */
  #aheadTokens = 0;
  /** By which money for a transcript is held: it names the model that the client has chosen for it. */
  #transcriptEvent: Uint8Array = transcriptEvent;
  /** Items of a transcription session whose transcripts have not come yet. */
  readonly #untranscribed = new Set<string>();
  #audioMono = 0;
  #refusedMono = Number.NEGATIVE_INFINITY;
  /** Answers to updates of the gateway's own that must not reach the client. */
  #ownUpdates = 0;
  #heardMono: number;
  #pingedMono: number;
  /** Bytes that the provider has not taken yet. */
  #sending = 0;
  #clientWaits = false;
  #providerWaits = false;
  #ending: readonly [code: number, reason: string] | null = null;
  #endingMono = Number.POSITIVE_INFINITY;
  /** How the client closed; null: it has not. */
  #left: readonly [code: number, reason: string] | null = null;
  #over = false;

  constructor(connection: Connection, parts: SessionParts) {
    this.#parts = parts;
    this.#connection = connection;
    this.#provider = parts.opened.accept();
    const nowMono = parts.runtime.clock.mono();
    this.#untilMono = nowMono + LIFE_MS;
    this.#heardMono = nowMono;
    this.#pingedMono = nowMono;
    connection.onGone(() => this.clientLeft(1001, ''));
    connection.onDrain(() => this.#flow());
    const provider = this.#provider;
    provider.on('message', (data: RawData, isBinary: boolean) => {
      this.#heardMono = parts.runtime.clock.mono();
      this.#down.add({ message: bytesOf(data), isBinary, done: () => {} }, (error) => this.#broken(error));
      this.#flow();
    });
    provider.on('ping', (data: Buffer) => {
      this.#heardMono = parts.runtime.clock.mono();
      // Answers that it does not read.
      if (provider.bufferedAmount > this.#sending + MOST_BYTES) provider.terminate();
      connection.ping(data);
    });
    provider.on('pong', () => {
      this.#heardMono = parts.runtime.clock.mono();
    });
    // What is wrong is in the close that follows.
    provider.on('error', () => {});
    provider.on('close', (code: number, reason: Buffer) => this.#providerLeft(code, String(reason)));
  }

  /** A message of the client. @param done returns its memory. */
  take(message: Buffer, isBinary: boolean, done: () => void): void {
    if (this.#left || this.#over) {
      done();
      return;
    }
    this.#up.add({ message, isBinary, done }, (error) => this.#broken(error));
    this.#flow();
  }

  /** A ping of the client. */
  pinged(data: Buffer): void {
    if (this.#provider.readyState === 1 && this.#provider.bufferedAmount < MOST_BYTES)
      this.#provider.ping(data);
  }

  /** The client has closed, or is gone: its responses are cancelled, for their exact usage, and the provider closed. */
  clientLeft(code: number, reason: string): void {
    if (this.#left || this.#over) return;
    this.#left = [code, reason];
    this.#parts.runtime.coordinator?.leave(this.#parts.opened.claim);
    this.#releaseAhead();
    this.#endingMono = this.#parts.runtime.clock.mono();
    this.#resumeProvider();
    if (this.#isIdle()) this.#closeProvider();
    else {
      this.#cancelRunning();
      setTimeout(() => this.#closeProvider(), CANCEL_MS).unref();
    }
  }

  tick(nowMono: number): void {
    this.#connection.tick(nowMono);
    if (this.#over) return;
    if (nowMono >= this.#untilMono) {
      this.end(closing.normal, 'The session was open for 60 minutes; open a new one to continue.');
    }
    if (this.#ahead && nowMono - this.#audioMono > IDLE_MS) this.#releaseAhead();
    for (const [id, response] of this.#running) {
      const { totalMs } = response.call.plan.timeLimits;
      if (nowMono - response.call.startMono < totalMs) continue;
      if (response.cancelled) this.#fail('A response did not end when it was cancelled; connect again.');
      else this.#cancel(id, response);
    }
    const [asked] = this.#asked;
    if (asked && nowMono - asked.call.startMono >= asked.call.plan.timeLimits.totalMs) {
      this.#fail('The provider did not begin a response; connect again.');
    }
    this.#closeLate(nowMono);
    // It is not read while its client is slow.
    if (this.#providerWaits) this.#heardMono = nowMono;
    if (nowMono - this.#heardMono >= SILENCE_MS) this.#provider.terminate();
    else if (nowMono - this.#pingedMono >= PING_MS) {
      this.#pingedMono = nowMono;
      if (this.#provider.readyState === 1) this.#provider.ping();
    }
  }

  /** Closes a session that ends, when what it waits for does not come. */
  #closeLate(nowMono: number): void {
    const endingMs = nowMono - this.#endingMono;
    const isLate =
      this.#ending?.[0] === closing.policy
        ? endingMs > CANCEL_MS * 2
        : endingMs > BEGIN_MS && this.#running.size === 0;
    if (isLate) this.#closeBoth();
  }

  /** Closes it behind what runs; a key that is no longer valid also cancels that. */
  end(code: number, reason: string): void {
    if (this.#ending) return;
    this.#ending = [code, reason];
    this.#endingMono = this.#parts.runtime.clock.mono();
    if (code === closing.policy) this.#cancelRunning();
    this.#closeIdle();
  }

  /** Cuts it. */
  terminate(): void {
    this.#provider.terminate();
  }

  // What the client sends.

  async #fromClient({ message, isBinary, done }: Waiting): Promise<void> {
    try {
      if (this.#left) return;
      const scanned: Scan | ScanFault =
        message.length > FREE_BYTES
          ? await scanInSlices(message, realtimeFields, takeTurn)
          : scan(message, realtimeFields);
      if ('fault' in scanned) {
        if (isBinary && !beginsAsEvent(message)) this.#toProvider(message, true);
        else this.#sayInvalid(scanned.fault, null);
        return;
      }
      const edited = await this.#readEvent(scanned, message);
      if (edited !== null) this.#toProvider(edited, isBinary);
    } finally {
      done();
    }
  }

  /** @returns what goes to the provider; null: nothing. */
  async #readEvent(scanned: Scan, message: Buffer): Promise<Uint8Array | null> {
    const type = scanned.found.get('type')?.value;
    const eventId = textOf(scanned.found.get('event_id')?.value);
    if (type === 'response.create') return this.#askResponse(scanned, message, eventId);
    if (scanned.found.has('session') || scanned.nulls.has('session')) {
      return this.#updateSession(scanned, message, eventId);
    }
    if (type === 'input_audio_buffer.append') {
      this.#audioMono = this.#parts.runtime.clock.mono();
      const audioTokens = appendedTokens(scanned, this.#state);
      if (this.#holdsAhead && !(await this.#holdAhead(eventId, audioTokens))) return null;
      this.#weigh({ audioTokens });
    } else this.#weighItem(scanned, message);
    return message;
  }

  /** A response that the client asks for (contract: realtime/hold). */
  async #askResponse(scanned: Scan, message: Buffer, eventId: string | null): Promise<Uint8Array | null> {
    const { runtime } = this.#parts;
    if (this.#ending) {
      this.#sayInvalid(this.#ending[1], eventId);
      return null;
    }
    if (this.#asked.length >= MOST_ASKED) {
      this.#sayInvalid(`${MOST_ASKED} responses that were asked for have not begun; wait for them.`, eventId);
      return null;
    }
    const claimed = await claimEvent(runtime, this.#arrival(message), this.#terms(0), this.#reply(eventId));
    if (isRefusal(claimed)) return null;
    const edits = editsOf(claimed, true);
    const call = await this.#begin(claimed, {
      eventId,
      take: (begun) => this.#asked.push({ call: begun, eventId: eventId ?? begun.id }),
    });
    if (call === null) return null;
    return applyEdits(message, [...edits, ...idEdits(scanned, call.id)]);
  }

  async #updateSession(scanned: Scan, message: Buffer, eventId: string | null): Promise<Uint8Array | null> {
    const checked = await checkEvent(
      this.#parts.runtime,
      this.#arrival(message),
      // An update that names no limit leaves that of the session as it is.
      { ...this.#terms(0), budget: null },
      this.#reply(eventId),
    );
    if (isRefusal(checked)) return null;
    const transcriber = textOf(scanned.found.get('session.audio.input.transcription.model')?.value);
    if (transcriber !== null) this.#transcriptEvent = transcriptEventOf(transcriber);
    if (asksForDetection(scanned)) this.#state = { ...this.#state, startsByItself: true };
    const edits: readonly Edit[] = editsOf(checked, namesLimit(scanned));
    return applyEdits(message, edits);
  }

  get #transcribes(): boolean {
    return this.#parts.opened.transcribes;
  }

  get #holdsAhead(): boolean {
    return this.#transcribes || this.#state.startsByItself;
  }

  /**
   * Holds money and limits for a response that the provider may start by itself, or for a transcript; audio is passed on
   * only with them (contract: realtime/voice-detection, realtime/transcription).
   * @param audioTokens of the audio that asks for it. @returns false: there are none.
   */
  async #holdAhead(eventId: string | null, audioTokens: number): Promise<boolean> {
    const covered = this.#weight.audioTokens + audioTokens <= this.#aheadTokens;
    if (this.#ahead && (covered || !this.#transcribes)) return true;
    this.#releaseAhead();
    const { runtime } = this.#parts;
    const nowMono = runtime.clock.mono();
    if (this.#ending || nowMono - this.#refusedMono < RETRY_MS) return false;
    const aheadTokens = audioTokens + AHEAD_TOKENS;
    const [event, terms] = this.#transcribes
      ? [this.#transcriptEvent, this.#transcriptTerms(aheadTokens)]
      : [createEvent, this.#terms(AHEAD_TOKENS)];
    const claimed = await claimEvent(runtime, this.#arrival(event), terms, this.#reply(eventId));
    if (!isRefusal(claimed)) {
      if (this.#over || this.#left) {
        giveBack(runtime, claimed);
        return false;
      }
      this.#ahead = claimed;
      this.#aheadTokens = this.#weight.audioTokens + aheadTokens;
      return true;
    }
    this.#refusedMono = nowMono;
    this.#endIfSpent(claimed);
    return false;
  }

  /** Funds, caps and keys that have ended do not come back by waiting. */
  #endIfSpent(refused: Refusal): void {
    const status = statusOf(refused);
    if (status === 401 || status === 402 || status === 403) {
      this.end(closing.policy, `${refused.code}: ${refused.message}`);
    }
  }

  #releaseAhead(): void {
    if (this.#ahead) giveBack(this.#parts.runtime, this.#ahead);
    this.#ahead = null;
  }

  #weighItem({ longStrings, found }: Scan, message: Buffer): void {
    if (found.get('type')?.value !== 'conversation.item.create') return;
    let textBytes = message.length;
    let audioTokens = 0;
    let images = 0;
    for (const { key, start, end, base64 } of longStrings) {
      if (!base64) continue;
      if (key === 'audio') audioTokens += ((end - start) * 10) / 64_000;
      else if (key === 'image_url') images += 1;
      else continue;
      textBytes -= end - start;
    }
    this.#weigh({ textBytes, audioTokens, images });
  }

  #weigh({ textBytes = 0, audioTokens = 0, images = 0 }: Partial<Weight>): void {
    const before = this.#weight;
    this.#weight = {
      textBytes: before.textBytes + textBytes,
      audioTokens: before.audioTokens + audioTokens,
      images: before.images + images,
    };
  }

  // What the provider sends.

  async #fromProvider({ message, isBinary }: Waiting): Promise<void> {
    const scanned = scan(message, providerFields);
    const type = 'fault' in scanned ? null : scanned.found.get('type')?.value;
    const passes =
      'fault' in scanned || typeof type !== 'string' || (await this.#see(type, scanned, message));
    if (passes && !this.#left) this.#connection.send(message, isBinary);
  }

  /** @returns whether the client gets it. */
  async #see(type: string, scanned: Scan, message: Buffer): Promise<boolean> {
    if (textDeltas.has(type) || audioDeltas.has(type)) {
      await this.#said(type, scanned);
      return true;
    }
    if (!read.has(type)) return true;
    const event = eventIn(message);
    if (event === null) return true;
    switch (type) {
      case 'session.created':
      case 'session.updated':
        return this.#sessionShown(type, event);
      case 'response.created':
        await this.#created(textIn(objectIn(event.response)?.id));
        return true;
      case 'response.done':
        return this.#done(objectIn(event.response));
      case 'error':
        return this.#failed(textIn(objectIn(event.error)?.event_id));
      case 'input_audio_buffer.committed':
        if (this.#untranscribed.size >= MOST_TRANSCRIPTS) this.#untranscribed.clear();
        if (this.#transcribes) this.#untranscribed.add(String(event.item_id));
        return true;
      case 'conversation.item.input_audio_transcription.failed':
        this.#untranscribed.delete(String(event.item_id));
        return true;
      default:
        await this.#transcribed(event);
        this.#untranscribed.delete(String(event.item_id));
        return true;
    }
  }

  async #said(type: string, scanned: Scan): Promise<void> {
    const id = String(scanned.found.get('response_id')?.value);
    const response = this.#running.get(id);
    if (!response) return;
    const length = lengthOf(scanned, 'delta');
    const { runtime } = this.#parts;
    const nowMono = runtime.clock.mono();
    response.call.outcome.firstByteMono ??= nowMono;
    if (audioDeltas.has(type)) response.meter.audio(length, this.#state.outputFormat);
    else response.meter.text(length);
    if (nowMono - response.checkpointMono < CHECKPOINT_MS) return;
    response.checkpointMono = nowMono;
    if (await checkpoint(runtime, response.call, response.meter)) return;
    this.#say(
      'insufficient_balance',
      'The balance does not cover the rest of this response; add funds.',
      null,
    );
    this.#cancel(id, response);
  }

  /** @returns false: it answers an update of the gateway's own. */
  #sessionShown(type: string, event: JsonObject): boolean {
    this.#state = stateIn(event, this.#state);
    if (!this.#holdsAhead) this.#releaseAhead();
    if (type === 'session.created') {
      this.#limitSession(event);
      return true;
    }
    if (this.#ownUpdates === 0) return true;
    this.#ownUpdates -= 1;
    return false;
  }

  /** Responses that the provider starts are limited by the session only (contract: realtime/budget). */
  #limitSession(event: JsonObject): void {
    const { snapshot, target } = this.#parts.opened;
    const most = snapshot.key.maxOutputTokens;
    const { maxOutputTokens } = target.model;
    if (this.#transcribes || most === null || (maxOutputTokens > 0 && maxOutputTokens <= most)) return;
    const session = objectIn(event.session);
    const limited =
      session && 'max_response_output_tokens' in session
        ? { max_response_output_tokens: most }
        : { type: 'realtime', max_output_tokens: most };
    this.#ownUpdates += 1;
    this.#toProvider(
      Buffer.from(JSON.stringify({ type: 'session.update', event_id: OWN_EVENT, session: limited })),
      false,
    );
  }

  /** A response has begun: the next one that its client asked for, else one that the provider started. */
  async #created(id: string | null): Promise<void> {
    if (id === null || this.#running.has(id)) return;
    const asked = this.#asked.shift();
    const begun = asked ? { call: asked.call, cancelled: false } : await this.#startedByItself(id);
    if (begun === null) return;
    const nowMono = this.#parts.runtime.clock.mono();
    this.#running.set(id, {
      ...begun,
      meter: new ResponseMeter(),
      checkpointMono: nowMono,
      weight: this.#weight,
    });
    if (this.#left || this.#ending?.[0] === closing.policy) this.#cancelRunning();
  }

  /**
   * One that nothing covers is cancelled, and charged for what it has used by then (contract: realtime/voice-detection).
   * @returns null: it cannot be charged.
   */
  async #startedByItself(id: string): Promise<Pick<RunningResponse, 'call' | 'cancelled'> | null> {
    this.#releaseAhead();
    const { runtime } = this.#parts;
    const reply = this.#reply(null);
    const claimed = await claimEvent(runtime, this.#arrival(createEvent), this.#terms(0), reply);
    if (!isRefusal(claimed)) {
      const call = await this.#begin(claimed);
      if (call) return { call, cancelled: false };
    } else this.#endIfSpent(claimed);
    this.#sendEvent({ type: 'response.cancel', response_id: id });
    const call = await this.#beginOwed(createEvent, this.#terms(0));
    return call && { call, cancelled: true };
  }

  /** The call of what the provider has begun or done already: no limit refuses it, and its client is not asked. */
  async #beginOwed(event: Uint8Array, terms: SessionTerms): Promise<AnsweredCall | null> {
    const arrival = { ...this.#arrival(event), begun: true };
    const reply = new RealtimeReply(null, null);
    const claimed = await claimEvent(this.#parts.runtime, arrival, terms, reply);
    if (!isRefusal(claimed)) return this.#begin(claimed, { reply });
    this.#endIfSpent(claimed);
    return null;
  }

  /** A response has ended. @returns false: its charge could not be written, so the session ends without that. */
  async #done(response: JsonObject | null): Promise<boolean> {
    const id = textIn(response?.id);
    const running = id === null ? undefined : this.#running.get(id);
    if (!response || id === null || !running) return true;
    this.#running.delete(id);
    running.meter.done(response);
    const context = contextAfter(response);
    // A response outside of the conversation has read less than the next one may.
    if (context) {
      const { text, audio } = this.#context;
      this.#context = { text: Math.max(text, context.text), audio: Math.max(audio, context.audio) };
    }
    const { weight } = running;
    this.#weight = {
      textBytes: Math.max(0, this.#weight.textBytes - weight.textBytes),
      audioTokens: Math.max(0, this.#weight.audioTokens - weight.audioTokens),
      images: Math.max(0, this.#weight.images - weight.images),
    };
    return this.#close(running.call, running.meter, 'ended');
  }

  /** An error of the provider, perhaps about a response that was asked for. @returns whether the client gets it. */
  async #failed(eventId: string | null): Promise<boolean> {
    if (eventId === OWN_EVENT) {
      this.#fail("The provider did not take this key's maximum of output tokens; use another key or model.");
      return false;
    }
    const at = this.#asked.findIndex((one) => one.eventId === eventId);
    const [asked] = at < 0 ? [] : this.#asked.splice(at, 1);
    return asked ? this.#close(asked.call, failedMeter(), 'ended') : true;
  }

  /** What was said has been transcribed, which some providers charge for (contract: realtime/transcripts). */
  async #transcribed(event: JsonObject): Promise<void> {
    const { runtime, opened } = this.#parts;
    const item = `${textIn(event.item_id)} ${String(event.content_index)}`;
    const model = this.#state.transcriptionModel ?? opened.target.offer.upstreamModel;
    const report = usageOfTranscript(event, model);
    const made = textIn(event.transcript);
    // Beside responses, a transcript without usage is free; in a session of nothing else it is estimated.
    const isOwed = report !== null || (this.#transcribes && made !== null);
    if (!isOwed || this.#transcripts.has(item)) return;
    if (this.#transcripts.size >= MOST_TRANSCRIPTS) this.#transcripts.clear();
    this.#transcripts.add(item);
    const terms = report ? { ...this.#terms(0), budget: 0, weight: noWeight } : this.#transcriptTerms(0);
    this.#releaseAhead();
    if (this.#transcribes) this.#weight = nothingHeard;
    const call = await this.#beginOwed(transcriptEvent, terms);
    if (call === null) return;
    const meter = new ResponseMeter();
    if (report) meter.used(report);
    else meter.text(Buffer.byteLength(made ?? ''));
    // Nothing was held for it: its hold becomes what it costs.
    await checkpoint(runtime, call, meter);
    await this.#close(call, meter, 'ended');
  }

  // Calls.

  #arrival(event: Uint8Array): Arrival {
    const { runtime, head } = this.#parts;
    return {
      ...head,
      method: 'GET',
      body: new FrameBody(runtime.bodies, event),
      inSession: true,
      onGone: () => {},
    };
  }

  #reply(eventId: string | null): RealtimeReply {
    return new RealtimeReply(this.#connection, eventId);
  }

  /** @param aheadTokens of audio that may still come. */
  #terms(aheadTokens: number): SessionTerms {
    const { text, audio } = this.#context;
    const { textBytes, audioTokens, images } = this.#weight;
    return {
      session: this.#parts.opened,
      budget: this.#state.budget,
      weight: {
        textBytes: textBytes + text * TEXT_BYTES,
        audioVideoBytes: Math.ceil(audio + audioTokens + aheadTokens) * AUDIO_BYTES,
        images,
        fileBytes: 0,
        searchTools: 0,
      },
    };
  }

  /** Of a transcript of what came since the newest one. @param aheadTokens of audio that may still come. */
  #transcriptTerms(aheadTokens: number): SessionTerms {
    const tokens = Math.ceil(this.#weight.audioTokens + aheadTokens);
    return {
      session: this.#parts.opened,
      budget: 0,
      weight: { ...noWeight, audioVideoBytes: tokens * AUDIO_BYTES },
      audio: heardAudio(tokens),
    };
  }

  /** @param options `take` gets it before the session can end. */
  async #begin(
    claimed: CheckedEvent<ClaimedCall>,
    {
      eventId = null,
      reply = this.#reply(eventId),
      take,
    }: {
      readonly eventId?: string | null;
      readonly reply?: RealtimeReply;
      readonly take?: (call: AnsweredCall) => void;
    } = {},
  ): Promise<AnsweredCall | null> {
    const { runtime } = this.#parts;
    try {
      const call = await beginCall(runtime, claimed);
      call.ask.scan.body = new Uint8Array();
      if (!this.#over) {
        take?.(call);
        return call;
      }
      await this.#close(call, failedMeter(), 'ended');
      return null;
    } catch (error) {
      await refuseEvent(runtime, claimed.call, reply, error);
      return null;
    }
  }

  /** @returns false: its charge could not be written. */
  async #close(call: AnsweredCall, meter: ResponseMeter, end: ResponseEnd): Promise<boolean> {
    const { runtime } = this.#parts;
    try {
      await closeCall(runtime, call, meter, end);
      return true;
    } catch (error) {
      runtime.report(error, call.id);
      this.#fail('The gateway could not account for a response; connect again.');
      return false;
    }
  }

  #cancelRunning(): void {
    for (const [id, response] of this.#running) this.#cancel(id, response);
  }

  #cancel(id: string, response: RunningResponse): void {
    if (response.cancelled) return;
    response.cancelled = true;
    this.#sendEvent({ type: 'response.cancel', response_id: id });
  }

  // Frames and their pace.

  #sendEvent(event: object): void {
    this.#toProvider(Buffer.from(JSON.stringify(event)), false);
  }

  #toProvider(message: Uint8Array, isBinary: boolean): void {
    if (this.#provider.readyState !== 1) return;
    this.#sending += message.length;
    this.#provider.send(message, { binary: isBinary }, () => {
      this.#sending -= message.length;
      this.#flow();
    });
  }

  /** Reads from each side only what the other one takes. */
  #flow(): void {
    const clientWaits = this.#up.full || this.#sending > MOST_BYTES;
    if (clientWaits !== this.#clientWaits) {
      this.#clientWaits = clientWaits;
      if (clientWaits) this.#connection.pause();
      else this.#connection.resume();
    }
    const providerWaits = !this.#left && (this.#down.full || !this.#connection.keepsUp);
    if (providerWaits === this.#providerWaits) return;
    this.#providerWaits = providerWaits;
    if (providerWaits) this.#provider.pause();
    else this.#provider.resume();
  }

  /** A message was dealt with. */
  #moved(): void {
    if (this.#over) return;
    this.#flow();
    this.#closeIdle();
    if (this.#left && this.#isIdle()) this.#closeProvider();
  }

  #resumeProvider(): void {
    this.#providerWaits = false;
    this.#provider.resume();
  }

  #say(code: string, message: string, eventId: string | null): void {
    const { runtime } = this.#parts;
    const id = runtime.newId() ?? runtime.fallbackId();
    this.#connection.send(realtimeError({ id, type: 'invalid_request_error', code, message, eventId }));
  }

  #sayInvalid(message: string, eventId: string | null): void {
    this.#say('invalid_body', message, eventId);
  }

  // Ends.

  #isIdle(): boolean {
    const isSilent = this.#running.size === 0 && this.#asked.length === 0;
    return isSilent && this.#untranscribed.size === 0 && this.#up.idle;
  }

  #closeIdle(): void {
    if (this.#ending && this.#isIdle()) this.#closeBoth();
  }

  #closeBoth(): void {
    if (this.#over || !this.#ending) return;
    const [code, reason] = this.#ending;
    const told = /^(\w+): (.*)$/s.exec(reason);
    this.#say(told?.[1] ?? 'session_expired', told?.[2] ?? reason, null);
    this.#connection.close(code, reason);
    this.#closeProvider();
  }

  #closeProvider(): void {
    const [code, reason] = this.#left ?? [closing.normal, ''];
    if (this.#provider.readyState > 1) return;
    if (isSendable(code)) this.#provider.close(code, reason);
    else this.#provider.close();
    // A close is not read while paused.
    this.#resumeProvider();
  }

  #broken(error: unknown): void {
    this.#parts.runtime.report(error, this.#parts.opened.id);
    this.#fail('The gateway could not go on with this session; connect again.');
  }

  /** Ends it at once. */
  #fail(reason: string): void {
    this.#connection.close(closing.fault, reason);
    this.#provider.terminate();
  }

  /** The provider is gone: what ran is charged as far as it came. */
  #providerLeft(code: number, reason: string): void {
    void this.#settle(code, reason).catch((error) => this.#broken(error));
  }

  async #settle(code: number, reason: string): Promise<void> {
    if (this.#over) return;
    // What it has sent before its close comes first.
    await this.#down.rest();
    if (this.#over) return;
    this.#over = true;
    this.#releaseAhead();
    const end: ResponseEnd = this.#left || this.#ending ? 'closed' : 'broken';
    for (const { call, meter } of this.#running.values()) await this.#close(call, meter, end);
    for (const { call } of this.#asked) await this.#close(call, failedMeter(), 'ended');
    this.#running.clear();
    this.#asked.length = 0;
    releaseSession(this.#parts.runtime, this.#parts.opened);
    if (this.#ending === null && !this.#left) {
      if (isSendable(code)) this.#connection.close(code, reason);
      else this.#connection.close(closing.fault, "The provider's connection broke; connect again.");
    }
  }
}

/** The gateway's own event id, by which it knows an error about its update. */
const OWN_EVENT = 'event_gateway_limit';
const createEvent = Buffer.from('{"type":"response.create"}');
const transcriptEvent = Buffer.from('{"type":"transcription"}');
const nothingHeard: Weight = { textBytes: 0, audioTokens: 0, images: 0 };
const noWeight = { textBytes: 0, audioVideoBytes: 0, images: 0, fileBytes: 0, searchTools: 0 };

/** Events of a provider that are read as a whole. */
const read: ReadonlySet<string> = new Set([
  'session.created',
  'session.updated',
  'response.created',
  'response.done',
  'error',
  'input_audio_buffer.committed',
  'conversation.item.input_audio_transcription.completed',
  'conversation.item.input_audio_transcription.failed',
]);

/** @param model as the client names it. */
function transcriptEventOf(model: string): Uint8Array {
  const session = { audio: { input: { transcription: { model } } } };
  return Buffer.from(JSON.stringify({ type: 'transcription', session }));
}

/** Of a response that never began. */
function failedMeter(): ResponseMeter {
  const meter = new ResponseMeter();
  meter.done({ status: 'failed' });
  return meter;
}

/** Codes that a close may have: the others say that there was none. */
function isSendable(code: number): boolean {
  return (
    (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) ||
    (code >= 3000 && code < 5000)
  );
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

/** Messages of one direction, one after the other. */
class Line {
  readonly #work: (one: Waiting) => Promise<void>;
  readonly #moved: () => void;
  #last: Promise<void> = Promise.resolve();
  #count = 0;
  #bytes = 0;

  constructor(work: (one: Waiting) => Promise<void>, moved: () => void) {
    this.#work = work;
    this.#moved = moved;
  }

  get full(): boolean {
    return this.#count >= MOST_WAITING || this.#bytes > MOST_BYTES;
  }

  get idle(): boolean {
    return this.#count === 0;
  }

  /** Resolves when all that was added is done. */
  rest(): Promise<void> {
    return this.#last;
  }

  add(one: Waiting, failed: (error: unknown) => void): void {
    this.#count += 1;
    this.#bytes += one.message.length;
    const { length } = one.message;
    this.#last = this.#last
      .then(() => this.#work(one))
      .catch(failed)
      .finally(() => {
        this.#count -= 1;
        this.#bytes -= length;
        this.#moved();
      });
  }
}
