import { createServer } from 'node:http';

/**
 * A provider that ignores what it receives, and answers in the chat family: the measurement must not wait for a parser
 * of 32 MiB. A separate process; prints its port.
 */
const answer = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 0,
  model: 'any',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer),
    });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider does not listen');
  process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
});
process.stdin.resume().once('end', () => process.exit(0));
