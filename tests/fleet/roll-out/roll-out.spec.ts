import { once } from 'node:events';
import { expect, it } from 'vitest';
import { nginxIsHere, startNginx } from '#tests/fleet/roll-out/nginx';
import { expectBalancedBooks } from '#tests/support/books';
import { readBooked } from '#tests/support/fleet/accounts';
import { Client, type Told, type Wish } from '#tests/support/fleet/client';
import { startLoad } from '#tests/support/fleet/load';
import { startSecond } from '#tests/support/fleet/second';
import { freePort } from '#tests/support/run/free-port';
import { startStack } from '#tests/support/stack';

const rollOuts = Number(process.env.FLEET_ROLL_OUTS ?? 0);
const longestS = Number(process.env.FLEET_LONGEST_S ?? 8);
const wide = { rpm: 1_000_000, tpm: null, concurrency: null, credit: '100000' };
const delay = { SHUTDOWN_DELAY_SECONDS: '5' };

/** A stream of so many seconds. */
const stream = (seconds: number): Wish => ({ stream: true, directive: `pace/100/${seconds * 10}` });

/** Not in each run of the tests: a roll-out takes a minute. `npm run fleet -- roll-out` */
it.skipIf(rollOuts === 0 || !nginxIsHere)(
  'no call fails while three processes behind nginx are replaced one after the other (contract: durability/stop)',
  async () => {
    const stack = await startStack({ direct: true });
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const begin = (port: number) => startSecond(stack, { port, env: delay });
    const processes = await Promise.all(ports.map(begin));
    const nginx = await startNginx(ports);
    const client = new Client(nginx.url);
    const { slug } = await stack.workspace(wide);
    const { key } = await stack.key(slug, { dailyCap: '50000' });
    const random = (below: number) => Math.floor(Math.random() * below);
    const lengths = Array.from({ length: 10 }, (_, at) => stream(1 + Math.round((at * (longestS - 1)) / 9)));
    const failed: Told[] = [];
    let answered = 0;
    const keep = (told: Told): Told => {
      if (told.status === 200 && told.whole) answered += 1;
      else failed.push(told);
      return { ...told, text: '' };
    };
    const loads = [
      startLoad([client], [key], [{}], 60, random, keep),
      startLoad([client], [key], lengths, 10, random, keep, 1_000),
    ];
    for (let rollOut = 1; rollOut <= rollOuts; rollOut += 1) {
      for (const [at, port] of ports.entries()) {
        const old = processes[at];
        const ended = old && once(old.process, 'exit');
        await old?.close();
        expect(await ended).toEqual([0, null]);
        processes[at] = await begin(port);
      }
      process.stdout.write(`roll-out ${rollOut}: ${answered} answered, ${failed.length} failed so far\n`);
      for (const one of failed) process.stdout.write(`${JSON.stringify(one)}\n`);
      expect(failed, nginx.log()).toEqual([]);
    }
    const told = (await Promise.all(loads.map((load) => load.stop()))).flat();
    expect(failed, nginx.log()).toEqual([]);
    await nginx.close();
    await Promise.all(processes.map((one) => one.close()));
    const booked = await readBooked(stack);
    for (const one of told) {
      expect(booked.get(one.mark)).toMatchObject([{ id: one.id, endReason: 'completed' }]);
    }
    await expectBalancedBooks(stack);
    client.close();
    await stack.close();
  },
  24 * 3_600_000,
);
