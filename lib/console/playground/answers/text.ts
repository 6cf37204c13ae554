import {
  faultIn,
  items,
  members,
  type Piece,
  picture,
  spoken,
  textOf,
} from '#lib/console/playground/answers/piece';

/** A chunk of a stream or a whole answer; only the first choice. */
export function chatPieces(value: unknown): Piece[] {
  const choice = members(items(members(value).choices)[0]);
  const message = members(choice.delta ?? choice.message);
  const content =
    typeof message.content === 'string'
      ? spoken('text', message.content)
      : items(message.content).flatMap((part) => spoken('text', members(part).text));
  return [
    ...faultIn(value),
    ...spoken('thought', message.reasoning_content ?? message.reasoning),
    ...content,
    ...spoken('text', message.refusal),
    ...(choice.finish_reason === 'length' ? [cut] : []),
  ];
}

const cut: Piece = { kind: 'cut' };

/** An event of a stream. */
export function responsesEvent(value: unknown): Piece[] {
  const event = members(value);
  switch (event.type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return spoken('text', event.delta);
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return spoken('thought', event.delta);
    case 'response.failed':
      return faultIn(event.response);
    case 'response.incomplete':
      return endOf(event.response);
    case 'error':
      // Some providers send it flat, some inside an object.
      return faultIn(event.error === undefined ? { error: event } : event);
    default:
      return [];
  }
}

export function responsesPieces(value: unknown): Piece[] {
  const { output } = members(value);
  const said = items(output).flatMap((item) => {
    const { type, content, summary } = members(item);
    if (type === 'reasoning') return items(summary).flatMap((part) => spoken('thought', members(part).text));
    return items(content).flatMap((part) => spoken('text', members(part).text ?? members(part).refusal));
  });
  return [...said, ...faultIn(value), ...endOf(value)];
}

function endOf(response: unknown): Piece[] {
  return members(members(response).incomplete_details).reason === 'max_output_tokens' ? [cut] : [];
}

export function messagesEvent(value: unknown): Piece[] {
  const { type, delta } = members(value);
  const { text, thinking, stop_reason: stop } = members(delta);
  if (type === 'content_block_delta') return [...spoken('thought', thinking), ...spoken('text', text)];
  if (type === 'message_delta') return stop === 'max_tokens' ? [cut] : [];
  return type === 'error' ? faultIn(value) : [];
}

export function messagesPieces(value: unknown): Piece[] {
  const { content, stop_reason: stop } = members(value);
  const said = items(content).flatMap((block) => {
    const { text, thinking } = members(block);
    return [...spoken('thought', thinking), ...spoken('text', text)];
  });
  return [...faultIn(value), ...said, ...(stop === 'max_tokens' ? [cut] : [])];
}

/** A chunk of a stream, or a whole answer. @param place how many pictures came before. */
export function contentPieces(value: unknown, place: number): Piece[] {
  const { candidates, promptFeedback } = members(value);
  const { content, finishReason } = members(items(candidates)[0]);
  let pictures = place;
  const said = items(members(content).parts).flatMap((part) => {
    const { text, thought, inlineData } = members(part);
    const { mimeType, data } = members(inlineData);
    const drawn = textOf(mimeType).startsWith('image/') ? picture(data, mimeType, pictures) : [];
    pictures += drawn.length;
    return [...spoken(thought === true ? 'thought' : 'text', text), ...drawn];
  });
  const blocked = textOf(members(promptFeedback).blockReason);
  return [
    ...faultIn(value),
    ...said,
    ...(blocked
      ? [{ kind: 'fault', code: null, message: `The provider blocked the prompt: ${blocked}.` } as const]
      : []),
    ...(finishReason === 'MAX_TOKENS' ? [cut] : []),
  ];
}
