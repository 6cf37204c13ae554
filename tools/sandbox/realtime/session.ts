import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { textTokens } from '#tools/sandbox/content/tokens';
import { record } from '#tools/sandbox/content/tool-call';
import { Conversation } from '#tools/sandbox/realtime/conversation';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';
import { reported } from '#tools/sandbox/scenario/bend';
import { findDirective, parseName, withoutDirective } from '#tools/sandbox/scenario/name';
import type { Scenarios } from '#tools/sandbox/scenario/plan';

type Json = Readonly<Record<string, unknown>>;

/** Bytes of audio of one output token: twenty a second. */
const SPOKEN_BYTES = 2_400;
/** Audio tokens for each token of text that is spoken. */
const SPOKEN_TOKENS = 4;

interface SessionFacts {
  readonly socket: WebSocket;
  readonly model: string;
  /** It only transcribes what it hears. */
  readonly transcribes: boolean;
  readonly scenarios: Scenarios;
  /** A response has ended: what a fair provider would charge for. */
  readonly charged: (response: ChargedResponse) => void;
}

/** A response, for the truth log. */
export interface ChargedResponse {
  readonly id: string;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly usageReported: unknown;
}

interface Running {
  readonly id: string;
  cancelled: boolean;
}

/**
 * A session of the Realtime API: it answers with what was said. Voice detection takes audio whose bytes are all zero for
 * the silence after an utterance. A directive in the text decides what happens: `[[pace/50/20]]`, `[[fault/no-usage]]`,
 * `[[echo?lie=unknown]]` (a `response.done` that was not asked for), `[[echo?lie=twice]]`, `[[echo?lie=silent]]` (the
 * response never begins). A session for transcripts reads the directive in the prompt of its transcription.
 */
export class Session {
  readonly #facts: SessionFacts;
  readonly #conversation = new Conversation();
  #session: Json;
  #heardBytes = 0;
  #spoke = false;
  #running: Running | null = null;

