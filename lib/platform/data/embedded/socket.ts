import { createServer, type Server, type Socket } from 'node:net';
import { type Frame, FrameReader, startupKind } from '#lib/platform/data/embedded/frames';
import type { Client, Turns } from '#lib/platform/data/embedded/turns';

/** The messages after which the server answers and is ready for the next. */
const ending = new Set(['S', 'Q', 'F']);
const gathered = new Set(['P', 'B', 'D', 'E', 'C']);

/** Listens on a Unix socket and lets every connection take its turns on the embedded database. */
export function listen(path: string, turns: Turns): Promise<Server> {
  const server = createServer((socket) => serve(socket, turns));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

function serve(socket: Socket, turns: Turns): void {
  const reader = new FrameReader();
  let open: Buffer[] = [];
  const client: Client = {
    send: (data) => {
      if (socket.writable) socket.write(Buffer.from(data));
    },
    drop: () => socket.destroy(),
  };

  const start = (packet: Buffer) => {
    const kind = startupKind(packet);
    if (kind === 'encryption') return void socket.write('N');
    if (kind !== 'session') return void socket.destroy();
    reader.started();
    turns.enter(client, packet, true);
  };

  const accept = ({ type, bytes }: Frame) => {
    if (type === '') return start(bytes);
    if (ending.has(type) || type === 'H') {
      turns.enter(client, Buffer.concat([...open, bytes]), type !== 'H');
      open = [];
    } else if (gathered.has(type)) {
      open.push(bytes);
    } else {
      // Terminate, or a message (COPY data) that would end the single backend for all clients.
      socket.destroy();
    }
  };

  socket.on('data', (chunk) => {
    try {
      reader.push(chunk);
      for (let frame = reader.next(); frame && !socket.destroyed; frame = reader.next()) accept(frame);
    } catch {
      socket.destroy();
    }
  });
  // A reset connection is closed like any other.
  socket.on('error', () => undefined);
  socket.on('close', () => turns.leave(client));
}
