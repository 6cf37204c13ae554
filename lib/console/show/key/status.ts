import type { CallStatus, Place } from '#lib/console/show/call-status';
import { showAgo, showDay, showMinute, showMoment } from '#lib/console/show/time';
import type { ShownKey } from '#lib/control/operations/key/settings';
import { showCount, showMoney } from '#lib/core/show-money';

type Cause = NonNullable<ShownKey['refusing']>['cause'];

/** What a key's calls come to now, by what its next one would be refused by. Pure. */
export function keyStatusOf(key: ShownKey, place: Place): CallStatus {
  const { refusing } = key;
  if (refusing === null)
    return { tone: 'good', text: 'Active', note: null, why: 'Calls with this key are served.' };
  return statuses[refusing.cause](key, refusing, place);
}

type Words = (key: ShownKey, refusing: NonNullable<ShownKey['refusing']>, place: Place) => CallStatus;

const statuses: Readonly<Record<Cause, Words>> = {
  revoked: fixed('bad', 'Revoked', 'This key is permanently revoked: calls are refused with 401.'),
  disabled: fixed('neutral', 'Disabled', 'Calls are refused with 403 until the key is enabled.'),
  expired: ({ expiresAt }, _, { timeZone }) => ({
    tone: 'bad',
    text: 'Expired',
    note: expiresAt === null ? null : `on ${showDay(Date.parse(expiresAt), timeZone)}`,
    why: `This key expired${expiresAt === null ? '' : ` on ${showMoment(Date.parse(expiresAt), timeZone)}`}: calls are refused with 403. Choose a later expiry under Edit, or create another key.`,
  }),
  maker: fixed(
    'bad',
    'Creator left',
    'The member who created this key is no longer in the workspace: calls are refused with 403. Create another key.',
  ),
  suspended: fixed(
    'bad',
    'Suspended',
    'This workspace is suspended: calls with all of its keys are refused with 403. Contact your gateway administrator.',
  ),
  models: ({ models }) => ({
    tone: 'bad',
    text: 'No model',
    note: 'until its models are served',
    why: `This gateway serves none of the models that this key may call (${models?.join(', ') ?? 'none'}): calls are refused. Choose other models under Edit.`,
  }),
  funds: (key) => ({
    tone: 'bad',
    text: 'No funds',
    note: 'until funds are added',
    why: `The workspace “${key.workspace}” has no funds left: calls with all of its keys are refused with 402 until some are added on the Billing page.`,
  }),
  budget: (key, { until }, { timeZone, nowMs }) => {
    const when = until && `${showMinute(Date.parse(until), timeZone)} (${showAgo(Date.parse(until), nowMs)})`;
    return {
      tone: 'bad',
      text: 'Budget used up',
      note: until && `resets ${showMinute(Date.parse(until), timeZone)}`,
      why: `The workspace “${key.workspace}” has used up its monthly budget: calls with all of its keys are refused with 402 until ${when ?? 'the month ends'}, or until the budget is raised on the Billing page.`,
    };
  },
  quota: ({ quota, spent }) => ({
    tone: 'bad',
    text: 'Quota used up',
    note: 'until it is raised',
    why:
      quota === null
        ? 'This key’s quota was marked as used up: calls are refused with 402 until it is restored.'
        : `This key has spent ${showMoney(spent.total)} of its lifetime quota of ${showMoney(quota)}: calls are refused with 402 until the quota is raised or restored.`,
  }),
  day: capped('day', 'dailyCap', 'a day', 'resets'),
  d7: capped('d7', 'd7Cap', 'in 7 days', 'frees up'),
  d30: capped('d30', 'd30Cap', 'in 30 days', 'frees up'),
  model: (_, { latest }, { nowMs }) => ({
    tone: 'warn',
    text: 'Model refused',
    note: latest && `${latest.model ?? 'no model'}, ${showAgo(Date.parse(latest.at), nowMs)}`,
    why: `Its latest call requested ${latest?.model ? `“${latest.model}”` : 'a model'}, which this gateway does not offer or this key may not call: it was refused with 400. Add the model to the key under Edit, or call another model.`,
  }),
  rate: (key, { code, latest }, { nowMs }) => {
    const refused = latest?.refused ?? 0;
    const calls = latest?.calls ?? 0;
    return {
      tone: 'warn',
      text: 'Rate limited',
      note: `${showCount(refused)} of the last ${showCount(calls)}`,
      why: `${showCount(refused)} of its last ${showCount(calls)} calls within an hour ${refused === 1 ? 'was' : 'were'} refused with 429, the latest ${latest ? showAgo(Date.parse(latest.at), nowMs) : 'just now'}, by ${rateLimit(code, key)}. Each frees up within a minute.`,
    };
  },
};

function fixed(tone: CallStatus['tone'], text: string, why: string): Words {
  return () => ({ tone, text, note: null, why });
}

function capped(
  window: 'day' | 'd7' | 'd30',
  cap: 'dailyCap' | 'd7Cap' | 'd30Cap',
  span: string,
  ends: 'resets' | 'frees up',
): Words {
  return (key, { until }, { timeZone, nowMs }) => {
    const when = until === null ? null : showMinute(Date.parse(until), timeZone);
    const inWords =
      when && until ? `${when} (${showAgo(Date.parse(until), nowMs)})` : 'older spend leaves it';
    return {
      tone: 'bad',
      text: 'Cap reached',
      note: when && `${ends} ${when}`,
      why: `This key has spent ${showMoney(key.spent[window])} of its cap of ${showMoney(key[cap] ?? '0')} ${span}: calls are refused with 402 until ${inWords}, or until the cap is raised.`,
    };
  };
}

/** "the limit of 60 requests a minute of this key". */
function rateLimit(code: string, key: ShownKey): string {
  const [, whose, limit] = /^(api_key|workspace)_(rpm|tpm|concurrency)_exceeded$/.exec(code) ?? [];
  if (limit !== 'rpm' && limit !== 'tpm' && limit !== 'concurrency') return 'a rate limit';
  const unit = { rpm: 'requests a minute', tpm: 'tokens a minute', concurrency: 'concurrent calls' }[limit];
  const most = whose === 'api_key' ? key[limit] : null;
  return `the limit of ${most === null ? '' : `${showCount(most)} `}${unit} of ${whose === 'api_key' ? 'this key' : 'the workspace'}`;
}
