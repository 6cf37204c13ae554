import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { inTurn } from '#lib/programs/process/listener/in-turn';

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: gateway.test\r\n\r\n`;

/** A server that answers each request with its path; `began` lists them as they begin. */
async function answering(
  answer?: (path: string, response: ServerResponse) => Promise<void>,
  most: Parameters<typeof inTurn>[1] = undefined,
) {
  const began: string[] = [];
  const { take } = inTurn((request, response) => {
    const path = request.url ?? '';
    began.push(path);
    void (answer?.(path, response) ?? Promise.resolve()).then(() => response.end(`${path};`));
  }, most);
  const server = createServer(take).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { began, port };
}

/** What comes back on a connection until it holds `last`. */
async function say(port: number, text: string, last: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let said = '';
  for await (const part of socket) {
    said += String(part);
    if (said.includes(last)) break;
  }
  return said;
}

describe('requests that come together on one connection (contract: request/pipelining)', () => {
  it('do not hold up those of another connection until the last of them is answered', async () => {
    const { began, port } = await answering();
    const paths = Array.from({ length: 1_000 }, (_, number) => `/many/${number}/`);
    await Promise.all([
      say(port, paths.map(get).join(''), '/many/999/;'),
      say(port, get('/other/'), '/other/;'),
    ]);
    expect(began.filter((path) => path !== '/other/')).toEqual(paths);
    expect(began.indexOf('/other/')).toBeLessThan(100);
  });

  it('are not begun behind an answer that closes their connection', async () => {
    const { began, port } = await answering((path, response) => {
      if (path === '/1') response.setHeader('connection', 'close');
      return Promise.resolve();
    });
    const paths = ['/1', '/2', '/3', '/4'];
    expect(await say(port, paths.map(get).join(''), '/4;')).toContain('/1;');
    expect(began).toEqual(['/1']);
  });

  it('begin one after the other, and are answered in order', async () => {
    const release = Promise.withResolvers<void>();
    const { began, port } = await answering((path) => (path === '/1/' ? release.promise : Promise.resolve()));
    const saying = say(port, ['/1/', '/2/', '/3/'].map(get).join(''), '/3/;');
    await say(port, get('/other/'), '/other/;');
    expect(began).toEqual(['/1/', '/other/']);
    release.resolve();
    expect((await saying).match(/\/\d\/;/g)).toEqual(['/1/;', '/2/;', '/3/;']);
  });

  it('never begin once the connection has ended', async () => {
    const release = Promise.withResolvers<void>();
    const { began, port } = await answering((path) => (path === '/1/' ? release.promise : Promise.resolve()));
    const socket = connect(port, '127.0.0.1');
    socket.write(['/1/', '/2/'].map(get).join(''));
    await say(port, get('/other/'), '/other/;');
    socket.resetAndDestroy();
    await once(socket, 'close');
    await say(port, get('/later/'), '/later/;');
    release.resolve();
    await say(port, get('/last/'), '/last/;');
    expect(began).not.toContain('/2/');
  });

  it('close their connection if too many wait on it, or on all, and do not delay others', async () => {
    const release = Promise.withResolvers<void>();
    const { began, port } = await answering(
      (path) => (path.startsWith('/held/') ? release.promise : Promise.resolve()),
      { mostOfOne: 10, mostOfAll: 25 },
    );
    const closed = async (number: number, waiting: number) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      const rest = Array.from({ length: waiting }, (_, at) => get(`/waiting/${number}/${at}/`));
      socket.write(get(`/held/${number}/`) + rest.join(''));
      return Promise.race([once(socket, 'close').then(() => true), release.promise.then(() => false)]);
    };
    expect(await closed(1, 11)).toBe(true);
    const held = [closed(2, 10), closed(3, 10), closed(4, 5)];
    const beganHeld = () => began.filter((path) => path.startsWith('/held/')).length;
    while (beganHeld() < 4) await say(port, get('/other/'), '/other/;');
    expect(await closed(5, 1)).toBe(true);
    expect(began.filter((path) => path.startsWith('/waiting/'))).toEqual([]);
    release.resolve();
    expect(await Promise.all(held)).toEqual([false, false, false]);
  });
});

describe('a stop that begins behind an answer (contract: durability/stop)', () => {
  it('leaves its connection open for a call that is on its way, unless the answer said otherwise', async () => {
    const turns = inTurn((request, response) => {
      response.end(`${request.url};`);
      // The answer is whole at the client, and says nothing of a close.
      if (request.url === '/last/') turns.closeAfterAnswers();
    });
    const server = createServer(turns.take).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const address = server.address();
    const socket = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
    let said = '';
    socket.write(get('/last/'));
    for await (const part of socket) {
      said += String(part);
      if (said.endsWith('/next/;\r\n0\r\n\r\n') || said.endsWith('/next/;')) break;
      if (said.endsWith('/last/;')) socket.write(get('/next/'));
    }
    expect(said).toContain('/last/;');
    expect(said).toContain('/next/;');
  });
});
