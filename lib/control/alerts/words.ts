import type { AlertKind } from '#lib/control/alerts/events';

type Facts = Readonly<Record<string, unknown>>;

/** An alert as people read it. */
export interface AlertWords {
  readonly title: string;
  readonly text: string;
  /** The page that helps, below the workspace. */
  readonly page: string;
}

const words: Readonly<Record<AlertKind, (facts: Facts) => AlertWords>> = {
  limit: ({ name, limit, level, key }) => ({
    title: `${String(name)}: ${String(level)} % of ${String(limit)}`,
    text:
      level === 100
        ? `${String(limit)} of ${String(name)} is reached: calls are refused until it frees up or is raised.`
        : `${String(level)} % of ${String(limit)} of ${String(name)} is used. When it is reached, calls are refused.`,
    page: typeof key === 'string' ? `keys/${key}` : 'settings',
  }),
  key_expiring: ({ name, expiresAt, key }) => ({
    title: `The key ${String(name)} is about to expire`,
    text: `From ${String(expiresAt)} on calls with it are refused. Give it a later end, or put another key in its place.`,
    page: `keys/${String(key)}`,
  }),
  offer_trouble: ({ model, provider, calls, failed }) => ({
    title: `${String(provider)} has trouble with ${String(model)}`,
    text: `${String(failed)} of your ${String(calls)} calls of the last hour that ${String(provider)} answered for ${String(model)} failed there. A routing policy with another provider or model takes over by itself.`,
    page: 'routing',
  }),
  model_retiring: ({ model, provider, retires }) => ({
    title: `${String(provider)} is about to retire ${String(model)}`,
    text: `It stops serving the model on ${String(retires)}, and you have used it there in the last 30 days. Unless another provider serves it, choose another model.`,
    page: 'models',
  }),
  low_balance: ({ threshold }) => ({
    title: 'The balance is low',
    text: `The funds of the workspace are below ${String(threshold)} dollars.`,
    page: 'billing',
  }),
};

export function alertWords(kind: AlertKind, facts: Facts): AlertWords {
  return words[kind](facts);
}
