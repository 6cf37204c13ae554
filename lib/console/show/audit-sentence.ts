import type { Fields } from '#lib/control/operations/field/field';
import { operations } from '#lib/control/operations/operations';
import { goodScore } from '#lib/core/facts/feedback';
import { exactMoney, showCount } from '#lib/core/show-money';
import { changesOf } from '#lib/gateway/routing/pure/policy/difference';

type State = Readonly<Record<string, unknown>>;

/** An audit row, as a sentence needs it. */
interface Told {
  readonly action: string;
  /** What the subject is called; null: nothing is known of it any more. */
  readonly called: string | null;
  readonly before: State | null;
  readonly after: State | null;
}

type Sentence = (row: Told & { readonly is: State; readonly was: State }) => string;

/**
 * What was done, without the name of the person: "published version 1 of the default policy: Fallback models: added sandbox/mini as number 2".
 * Pure.
 */
export function auditSentence(row: Told): string {
  const whole = { ...row, is: row.after ?? {}, was: row.before ?? {} };
  return (sentences[row.action] ?? other)(whole);
}

const sentences: Readonly<Record<string, Sentence>> = {
  'key.create': (row) => `created the key ${named(row)}`,
  'key.set': (row) => `changed the key ${named(row)}${changesIn(row)}`,
  'key.enable': (row) => `enabled the key ${named(row)}`,
  'key.disable': (row) => `disabled the key ${named(row)}`,
  'key.revoke': (row) => `revoked the key ${named(row)}`,
  'key.rotate': (row) => `rotated the secret of the key ${named(row)}`,
  'key.end-overlap': (row) => `stopped the old secret of the key ${named(row)}`,
  'key.exhaust': (row) => `marked the quota of the key ${named(row)} as used up`,
  'key.restore': (row) => `restored the key ${named(row)} despite its quota`,
  'management-key.create': (row) =>
    `created the management key ${named(row)}${role(row.is, ' with the role ')}`,
  'management-key.revoke': (row) => `revoked the management key ${named(row)}`,
  'member.add': (row) => `added ${named(row)}${role(row.is, ' as ')}`,
  'member.set': (row) =>
    `changed the role of ${named(row)} from ${text(row.was.role)} to ${text(row.is.role)}`,
  'member.remove': (row) => `removed ${named(row)}`,
  'member.leave': () => 'left the workspace',
  'member.transfer': (row) => `transferred ownership to ${named(row)}`,
  'invitation.create': (row) => `invited ${named(row)}${role(row.is, ' as ')}`,
  'invitation.resend': (row) => `sent the invitation of ${named(row)} again`,
  'invitation.cancel': (row) => `canceled the invitation of ${named(row)}`,
  'invitation.link': (row) => `made a link to pass on for the invitation of ${named(row)}`,
  'invitation.accept': (row) => `accepted an invitation${role(row.is, ' as ')}`,
  'invitation.join': (row) => `joined${role(row.is, ' as ')}`,
  'policy.set': published,
  'policy.publish': published,
  'policy.rollback': (row) =>
    `rolled ${policy(row)} back to version ${text(row.is.restored)}${policyChanges(row, 'policy')}`,
  'policy.save': (row) => `saved a draft of ${policy(row)}${policyChanges(row, 'draft')}`,
  'policy.discard': (row) => `discarded the draft of ${policy(row)}`,
  'user.sign-up': (row) => `signed up as ${named(row)}`,
  'user.enter': (row) => `signed up as ${named(row)}`,
  'user.create': (row) => `created the account of ${named(row)}`,
  'playground.open': () => 'opened the playground for the first time',
  'billing.portal': () => 'opened the page with cards and invoices',
  'workspace.create': (row) => `created the workspace ${named(row)}`,
  'workspace.open': (row) => `created the workspace ${named(row)}`,
  'workspace.set': (row) => {
    if (row.is.suspended === true) {
      const why = row.is.suspendedReason;
      return `suspended this workspace${typeof why === 'string' ? `: ${why}` : ''}`;
    }
    return row.is.suspended === false && row.was.suspended === true
      ? 'resumed this workspace'
      : `changed the workspace${changesIn(row)}`;
  },
  'workspace.rename': ({ was, is }) => `changed the address from ${text(was.slug)} to ${text(is.slug)}`,
  'workspace.delete': () => 'deleted the workspace',
  'view.create': (row) => `saved the ${row.is.shared === true ? 'shared ' : ''}view ${named(row)}`,
  'view.rename': ({ was, is }) => `renamed the view “${text(was.name)}” to “${text(is.name)}”`,
  'view.delete': (row) => `deleted the view ${named(row)}`,
  'view.subscribe': (row) => `asked for a weekly email about the view ${named(row)}`,
  'view.unsubscribe': (row) => `ended the weekly email about the view ${named(row)}`,
  'view.alert': (row) => `set an alert on the view ${named(row)}: ${text(row.is.alert)}`,
  'view.end-alert': (row) => `ended the alert on the view ${named(row)}`,
  'credit.add': ({ is }) => {
    const amount = String(is.amount ?? '0');
    const moved = amount.startsWith('-') ? 'subtracted' : 'added';
    const way = amount.startsWith('-') ? 'from' : 'to';
    return `${moved} ${exactMoney(amount.replace('-', ''))} ${way} the balance${because(is)}`;
  },
  'credit.promo': ({ is }) => `added ${exactMoney(String(is.amount ?? '0'))} of promo credit${because(is)}`,
  'top-up.create': ({ is }) => `ordered a top-up of ${exactMoney(String(is.amount ?? '0'))}`,
  'top-up.cancel': () => 'canceled a top-up that was not paid',
  'auto-top-up.set': (row) =>
    row.is.enabled === undefined || row.was.enabled === row.is.enabled
      ? `changed automatic top-ups${changesIn(row)}`
      : `switched automatic top-ups ${row.is.enabled === true ? 'on' : 'off'}${changesIn(row, ['enabled'])}`,
  'auto-top-up.resume': () => 'resumed automatic top-ups',
  'low-balance.set': ({ is }) =>
    typeof is.threshold === 'string'
      ? `set the low-balance email to ${exactMoney(is.threshold)}`
      : 'switched the low-balance email off',
  'alert.set': (row) => `changed the alerts${changesIn(row)}`,
  'content.show': () => 'read what a call was asked and answered',
  'content.search': () => 'searched what calls were asked and answered',
  'content.export': () => 'exported what calls were asked and answered',
  'content.delete': ({ is }) =>
    `deleted the content of ${is.of === 'call' ? 'a call' : `all calls of this ${text(is.of)}`}`,
  'own-key.create': (row) => `stored the own key ${named(row)} for ${text(row.is.provider)}`,
  'own-key.set': (row) => `changed the own key ${named(row)}${changesIn(row)}`,
  'own-key.test': (row) => `tested the own key ${named(row)}`,
  'own-key.delete': (row) => `deleted the own key ${named(row)}`,
  'tag-budget.create': ({ is }) => `set a budget for ${budgeted(is)}`,
  'tag-budget.set': (row) => `changed a budget of tags or end users${changesIn(row)}`,
  'tag-budget.delete': ({ was }) => `deleted the budget of ${budgeted(was)}`,
  'feedback.set': ({ is }) =>
    typeof is.score === 'number'
      ? `rated the answer of a call as ${is.score >= goodScore ? 'good' : 'bad'}`
      : 'wrote feedback on a call',
  'webhook.create': (row) => `added the webhook ${named(row)}`,
  'webhook.set': (row) => `switched the webhook ${named(row)} ${row.is.enabled === true ? 'on' : 'off'}`,
  'webhook.delete': (row) => `deleted the webhook ${named(row)}`,
  'webhook.test': (row) => `sent a test event to the webhook ${named(row)}`,
  'webhook.redeliver': (row) => `sent an event to the webhook ${named(row)} again`,
};