  constructor(facts: SessionFacts) {
    this.#facts = facts;
    const input = {
      format: { type: 'audio/pcm', rate: 24_000 },
      transcription: null,
      turn_detection: { type: 'server_vad', create_response: true, interrupt_response: true },
    };
    if (facts.transcribes) {
      this.#session = {
        type: 'transcription',
        object: 'realtime.transcription_session',
        id: `sess_${randomUUID()}`,
        audio: { input: { ...input, turn_detection: { type: 'server_vad' } } },
      };
      this.#send({ type: 'session.created', session: this.#session });
      return;
    }
    this.#session = {
      type: 'realtime',
      object: 'realtime.session',
      id: `sess_${randomUUID()}`,
      model: facts.model,
      output_modalities: ['audio'],
      instructions: 'You are an echo.',
      max_output_tokens: 'inf',
      audio: {
        input,
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'alloy' },
      },
    };
    this.#send({ type: 'session.created', session: this.#session });
  }

  async take(event: Json): Promise<void> {
    switch (event.type) {
      case 'session.update':
        return this.#update(event);
      case 'conversation.item.create':
        this.#conversation.add(event.item);
        return this.#send({
          type: 'conversation.item.added',
          item: { id: newId('item'), ...record(event.item) },
        });
      case 'input_audio_buffer.append':
        return this.#hear(event);
      case 'input_audio_buffer.commit':
        return this.#heardBytes > 0
          ? this.#commit()
          : this.#error(event, 'input_audio_buffer_commit_empty', 'The buffer of input audio is empty.');
      case 'response.create':
        return this.#create(event);
      case 'response.cancel':
        if (this.#running) this.#running.cancelled = true;
        else
          this.#error(event, 'response_cancel_not_active', 'Cancellation failed: no active response found');
        return;
      case 'input_audio_buffer.clear':
        this.#heardBytes = 0;
        return this.#send({ type: 'input_audio_buffer.cleared' });
      default:
        return this.#error(event, 'invalid_value', `Invalid value: '${String(event.type)}'.`);
    }
  }

  refuse(code: string, message: string): void {
    this.#error({}, code, message);
  }

  #update(event: Json): void {
    const given = record(event.session);
    const most = given.max_output_tokens;
    if (most !== undefined && most !== 'inf' && !(typeof most === 'number' && most >= 1)) {
      this.#error(event, 'invalid_value', "Invalid value for 'session.max_output_tokens'.");
      return;
    }
    if ((given.type ?? this.#session.type) !== this.#session.type) {
      this.#error(event, 'invalid_value', `This session is of the type '${String(this.#session.type)}'.`);
      return;
    }
    const model = record(record(record(given.audio ?? {}).input ?? {}).transcription ?? {}).model;
    if (typeof model === 'string' && !isTranscriber(model)) {
      this.#error(event, 'invalid_value', `The model '${model}' does not transcribe.`);
      return;
    }
    this.#session = merged(this.#session, given);
    this.#send({ type: 'session.updated', session: this.#session });
  }

  get #input(): Json {
    return record(record(this.#session.audio).input);
  }

  async #hear(event: Json): Promise<void> {
    const bytes = Buffer.from(String(event.audio ?? ''), 'base64');
    this.#heardBytes += bytes.length;
    if (this.#input.turn_detection === null) return;
    const silent = bytes.every((byte) => byte === 0);
    if (!silent && !this.#spoke) {
      this.#spoke = true;
      this.#send({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: newId('item') });
    }
    if (!silent || !this.#spoke) return;
    this.#spoke = false;
    this.#send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 0, item_id: newId('item') });
    await this.#commit();
    if (this.#facts.transcribes) return;
    if (record(this.#input.turn_detection).create_response !== false) await this.#create({});
  }

  async #commit(): Promise<void> {
    const item = newId('item');
    const tokens = this.#conversation.addAudio(this.#heardBytes);
    const seconds = this.#heardBytes / 48_000;
    this.#heardBytes = 0;
    this.#send({ type: 'input_audio_buffer.committed', item_id: item, previous_item_id: null });
    const { model, prompt } = record(this.#input.transcription ?? {});
    if (typeof model !== 'string') return;
    const { behaviour } = this.#facts.scenarios.plan(findDirective(String(prompt)) ?? model, undefined);
    const usage = reported(behaviour.usage, (bend) =>
      model === 'scribe'
        ? { type: 'duration', seconds }
        : {
            type: 'tokens',
            input_tokens: bend(tokens),
            input_token_details: { text_tokens: 0, audio_tokens: bend(tokens) },
            output_tokens: bend(4),
            total_tokens: bend(tokens + 4),
          },
    );
    void this.#transcribe(item, behaviour.gapMs, usage);
  }

  async #transcribe(item: string, gapMs: number, usage: unknown): Promise<void> {
    const at = { item_id: item, content_index: 0 };
    const words = ['Something', ' was', ' said.'];
    for (const delta of words) {
      if (gapMs > 0) await pause(gapMs);
      this.#send({ type: 'conversation.item.input_audio_transcription.delta', ...at, delta });
    }
    this.#send({
      type: 'conversation.item.input_audio_transcription.completed',
      ...at,
      transcript: words.join(''),
      ...(usage === undefined ? {} : { usage }),
    });
  }

  async #create(event: Json): Promise<void> {
    if (this.#facts.transcribes) {
      return this.#error(event, 'invalid_value', 'A transcription session makes no responses.');
    }
    if (this.#running) {
      return this.#error(
        event,
        'conversation_already_has_active_response',
        'Conversation already has an active response in progress.',
      );
    }
    const asked = record(event.response ?? {});
    for (const item of Array.isArray(asked.input) ? asked.input : []) this.#conversation.add(item);
    const instructions = String(asked.instructions ?? this.#session.instructions);
    const said = this.#conversation.lastText;
    const directive = findDirective(said) ?? findDirective(instructions);
    const { behaviour, name } = this.#facts.scenarios.plan(directive ?? this.#facts.model, undefined);
    const lie = name.params.get('lie');
    if (lie === 'silent') return;
    const running = { id: newId('resp'), cancelled: false };
    this.#running = running;
    if (lie === 'unknown')
      this.#done({
        id: newId('resp'),
        status: 'completed',
        usage: { total_tokens: 9, input_tokens: 4, output_tokens: 5 },
      });
    this.#send({ type: 'response.created', response: this.#response(running.id, 'in_progress') });
    void this.#speak(running, {
      behaviour,
      words: withoutDirective(said) || 'Hello.',
      limit: asked.max_output_tokens ?? this.#session.max_output_tokens,
      audio: JSON.stringify(asked.output_modalities ?? this.#session.output_modalities).includes('audio'),
      read: this.#conversation.read(instructions),
      twice: lie === 'twice',
    }).catch(() => this.#facts.socket.terminate());
  }

  async #speak(
    running: Running,
    {
      behaviour,
      words,
      limit,
      audio,
      read,
      twice,
    }: {
      readonly behaviour: Behaviour;
      readonly words: string;
      readonly limit: unknown;
      readonly audio: boolean;
      readonly read: ReturnType<Conversation['read']>;
      readonly twice: boolean;
    },
  ): Promise<void> {
    const { id } = running;
    const wanted = behaviour.endless ? Number.MAX_SAFE_INTEGER : (behaviour.tokens ?? textTokens(words));
    const each = audio ? 1 + SPOKEN_TOKENS : 1;
    const most = typeof limit === 'number' ? Math.floor(limit / each) : Number.MAX_SAFE_INTEGER;
    const { stop } = behaviour;
    let made = 0;
    for (; made < wanted && made < most && !running.cancelled; made += 1) {
      if (stop && made >= stop.after) {
        if (stop.by === 'stall') return;
        if (stop.by === 'fin' || stop.by === 'reset') return this.#facts.socket.terminate();
      }
      if (behaviour.gapMs > 0) await pause(behaviour.gapMs);
      else if (made % 64 === 63) await pause(0);
      if (this.#facts.socket.readyState !== 1) return;
      const delta = words.slice((made * 4) % words.length, ((made * 4) % words.length) + 4) || '…';
      const at = { response_id: id, item_id: `item_${id}`, output_index: 0, content_index: 0 };
      if (audio) {
        const sound = Buffer.alloc(SPOKEN_BYTES * SPOKEN_TOKENS, 1).toString('base64');
        this.#send({ type: 'response.output_audio_transcript.delta', ...at, delta });
        this.#send({ type: 'response.output_audio.delta', ...at, delta: sound });
      } else this.#send({ type: 'response.output_text.delta', ...at, delta });
      // As a provider whose client does not read.
      while (this.#facts.socket.bufferedAmount > 4 * 1024 * 1024) await pause(10);
    }
    const answer = { text: made, audio: audio ? made * SPOKEN_TOKENS : 0 };
    this.#conversation.addAnswer(answer);
    const { all, cached } = read;
    const input = all.text + all.audio;
    const output = answer.text + answer.audio;
    const usage = reported(behaviour.usage, (bend) => ({
      total_tokens: bend(input + output),
      input_tokens: bend(input),
      output_tokens: bend(output),
      input_token_details: {
        text_tokens: bend(all.text),
        audio_tokens: bend(all.audio),
        image_tokens: 0,
        cached_tokens: bend(cached.text + cached.audio),
        cached_tokens_details: { text_tokens: cached.text, audio_tokens: cached.audio, image_tokens: 0 },
      },
      output_token_details: { text_tokens: bend(answer.text), audio_tokens: bend(answer.audio) },
    }));
    const status = running.cancelled ? 'cancelled' : made >= most ? 'incomplete' : 'completed';
    this.#running = null;
    this.#facts.charged({
      id,
      inputTokens: input,
      cachedTokens: cached.text + cached.audio,
      outputTokens: output,
      usageReported: usage ?? null,
    });
    const response = { ...this.#response(id, status), ...(usage === undefined ? {} : { usage }) };
    this.#done(response);
    if (twice) this.#done(response);
  }

  #done(response: Json): void {
    this.#send({ type: 'response.done', response });
  }

  #response(id: string, status: string): Json {
    return { object: 'realtime.response', id, status, output: [], usage: null };
  }

  #error({ event_id = null }: Json, code: string, message: string): void {
    this.#send({
      type: 'error',
      error: { type: 'invalid_request_error', code, message, param: null, event_id },
    });
  }

  #send(event: Json): void {
    if (this.#facts.socket.readyState === 1)
      this.#facts.socket.send(JSON.stringify({ event_id: newId('event'), ...event }));
  }
}

function newId(kind: string): string {
  return `${kind}_${randomUUID()}`;
}

/** The given members in place of the old ones, objects member by member. */
function merged(old: Json, given: Json): Json {
  const made: Record<string, unknown> = { ...old };
  for (const [name, value] of Object.entries(given)) {
    const before = made[name];
    made[name] = isObject(value) && isObject(before) ? merged(before, value) : value;
  }
  return made;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a model only transcribes. */
export function isTranscriber(model: string): boolean {
  return ['scribe', 'listener'].includes(baseOf(model));
}

/** The model of a query, without what faults and paces add. */
export function baseOf(model: string): string {
  return parseName(model).base;
}
