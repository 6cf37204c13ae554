import type { Dialect, Frame } from '#tools/sandbox/dialect';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';

/** How the frames of one answer are written as text. */
export interface Wording {
  readonly contentType: string;
  /** @param first whether nothing of the body has been written yet. */
  text(frame: Frame, first: boolean): string;
  /** The end of a body that is complete. */
  readonly ending: string;
}

const array: Wording = {
  contentType: 'application/json; charset=UTF-8',
  text: ({ data }, first) => `${first ? '[' : '\n,\r\n'}${data}`,
  ending: '\n]',
};

export function wordingOf(
  framing: 'events' | 'array',
  dialect: Dialect,
  { newline, extra }: Behaviour,
): Wording {
  if (framing === 'array') return array;
  const end = newline ?? dialect.newline ?? '\n';
  const comment = extra === 'comments' ? `: SANDBOX PROCESSING${end}${end}` : '';
  return {
    contentType: 'text/event-stream; charset=utf-8',
    text: ({ name, data }) =>
      `${comment}${name === null ? '' : `event: ${name}${end}`}data: ${data}${end}${end}`,
    ending: '',
  };
}
