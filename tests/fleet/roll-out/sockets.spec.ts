import { expect, it } from 'vitest';
import { nginxIsHere, startNginx } from '#tests/fleet/roll-out/nginx';
import { SocketClient } from '#tests/gateway/sockets/client';
import { expectBalancedBooks } from '#tests/support/books';
import { startStack } from '#tests/support/stack';

/** How long the socket is idle; 70 shows that pings keep it. `FLEET_IDLE_S=70 npm run fleet -- roll-out` */
const idleS = Number(process.env.FLEET_IDLE_S ?? 0);

it.skipIf(!nginxIsHere)(
  'a WebSocket passes the shipped nginx, and stays open beyond its limit of 60 s (contract: sockets/pings)',
  async () => {
    const stack = await startStack({ direct: true });
    const nginx = await startNginx([Number(new URL(stack.url).port)], 60);
    const { slug } = await stack.workspace();
    const { key } = await stack.key(slug);
    const client = await SocketClient.open(nginx.url, key);
    client.ask();
    await client.ended();
    await new Promise((resolve) => setTimeout(resolve, idleS * 1_000));
    client.ask();
    expect(await client.ended(2), nginx.log()).toMatchObject({ type: 'response.completed' });
    await client.close();
    await expectBalancedBooks(stack);
    await nginx.close();
    await stack.close();
  },
  600_000,
);
