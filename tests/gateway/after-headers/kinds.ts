import { type Dialect, dialectOf, framed, type Piece } from '#tests/gateway/after-headers/dialects';
import type { Speaker } from '#tests/gateway/contract/speaker';

type Alone = 'broken' | 'as it came' | 'refused';

/** What a bad provider does behind the headers of a 200. */
export interface Kind {
  readonly name: string;
  /** Of which answers; absent: of all. */
  readonly when?: (speaker: Speaker) => boolean;
  /** Its body, without chunk framing. */
  readonly sent: (speaker: Speaker, dialect: Dialect) => string;
  /** By the content-type that announces it; absent: the one of what was asked for. */
  readonly type?: 'application/json';
  /** How the connection goes on: a proper end, or none. */
  readonly ends: 'properly' | 'torn';
  /** What it says before it fails; null: nothing, so that another provider may still be asked. */
  readonly says: string | null;
  /**
   * What the client gets when no other provider is left. `broken`: what came, and the family's own end of a broken
   * stream; `as it came`: nothing else; `refused`: 502.
   */
  readonly alone: Alone | ((speaker: Speaker) => Alone);
  /** As the attempt in the call log names it. */
  readonly error: RegExp;
  /** The request is at fault, which says nothing against the provider. */
  readonly clientsFault?: true;
}

const streamed = ({ streamed }: Speaker) => streamed;
const asEvents = ({ framing }: Speaker) => framing === 'events';
const asArray = ({ framing }: Speaker) => framing === 'array';
const whole = ({ streamed }: Speaker) => !streamed;
const ofFamily =
  (...families: string[]) =>
  ({ family }: Speaker) =>
    families.includes(family);
const all =
  (...parts: ((speaker: Speaker) => boolean)[]) =>
  (speaker: Speaker) =>
    parts.every((part) => part(speaker));

/** To a stream of elements a whole body is one more element. */
const asElements = (speaker: Speaker) => speaker.streamed && speaker.family === 'generate-content';

/** Bytes that a stream of any framing may begin with, and that say nothing. */
const spaced = (speaker: Speaker, text: string) => (asArray(speaker) ? '\n \n' : text);
/** An array is closed where its stream ends properly. */
const closed = (speaker: Speaker, pieces: readonly Piece[]) =>
  framed(speaker, pieces) + (asArray(speaker) ? ']' : '');

const text = 'A first word';
const torn = /^connection_(closed|reset)$/;
const inAnswer = /^error_in_answer$/;
const cut = /^cut_answer$/;
const unread = /^unreadable_answer$/;
const empty = /^empty_answer$/;

const choiceError = { code: 502, message: 'Provider returned error' };
const brokenChoice = (delta: object, part: object = {}) => ({
  data: {
    id: 'c1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: 'error', error: choiceError, ...part }],
  },
});

