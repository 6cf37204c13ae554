import type { AlertKind } from '#lib/control/alerts/events';
import { pauseText } from '#lib/control/billing/auto/pause-text';
import { viewAddress } from '#lib/core/view-address';

type Facts = Readonly<Record<string, unknown>>;

/** An alert as people read it. */
export interface AlertWords {
  readonly title: string;
  readonly text: string;
  /** Path of the page that helps, inside the workspace. */
  readonly page: string;
}

const words: Readonly<Record<AlertKind, (facts: Facts) => AlertWords>> = {
  limit: ({ name, limit, level, key }) => {
    const who = typeof key === 'string' ? `The key ${String(name)}` : 'The workspace';
    const its = String(limit).replace(/^the /, 'its ');
    const title = level === 100 ? `${who} has reached ${its}` : `${who} has used ${String(level)}% of ${its}`;
    return {
      title,
      text:
        level === 100
          ? `${title}. Calls are refused until it frees up or you raise it.`
          : `${title}. When it is reached, calls are refused.`,
      page: typeof key === 'string' ? `keys/${key}` : 'settings',
    };
  },
  key_expiring: ({ name, expiresAt, key }) => ({
    title: `The key ${String(name)} expires soon`,
    text: `It expires at ${String(expiresAt)}. After that, calls with it are refused. Set a later expiry, or replace it with another key.`,
    page: `keys/${String(key)}`,
  }),
  offer_trouble: ({ model, provider, calls, failed }) => ({
    title: `Many calls to ${String(model)} at ${String(provider)} are failing`,
    text: `Of your ${String(calls)} calls to ${String(model)} at ${String(provider)} in the last hour, ${String(failed)} failed there. With a routing policy that names another provider or model, calls fail over automatically.`,
    page: 'routing',
  }),
  model_retiring: ({ model, provider, retires }) => ({
    title: `${String(provider)} will retire ${String(model)} soon`,
    text: `${String(provider)} stops serving ${String(model)} on ${String(retires)}, and you have used it there in the last 30 days. If no other provider serves it, switch to another model.`,
    page: 'models',
  }),
  auto_top_up_paused: ({ reason, detail }) => ({
    title: 'Automatic top-ups are paused',
    text: pauseText({ reason: String(reason), detail: typeof detail === 'string' ? detail : null }),
    page: 'billing',
  }),
  budget: ({ level, mode, spent, budget, resetsAt }) => {
    const used = `The workspace has spent $${String(spent)} of its monthly budget of $${String(budget)}.`;
    const resets = `The budget resets at ${String(resetsAt)}.`;
    const refuses = level === 100 ? 'Calls are refused until then, or until the budget is raised.' : '';
    return {
      title:
        level === 100 ? 'The monthly budget is used up' : `${String(level)}% of the monthly budget is used`,
      text: [
        used,
        resets,
        mode === 'hard' ? refuses || 'When it is used up, calls are refused.' : 'Calls are not refused.',
      ].join(' '),
      page: 'billing',
    };
  },
  view: ({ name, page, query, over, window }) => {
    const [when, last] = window === 'day' ? ['24 hours', '24h'] : ['hour', '1h'];
    const range = page === 'usage' ? { range: '24h' } : { last };
    return {
      title: `The view “${String(name)}” has more than ${String(over)} calls`,
      text: `In the last ${when}, the view “${String(name)}” had more than ${String(over)} calls. Its alert is set on the alerts page.`,
      page: viewAddress({ page: String(page), query: String(query) }, range),
    };
  },
  bad_answers: ({ rated, bad, percent }) => ({
    title: `More than ${String(percent)}% of the rated answers are bad`,
    text: `Of the ${String(rated)} answers of the last 24 hours that were rated, ${String(bad)} are bad. The log shows which, with what was said about them.`,
    page: 'logs?feedback=bad&last=24h',
  }),
  low_balance: ({ threshold }) => ({
    title: 'Low balance',
    text: `The funds of the workspace are below $${String(threshold)}.`,
    page: 'billing',
  }),
};

export function alertWords(kind: AlertKind, facts: Facts): AlertWords {
  return words[kind](facts);
}
