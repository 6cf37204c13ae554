import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { checkPort } from '#lib/programs/process/listener/port';
import { freePort } from '#tests/support/run/free-port';

const host = '127.0.0.1';

describe('the port is tried before anything else (contract: operations/refused-start)', () => {
  it('and a port on which another program listens is refused', async () => {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const inUse = `PORT: ${port} is already in use on ${host}. Stop the program that uses it, or set another PORT.`;
    await expect(checkPort({ host, port })).rejects.toThrow(inUse);
    await expect(checkPort({ host: '0.0.0.0', port })).rejects.toThrow(/is already in use/);
    server.close();
    await once(server, 'close');
    await expect(checkPort({ host, port })).resolves.toBeUndefined();
  });

  it.each([
    ['192.0.2.1', /is not an address of this machine/],
    ['no-such-host.invalid', /cannot listen on no-such-host\.invalid/],
  ])('and %s is refused', async (where, message) => {
    await expect(checkPort({ host: where, port: await freePort() })).rejects.toThrow(message);
  });

  it('and no connection is taken that would be reset: a proxy would not repeat its call', async () => {
    const port = await freePort();
    // Another thread meets the moment between listening and closing.
    const knocking = new Worker(knock, { eval: true, workerData: { port, host } });
    await once(knocking, 'message');
    for (let round = 0; round < 300; round++) await checkPort({ host, port });
    knocking.postMessage('enough');
    const [seen] = await once(knocking, 'message');
    expect(seen).toEqual(['ECONNREFUSED']);
    await knocking.terminate();
  });
});

/** Connects again and again until it is told to stop; tells what it saw. */
const knock = `
  const { connect } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const seen = new Set();
  let enough = false;
  const again = () => {
    if (enough) return parentPort.postMessage([...seen]);
    const socket = connect(workerData.port, workerData.host);
    const next = (what) => { seen.add(what); socket.destroy(); setImmediate(again); };
    socket.once('connect', () => next('connected')).once('error', (error) => next(error.code));
  };
  parentPort.once('message', () => { enough = true; });
  parentPort.postMessage('ready');
  again();
`;
