import { createServer, type Socket } from 'node:net';
import { fixedAnswer, streamEvent } from './answers.ts';

/** How much of a request's start is looked at: its head, and the model at the beginning of its body. */
const STARTS_WITHIN = 8 * 1024;

/**
 * The instant upstream, a separate process. Raw sockets, not `node:http`: it shares a core with the load, and no case
 * may have to wait for it. A request whose model is `pace/MS/CHUNKS` gets a stream whose events contain their time of
 * sending; any other request gets one fixed chat answer. Of a body only the start is kept.
 */
const server = createServer({ noDelay: true }, (socket) => {
  let start = '';
  let bytes = 0;
  let wanted: number | null = null;
  socket.on('error', () => socket.destroy());
  socket.on('data', (part) => {
    if (start.length < STARTS_WITHIN) start += part.toString('latin1', 0, STARTS_WITHIN - start.length);
    bytes += part.length;
    wanted ??= requestLength(start);
    if (wanted === null || bytes < wanted) return;
    const pace = /"model":\s*"pace\/(\d+)\/(\d+)"/.exec(start);
    if (pace) stream(socket, Number(pace[1]), Number(pace[2]));
    else socket.write(fixedAnswer);
    start = '';
    bytes = 0;
    wanted = null;
  });
});

/** Bytes of a request with its head, without pipelining; null: its head is not complete. */
function requestLength(text: string): number | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  return end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
}

function stream(socket: Socket, gapMs: number, chunks: number): void {
  socket.write(
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nx-request-id: req_bench\r\n\r\n',
  );
  let sent = 0;
  const send = (data: string) => {
    const event = `data: ${data}\n\n`;
    socket.write(`${event.length.toString(16)}\r\n${event}\r\n`);
  };
  const tick = () => {
    send(streamEvent(sent, process.hrtime.bigint()));
    if (++sent < chunks) return;
    clearInterval(timer);
    socket.off('close', leave);
    send(streamEvent('usage', 0n));
    send('[DONE]');
    socket.write('0\r\n\r\n');
  };
  const timer = setInterval(tick, gapMs);
  const leave = () => clearInterval(timer);
  socket.once('close', leave);
  tick();
}

server.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1', backlog: 4096 }, () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the upstream does not listen');
  process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
});
process.stdin.resume().once('end', () => process.exit(0));