/** Each kind of findings about streams, then about whole answers. */
export const kinds: readonly Kind[] = [
  {
    name: 'says a word and ends properly',
    when: streamed,
    sent: (speaker, { opening, says }) => closed(speaker, [...opening, says(text)]),
    ends: 'properly',
    says: text,
    alone: 'broken',
    error: cut,
  },
  {
    name: 'says a word and hangs up',
    when: streamed,
    sent: (speaker, { opening, says }) => framed(speaker, [...opening, says(text)]),
    ends: 'torn',
    says: text,
    alone: 'broken',
    error: torn,
  },
  {
    name: 'says a word and stops amid the next event',
    when: streamed,
    sent: (speaker, { opening, says, end }) => {
      const said = framed(speaker, [...opening, says(text)]);
      return said + framed(speaker, end('', 'never')).slice(asArray(speaker) ? 1 : 0, 45);
    },
    ends: 'properly',
    says: text,
    alone: 'broken',
    error: cut,
  },
  {
    name: 'says a word and then an error',
    when: streamed,
    sent: (speaker, { opening, says, trouble }) => closed(speaker, [...opening, says(text), trouble]),
    ends: 'properly',
    says: text,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'says a word and then an error in a choice',
    when: all(streamed, ofFamily('chat')),
    sent: (speaker, { opening, says }) =>
      closed(speaker, [...opening, says(text), brokenChoice({ content: '' })]),
    ends: 'properly',
    says: text,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'begins with an error',
    when: streamed,
    sent: (speaker, { trouble }) => closed(speaker, [trouble]),
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'begins with an error under another name',
    when: all(asEvents, ofFamily('chat', 'responses', 'messages')),
    sent: (_, { troubleBody }) => `data: ${JSON.stringify(troubleBody)}\n\n`,
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'begins with an error event of another type',
    when: all(asEvents, ofFamily('chat', 'responses', 'messages')),
    sent: () => 'event: error\ndata: {"type":"server_error","message":"The server is overloaded."}\n\n',
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'begins with an error in a choice',
    when: all(streamed, ofFamily('chat')),
    sent: (speaker) => closed(speaker, [brokenChoice({ role: 'assistant', content: '' })]),
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'begins with comments and then an error',
    when: streamed,
    sent: (speaker, { trouble }) =>
      spaced(speaker, ': PROCESSING\n\n: PROCESSING\n\n') + closed(speaker, [trouble]),
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'announces an answer and then an error',
    when: streamed,
    sent: (speaker, { opening, trouble }) => closed(speaker, [...opening, trouble]),
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'announces an answer and finds fault with the request',
    when: streamed,
    sent: (speaker, { opening, complaint }) => closed(speaker, [...opening, complaint]),
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: inAnswer,
    clientsFault: true,
  },
  {
    name: 'ends a thought of which it tells nothing, and then an error',
    when: all(streamed, ofFamily('responses')),
    sent: (speaker, { opening, trouble }) => {
      const item = { id: 'rs_1', type: 'reasoning', summary: [] };
      const thought = ['added', 'done'].map((step) => {
        const type = `response.output_item.${step}`;
        return { name: type, data: { type, output_index: 0, item } };
      });
      return closed(speaker, [...opening, ...thought, trouble]);
    },
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: inAnswer,
  },
  {
    name: 'announces an answer and ends properly',
    when: streamed,
    sent: (speaker, { opening }) => closed(speaker, opening),
    ends: 'properly',
    says: null,
    alone: 'broken',
    error: cut,
  },
  {
    name: 'announces an answer and hangs up',
    when: streamed,
    sent: (speaker, { opening }) => framed(speaker, opening),
    ends: 'torn',
    says: null,
    alone: 'broken',
    error: torn,
  },
  {
    name: 'pings and ends properly',
    when: asEvents,
    sent: () => ': ping\n\n',
    ends: 'properly',
    says: null,
    alone: 'broken',
    error: cut,
  },
  {
    name: 'sends an empty array',
    when: asArray,
    sent: () => '[]',
    ends: 'properly',
    says: null,
    alone: 'broken',
    error: cut,
  },
  {
    name: 'only says that it is done',
    when: all(asEvents, ofFamily('chat', 'responses')),
    sent: () => 'data: [DONE]\n\n',
    ends: 'properly',
    says: null,
    alone: 'as it came',
    error: empty,
  },
  {
    name: 'sends no event at all',
    when: streamed,
    sent: () => '',
    ends: 'properly',
    says: null,
    alone: 'refused',
    error: unread,
  },
  {
    name: 'sends an error in JSON',
    sent: (_, { troubleBody }) => JSON.stringify(troubleBody),
    type: 'application/json',
    ends: 'properly',
    says: null,
    alone: (speaker) => (asElements(speaker) ? 'as it came' : 'refused'),
    error: inAnswer,
  },
  {
    name: 'sends an error in a list',
    when: ofFamily('generate-content'),
    sent: (_, { troubleBody }) => JSON.stringify([troubleBody]),
    type: 'application/json',
    ends: 'properly',
    says: null,
    alone: (speaker) => (asElements(speaker) ? 'as it came' : 'refused'),
    error: inAnswer,
  },
  {
    name: 'sends an error in the choice of a whole answer',
    when: all(whole, ofFamily('chat')),
    sent: () =>
      JSON.stringify({
        id: 'c1',
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: '' },
            finish_reason: 'error',
            error: choiceError,
          },
        ],
      }),
    ends: 'properly',
    says: null,
    alone: 'refused',
    error: inAnswer,
  },
  {
    name: 'sends an empty object',
    sent: () => '{}',
    type: 'application/json',
    ends: 'properly',
    says: null,
    alone: (speaker) => (asElements(speaker) ? 'broken' : 'refused'),
    error: /^(empty|cut)_answer$/,
  },
  {
    name: 'sends 38 bytes of JSON and hangs up',
    when: whole,
    sent: (speaker) => wholeText(speaker).slice(0, 38),
    ends: 'torn',
    says: null,
    alone: 'refused',
    error: torn,
  },
  {
    name: 'sends half of its JSON and ends properly',
    when: whole,
    sent: (speaker) => wholeText(speaker).slice(0, wholeText(speaker).length / 2),
    ends: 'properly',
    says: null,
    alone: 'refused',
    error: cut,
  },
  {
    name: 'sends two line feeds and hangs up',
    when: whole,
    sent: () => '\n\n',
    ends: 'torn',
    says: null,
    alone: 'refused',
    error: torn,
  },
  {
    name: 'sends white space and ends properly',
    when: whole,
    sent: () => '\n\n',
    ends: 'properly',
    says: null,
    alone: 'refused',
    error: cut,
  },
];

function wholeText(speaker: Speaker): string {
  return JSON.stringify(dialectOf(speaker).whole('x'.repeat(100), 'never'));
}
