import type { Account } from '#tools/sandbox/payments/account';
import { readForm } from '#tools/sandbox/payments/form';
import type { Intent, StandInObject } from '#tools/sandbox/payments/objects';
import { shown } from '#tools/sandbox/payments/shown';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

export interface Answered {
  readonly status: number;
  readonly body: object;
}

/** The API's answer; null: not found. */
export function answer(account: Account, asked: Asked): Answered | null {
  const [, kind = '', id = null, below = null] =
    /^\/v1\/((?:checkout\/|billing_portal\/)?\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(asked.path) ?? [];
  const place = { kind, id, below };
  return asked.method === 'POST' ? write(account, place, asked) : ok(read(account, place, asked));
}

function ok(body: object | null): Answered | null {
  return body && { status: 200, body };
}

/** What a path names: a collection, one object in it, and what is below that object. */
interface Place {
  readonly kind: string;
  readonly id: string | null;
  readonly below: string | null;
}

function write(account: Account, { kind, id, below }: Place, { body }: Asked): Answered | null {
  const form = readForm(body);
  if (below !== null)
    return kind === 'checkout/sessions' && below === 'expire' ? expireSession(account, id ?? '') : null;
  if (kind === 'customers') {
    const customer = id === null ? account.createCustomer(form) : account.customers.get(id);
    if (!customer) return null;
    return ok(shown(id === null ? customer : account.updateCustomer(customer, form)));
  }
  if (id !== null) return null;
  if (kind === 'checkout/sessions') return ok(shown(account.createSession(form)));
  if (kind === 'billing_portal/sessions') return ok(shown(account.openPortal(form)));
  if (kind !== 'payment_intents') return null;
  const intent = account.chargeSaved(form);
  return intent.last_payment_error ? refusedCard(intent) : ok(shown(intent));
}

/** For a declined card, Stripe answers with an error that contains the payment. */
function refusedCard(intent: Intent): Answered {
  const { last_payment_error: error } = intent;
  return { status: 402, body: { error: { ...error, payment_intent: shown(intent) } } };
}

/** Stripe ends an open page, and refuses any other. */
function expireSession(account: Account, id: string): Answered | null {
  const session = account.sessions.get(id);
  if (!session) return null;
  if (session.status === 'open') {
    account.expire(session);
    return ok(shown(session));
  }
  const message = `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${session.status}\`.`;
  return { status: 400, body: { error: { type: 'invalid_request_error', message } } };
}

function read(account: Account, { kind, id, below }: Place, { path, query }: Asked): object | null {
  const show = (one: StandInObject) => expanded(account, one, query);
  const all = collectionOf(account, kind);
  if (kind === 'customers' && id !== null && below === 'payment_methods')
    return pageOf(path, query, account.cardsOf(id), shown);
  if (kind === 'events') {
    const types = [...query].flatMap(([name, value]) => (name.startsWith('types[') ? [value] : []));
    const events = account.events.filter(({ type }) => types.length === 0 || types.includes(type));
    return pageOf(path, query, newest(events, query), (one) => one);
  }
  if (!all || below !== null) return null;
  if (id === null) return pageOf(path, query, newest([...all.values()], query), show);
  const one = all.get(id);
  return one ? show(one) : null;
}

const collections = {
  'checkout/sessions': 'sessions',
  payment_intents: 'intents',
  charges: 'charges',
  customers: 'customers',
  payment_methods: 'methods',
  refunds: 'refunds',
  disputes: 'disputes',
  invoices: 'invoices',
} as const;

function collectionOf(account: Account, kind: string): ReadonlyMap<string, Created> | null {
  const name = Object.entries(collections).find(([path]) => path === kind)?.[1];
  return name ? account[name] : null;
}

type Created = StandInObject & { readonly created: number };

/** Lists begin with the newest. */
function newest<One extends { readonly created: number }>(all: readonly One[], query: URLSearchParams) {
  const since = Number(query.get('created[gte]') ?? 0);
  const customer = query.get('customer');
  const payment = query.get('payment_intent');
  return all
    .filter((one) => one.created >= since)
    .filter((one) => customer === null || ('customer' in one && one.customer === customer))
    .filter((one) => payment === null || ('payment_intent' in one && one.payment_intent === payment))
    .toReversed();
}

function pageOf<One extends { readonly id: string }>(
  url: string,
  query: URLSearchParams,
  all: readonly One[],
  show: (one: One) => object,
): object {
  const after = query.get('starting_after');
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const to = from + Number(query.get('limit') ?? 10);
  return { object: 'list', url, has_more: to < all.length, data: all.slice(from, to).map(show) };
}

/** With objects in place of the ids that `expand[]` names. */
function expanded(account: Account, one: StandInObject, query: URLSearchParams): object {
  const named = [...query].flatMap(([name, value]) => (name.startsWith('expand[') ? [value] : []));
  const asks = (name: string) => named.includes(name) || named.includes(`data.${name}`);
  if (one.object === 'payment_intent') {
    const charge = account.charges.get(one.latest_charge ?? '');
    const method = account.methods.get(one.payment_method ?? '');
    return {
      ...shown(one),
      ...(charge && asks('latest_charge') ? { latest_charge: shown(charge) } : {}),
      ...(method && asks('payment_method') ? { payment_method: shown(method) } : {}),
    };
  }
  if (one.object === 'checkout.session' && asks('invoice') && one.invoice) {
    const invoice = account.invoices.get(one.invoice);
    return { ...shown(one), ...(invoice ? { invoice: shown(invoice) } : {}) };
  }
  return shown(one);
}
