const head = {
  id: 'chatcmpl-bench',
  created: 1_790_000_000,
  model: 'instant',
  system_fingerprint: 'fp_bench',
};
const usage = {
  prompt_tokens: 24,
  completion_tokens: 40,
  total_tokens: 64,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};
const text =
  'A fixed answer of forty tokens or so, long enough to look like one that a model gave to somebody. '.repeat(
    2,
  );

const body = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: text, refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
  service_tier: 'default',
});

/** The whole HTTP answer to a request that does not stream. */
export const fixedAnswer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/**
 * One chunk of a stream as JSON.
 * @param part its number, or `usage` for the chunk with the usage.
 * @param atNs monotonic clock at sending, ns: the same for all processes of the machine.
 */
export function streamEvent(part: number | 'usage', atNs: bigint): string {
  const choices = [{ index: 0, delta: { content: ` token${part}` }, logprobs: null, finish_reason: null }];
  const chunk = { ...head, object: 'chat.completion.chunk', choices: part === 'usage' ? [] : choices };
  return part === 'usage'
    ? JSON.stringify({ ...chunk, usage })
    : `${JSON.stringify({ ...chunk, usage: null }).slice(0, -1)},"sent":"${atNs}"}`;
}
