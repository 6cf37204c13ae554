import { type JsonObject, objectIn } from '#lib/core/families/reading/json';

/** What clients need to read a response of which nothing is known. */
const unknown = { id: '', object: 'response', created_at: 0, model: '', output: [] };

/**
 * The end of a stream that broke (contract: routing/broken-stream): the response has failed, for clients that follow
 * it, and an error with its message in both places where clients look for it. Without a response the error comes
 * first, since client libraries refuse any event of a response that was not created before.
 * @param shown the newest response object of the stream.
 */
export function breakFrame(
  { message, code }: { readonly code: string; readonly message: string },
  sequence: number,
  shown: unknown,
): string {
  const known = objectIn(shown);
  const error = { message, code };
  const failed = {
    type: 'response.failed',
    response: { ...unknown, ...known, status: 'failed', error, incomplete_details: null },
  };
  const told = { type: 'error', code, message, param: null, error };
  const events: readonly JsonObject[] = known === null ? [told, failed] : [failed, told];
  return events.map((event, at) => frameOf(event, sequence + at)).join('');
}

function frameOf({ type, ...fields }: JsonObject, sequence: number): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`;
}
