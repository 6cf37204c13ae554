import type { AskedCall } from '#lib/gateway/flow/call/call';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';

/** Answers a request that only prepares others with an empty response, as a stream (contract: sockets/warm-up). */
export function answerWarmUp(call: AskedCall): SendLastByte {
  call.outcome.status = 200;
  const response = {
    id: `resp_${call.id.replaceAll('-', '')}`,
    object: 'response',
    created_at: Math.floor(call.startMs / 1000),
    model: call.ask.model,
    output: [],
  };
  const usage = {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  };
  const body = [
    {
      type: 'response.created',
      sequence_number: 0,
      response: { ...response, status: 'in_progress', usage: null },
    },
    { type: 'response.completed', sequence_number: 1, response: { ...response, status: 'completed', usage } },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
  return (reply) => {
    reply.start(200, [...call.headers, 'content-type', 'text/event-stream; charset=utf-8']);
    reply.end(body);
  };
}