/** Actions that have no sentence of their own. */
const other: Sentence = (row) => `ran ${row.action}${row.called === null ? '' : ` for ${row.called}`}`;

function published(row: Parameters<Sentence>[0]): string {
  const version = row.is.version === undefined ? '' : `version ${text(row.is.version)} of `;
  return `published ${version}${policy(row)}${policyChanges(row, 'policy')}`;
}

/** Rows name the default policy "default" or, as it is stored, with an empty string. */
function policy({ is, was }: Parameters<Sentence>[0]): string {
  const model = is.model ?? was.model;
  return typeof model === 'string' && model !== 'default' && model !== ''
    ? `the policy of ${model}`
    : 'the default policy';
}

function policyChanges({ was, is }: Parameters<Sentence>[0], key: 'policy' | 'draft'): string {
  return listed(changesOf(recordOf(was[key]), recordOf(is[key])));
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** "“web”"; addresses of people as they are. */
function named({ called, is, was }: Parameters<Sentence>[0]): string {
  const own = [is.name, is.email, is.url, was.name, was.email, was.url].find(
    (one) => typeof one === 'string',
  );
  const name = called ?? (typeof own === 'string' ? own : null);
  if (name === null) return 'that was deleted since';
  return name.includes('@') || /^https?:/.test(name) ? name : `“${name}”`;
}

function role(state: State, before: string): string {
  return typeof state.role === 'string' ? `${before}${state.role}` : '';
}

/** "each end user", "the tag feature=search". */
function budgeted({ tag, value }: State): string {
  const each = typeof value !== 'string';
  if (typeof tag !== 'string') return each ? 'each end user' : `the end user ${text(value)}`;
  return each ? `each value of the tag ${tag}` : `the tag ${tag}=${text(value)}`;
}

function because({ reason }: State): string {
  return typeof reason === 'string' ? `: ${reason}` : '';
}

/** ": Per day $5.00 → $8.00, Requests a minute none → 77". */
function changesIn({ action, was, is }: Parameters<Sentence>[0], without: readonly string[] = []): string {
  const fields: Fields = operations.find(({ name }) => name === action)?.fields ?? {};
  const names = Object.keys({ ...was, ...is }).filter((name) => !without.includes(name));
  return listed(
    names.map((name) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return `${field?.label ?? name} ${auditValue(field, was[name])} → ${auditValue(field, is[name])}`;
    }),
  );
}

/** A value of a field to read: "$5.00", "none", "a/b, c/d". @param field undefined: it is not declared any more. */
export function auditValue(field: { readonly kind: string } | undefined, value: unknown): string {
  return field?.kind === 'money' && typeof value === 'string' ? exactMoney(value) : text(value);
}

const mostListed = 4;

function listed(changes: readonly string[]): string {
  if (changes.length === 0) return '';
  const rest = changes.length - mostListed;
  const shown = changes.slice(0, mostListed).join(', ');
  return `: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function text(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return showCount(value);
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
}
