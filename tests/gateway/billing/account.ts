import type { Pool, PoolClient } from 'pg';
import type Stripe from 'stripe';
import { openPayments, type Payments } from '#lib/control/billing/payments/client';
import { handleEvent } from '#lib/control/billing/payments/handle';
import type { Actor } from '#lib/control/operations/actor';
import { ask, type ControlHost } from '#lib/control/operations/run';
import { createTopUp } from '#lib/control/operations/top-up/operations';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import { type Db, openDb } from '#lib/platform/data/db';
import { transact } from '#lib/platform/data/transaction/transaction';
import { controlHost, createWorkspace } from '#tests/support/control/operate';
import { copyDatabase, createDatabase, type TestDatabase } from '#tests/support/database';
import type { Session } from '#tools/sandbox/payments/objects';
import { type StripeServer, startStripe } from '#tools/sandbox/payments/server';

export const webhookSecret = 'whsec_test';
export const operator: Actor = { kind: 'operator', name: 'test', address: null };

/** A gateway's database beside an account at the stand-in. */
export interface Shop {
  readonly db: Db;
  /** Of the database. */
  readonly url: string;
  readonly server: StripeServer;
  readonly payments: Payments;
  readonly host: ControlHost;
  close(): Promise<void>;
}

/** @param given a server that other databases have, too. */
export async function openShop(given?: StripeServer, feeBasisPoints = 0, made?: TestDatabase): Promise<Shop> {
  const database = made ?? (await createDatabase());
  const db = openDb(database.url);
  const server = given ?? (await startStripe());
  const settings = { secretKey: 'sk_test_shop', webhookSecret, apiBase: server.url, feeBasisPoints };
  const payments = openPayments(settings, 'http://console.test');
  return {
    db,
    url: database.url,
    server,
    payments,
    host: { ...controlHost(db), payments },
    close: async () => {
      await db.close();
      await database.drop();
      if (!given) await server.close();
    },
  };
}

let named = 0;

/** A workspace without money. */
export async function newWorkspace({ db }: Shop): Promise<{ id: string; slug: string }> {
  named += 1;
  return createWorkspace(db, { name: `Customer ${named}` });
}

/** Orders a top-up. @returns it, and its page at Stripe. */
export async function order({ host, server }: Shop, workspace: string, amount: string, saveCard = false) {
  const input = saveCard ? { amount, saveCard } : { amount };
  const topUp = await ask(host, createTopUp, { actor: operator, workspace, input });
  const session = sessionOf(server, topUp.id);
  return { topUp, session };
}

export function sessionOf(server: StripeServer, orderId: string): Session {
  const found = [...server.account.sessions.values()].find((one) => one.metadata.order === orderId);
  if (!found) throw new Error(`Stripe has no session of order ${orderId}`);
  return found;
}

/** Hands an event of the stand-in's to the gateway, as the webhook does. */
export function take({ db, payments }: Shop, event: object) {
  return handleEvent(db.pool, payments.stripe, event as Stripe.Event);
}

/** Hands all events that the stand-in has kept to the gateway, in their order, and forgets them. */
export async function takeAll(shop: Shop): Promise<void> {
  for (const event of shop.server.account.events.splice(0)) await take(shop, event);
}

export async function balanceOf({ db }: Shop, workspaceId: string): Promise<bigint> {
  return (await db.prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } })).balanceNano;
}

/** Usage of a workspace, settled now. @param simulated the simulated provider answered. */
export function spend({ db }: Shop, id: string, dollars: number, simulated = false): Promise<void> {
  const spentNano = BigInt(Math.round(dollars * 100)) * 10_000_000n;
  const usage = { id, spentNano, simulatedNano: simulated ? spentNano : 0n, calls: 1 };
  return transact(db.pool, { lockMs: 60_000, statementMs: 60_000 }, (client) =>
    postUsage({ query: (text, values) => client.query(text, values) }, [usage]),
  );
}

/** Another gateway on a copy of the database as it is now, at the same account. */
export async function copyOf({ url, server }: Shop): Promise<Shop> {
  return openShop(server, 0, await copyDatabase(url));
}

/** A pool whose connections break at a statement of each transaction. */
export function failingAt(pool: Pool, step: number): Pool {
  const connect = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    let at = 0;
    return new Proxy(client, {
      get: (target, name) => {
        if (name !== 'query') return Reflect.get(target, name, target);
        return (...given: Parameters<PoolClient['query']>) => {
          at += 1;
          if (at === step) return Promise.reject(new Error('the connection broke'));
          return target.query(...given);
        };
      },
    });
  };
  return new Proxy(pool, {
    get: (target, name) => (name === 'connect' ? connect : Reflect.get(target, name, target)),
  });
}
