import { z } from 'zod';
import { pauseReasons } from '#lib/control/billing/auto/pause';
import { budgetModes } from '#lib/control/billing/month';

/** An event of webhooks: its `data`, and what the guide says about it. */
interface EventKind {
  /** When it is sent. */
  readonly summary: string;
  readonly data: z.ZodObject;
  /** Example of `data`. */
  readonly example: Readonly<Record<string, unknown>>;
}

const dollars = (description: string) => z.string().meta({ description: `${description}, dollars.` });
const key = z.uuid().meta({ description: 'The id of the API key.' });
const modelId = z.string().meta({ description: 'The id of the model.' });

/**
 * Every kind of alert with the `data` of its event `alert.KIND` (contract: control-plane/webhooks). What raises an
 * alert is typed by it and the guide's page is made of it. Receivers rely on these names, so they do not change.
 */
export const alertEvents = {
  limit: {
    summary:
      'A key has used 80% or 100% of a cap or quota, a key or the workspace has used 80% of a rate limit, or calls are refused by a rate limit of the workspace.',
    data: z.object({
      key: key
        .optional()
        .meta({ description: 'The id of the API key. Absent if it is a limit of the workspace.' }),
      name: z.string().meta({ description: 'The name of the key, or "the workspace".' }),
      limit: z.string().meta({
        description:
          'The limit, in words: "the daily cap", "the 7-day cap", "the 30-day cap", "the quota", "the limit of requests a minute", "the limit of tokens a minute" or "the limit of concurrent calls".',
      }),
      level: z
        .union([z.literal(80), z.literal(100)])
        .meta({ description: 'Percent. At 100, calls are refused.' }),
      spent: dollars('Of a cap or quota: the amount spent').optional(),
      cap: dollars('Of a cap or quota: its amount').optional(),
      most: z.int().optional().meta({ description: 'Of a rate limit at 80: its value.' }),
      code: z
        .string()
        .optional()
        .meta({ description: 'Of a rate limit at 100: the error code of the refusals.' }),
    }),
    example: {
      key: '01890000-0000-7000-8000-000000000000',
      name: 'web',
      limit: 'the daily cap',
      level: 80,
      spent: '4.02',
      cap: '5',
    },
  },
  key_expiring: {
    summary: 'An API key expires in 7 days, and again in 1 day.',
    data: z.object({
      key,
      name: z.string().meta({ description: 'The name of the key.' }),
      expiresAt: z.iso.datetime().meta({ description: 'From then on, its calls are refused.' }),
      days: z.union([z.literal(7), z.literal(1)]).meta({ description: 'At most this many days are left.' }),
    }),
    example: {
      key: '01890000-0000-7000-8000-000000000000',
      name: 'web',
      expiresAt: '2026-12-01T23:59:59.000Z',
      days: 7,
    },
  },
  offer_trouble: {
    summary: 'At least a fifth of 20 or more calls in an hour to a model failed at one provider.',
    data: z.object({
      model: modelId,
      provider: z.string().meta({ description: 'The id of the provider.' }),
      calls: z.int().meta({ description: 'Calls of the last hour.' }),
      failed: z.int().meta({ description: 'How many of them failed.' }),
    }),
    example: { model: 'openai/gpt-5.4', provider: 'openai', calls: 50, failed: 12 },
  },
  model_retiring: {
    summary:
      'A provider stops serving a model within 30 days, and the workspace has used it there in the last 30 days.',
    data: z.object({
      model: modelId,
      provider: z.string().meta({ description: 'The provider that stops serving it.' }),
      retires: z.string().meta({ description: 'The day from which it is no longer served there.' }),
    }),
    example: { model: 'openai/gpt-4.1', provider: 'openai', retires: '2026-12-31' },
  },
  budget: {
    summary: 'The workspace has used 80% or 100% of its monthly budget.',
    data: z.object({
      level: z
        .union([z.literal(80), z.literal(100)])
        .meta({ description: 'Percent. At 100, calls are refused if the budget is hard.' }),
      mode: z.enum(budgetModes).meta({ description: 'Whether the budget only warns or refuses calls.' }),
      spent: dollars('The amount spent this month'),
      budget: dollars('The budget'),
      resetsAt: z.iso.datetime().meta({ description: 'The start of the next month.' }),
    }),
    example: {
      level: 80,
      mode: 'hard',
      spent: '80.41',
      budget: '100',
      resetsAt: '2026-12-01T00:00:00.000Z',
    },
  },
  low_balance: {
    summary: 'The funds of the workspace fall below the threshold set on its billing page.',
    data: z.object({ threshold: dollars('The threshold') }),
    example: { threshold: '10' },
  },
  auto_top_up_paused: {
    summary: 'A payment of an automatic top-up failed, or the like, and automatic top-ups are paused.',
    data: z.object({
      reason: z.enum(pauseReasons).meta({ description: 'Why they are paused.' }),
      detail: z
        .string()
        .optional()
        .meta({ description: 'The code of the payment provider, such as `insufficient_funds`.' }),
    }),
    example: { reason: 'declined', detail: 'insufficient_funds' },
  },
  view: {
    summary: 'A saved view has more calls in the last hour or 24 hours than the number set for it.',
    data: z.object({
      view: z.uuid().meta({ description: 'The id of the saved view.' }),
      name: z.string().meta({ description: 'Its name.' }),
      page: z.string().meta({ description: 'The page that it opens: "logs" or "usage".' }),
      query: z.string().meta({ description: 'Its filters, as in the URL of that page.' }),
      over: z.int().meta({ description: 'The number of calls; the view has more.' }),
      window: z
        .enum(['hour', 'day'])
        .meta({ description: 'Counted in the last hour, or the last 24 hours.' }),
    }),
    example: {
      view: '01890000-0000-7000-8000-000000000000',
      name: 'Failed calls',
      page: 'logs',
      query: 'status=5xx',
      over: 100,
      window: 'hour',
    },
  },
  bad_answers: {
    summary: 'Too many of the answers of the last 24 hours that have feedback with a score are bad.',
    data: z.object({
      rated: z.int().meta({ description: 'Answers of the last 24 hours that have a score.' }),
      bad: z.int().meta({ description: 'Those with a score below 0.5.' }),
      percent: z.int().meta({ description: 'The share of bad answers above which it is sent, percent.' }),
    }),
    example: { rated: 120, bad: 31, percent: 20 },
  },
} as const satisfies Readonly<Record<string, EventKind>>;

export type AlertKind = keyof typeof alertEvents;
/** The `data` of a kind's event. */
export type AlertData<Kind extends AlertKind = AlertKind> = z.output<(typeof alertEvents)[Kind]['data']>;

/** Every event that a webhook may receive, by its `type`. */
export const webhookEvents: Readonly<Record<string, EventKind>> = {
  ...Object.fromEntries(Object.entries(alertEvents).map(([kind, event]) => [`alert.${kind}`, event])),
  test: {
    summary: 'Someone pressed “Send test” or ran `gateway webhook test`.',
    data: z.object({}),
    example: {},
  },
};

/** The event that a webhook receives, as JSON (contract: control-plane/webhooks). */
export function eventBody(event: {
  /** The same on every try. */
  readonly id: string;
  readonly type: `alert.${AlertKind}` | 'test';
  readonly at: string;
  /** Slug. */
  readonly workspace: string;
  readonly data: Readonly<Record<string, unknown>>;
}): string {
  return JSON.stringify(event);
}
