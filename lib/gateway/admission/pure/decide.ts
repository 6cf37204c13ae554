import { type Refusal, refusal, retryIn } from '#lib/core/errors';
import type { Catalogue, KeyFacts, KeySnapshot, StoredLimits } from '#lib/core/facts/snapshot';
import { type BoundTag, tagLimitFlag, tagTitle } from '#lib/core/facts/tags';
import type { Ask } from '#lib/core/families/family';
import { isTimeZone } from '#lib/core/time-zone';
import type { LimitWaits } from '#lib/gateway/limits/pure/limits';

/**
 * The end of step 5 (a secret that was revoked or replaced) and steps 6 and 7 of admission: the state of the key
 * (contract: authentication/states) and its quota flag, a 402. Steps 11 and 12, funds and caps, the other 402s, are
 * decided by `apportion`.
 * @param nowMs ms since the epoch.
 */
export function checkKey(snapshot: KeySnapshot, nowMs: number): Refusal | null {
  const { key, workspace, secretUntilMs } = snapshot;
  if (key.status === 'revoked') {
    return refusal('invalid_api_key', 'This API key was revoked; create a new one in the console.');
  }
  if (secretUntilMs !== null && nowMs >= secretUntilMs) {
    return refusal('invalid_api_key', 'This API key was replaced by a rotation; use the new key.');
  }
  if (key.status !== 'active') {
    return refusal('apikey_inactive', 'This API key is disabled; enable it in the console or use another.');
  }
  if (key.expiresAtMs !== null && nowMs >= key.expiresAtMs) {
    return refusal('apikey_inactive', 'This API key has expired; create a new one or extend its expiry.');
  }
  if (key.ownerRemoved) {
    return refusal(
      'apikey_inactive',
      'The member who made this API key is no longer in the workspace; use a key of a current member.',
    );
  }
  if (key.sessionEnded) {
    return refusal(
      'apikey_inactive',
      'The session that this playground belongs to has ended, or its role was changed; open the playground again.',
    );
  }
  if (workspace.suspended) {
    return refusal('apikey_inactive', 'This workspace is suspended; ask the operator of this gateway.');
  }
  if (key.quotaExhausted) {
    return refusal('quota_exceeded', 'This API key has used up its quota; raise or reset it in the console.');
  }
  return null;
}

/** Step 9 of admission: the model is in the catalogue and in the key's scope (contract: admission/model). */
export function checkModel(model: string, snapshot: KeySnapshot, catalogue: Catalogue): Refusal | null {
  if (!catalogue.models.has(model)) {
    return refusal(
      'model_not_allowed',
      `Model ${quote(model)} is unknown here; GET /v1/models lists the models of this key.`,
    );
  }
  const scope = snapshot.key.models;
  if (scope !== null && !scope.has(model)) {
    return refusal(
      'model_not_allowed',
      `This API key does not allow model ${quote(model)}; add it to the key's models or use another key.`,
    );
  }
  return null;
}

/** A slug goes into the message as asked, but never at length. */
function quote(model: string): string {
  return JSON.stringify(model.length > 100 ? `${model.slice(0, 100)}…` : model);
}

/**
 * Step 10 of admission (contract: admission/output-budget): the output budget of the request, for all its choices
 * together, against the key's maximum; tokens. A request that names none shares the maximum among its choices, at
 * least one token for each.
 */
export function checkBudget(
  ask: Pick<Ask, 'budget' | 'choices' | 'operation'>,
  key: KeyFacts,
): Refusal | null {
  const most = key.maxOutputTokens;
  if (most === null || ask.operation.budgeted !== true) return null;
  const { budget, choices } = ask;
  if ((budget ?? 1) * choices <= most) return null;
  const each = choices === 1 ? '' : ` for each of ${choices} choices`;
  const asked = budget === null ? 'an answer without a budget' : `up to ${budget} output tokens`;
  return refusal(
    'max_output_tokens_exceeded',
    `The request asks for ${asked}${each}, this API key allows ${most} output tokens in total; ask for fewer.`,
  );
}

/**
 * Step 13 of admission (contract: admission/stored-limits): stored limits are positive integers or none, and the time
 * zone is known.
 */
export function checkLimits({ key, workspace }: KeySnapshot): Refusal | null {
  const wrong = wrongLimit(key.limits) ?? wrongLimit(workspace.limits);
  if (wrong !== null) {
    const ofKey = wrongLimit(key.limits) !== null;
    const [whose, command] = ofKey ? ['API key', 'key'] : ['workspace', 'workspace'];
    return refusal(
      'rate_limit_config_invalid',
      `The ${wrong} limit stored for this ${whose} is not a positive number; set it again with "gateway ${command} set".`,
    );
  }
  return isTimeZone(workspace.timeZone)
    ? null
    : refusal(
        'rate_limit_config_invalid',
        'The time zone stored for this workspace is unknown; set another with "gateway workspace set --time-zone".',
      );
}

function wrongLimit(limits: StoredLimits): string | null {
  if (!isLimit(limits.rpm)) return 'requests-per-minute';
  if (!isLimit(limits.tpm)) return 'tokens-per-minute';
  return isLimit(limits.concurrency) ? null : 'concurrency';
}

function isLimit(value: number | null): boolean {
  return value === null || (Number.isSafeInteger(value) && value > 0);
}

/**
 * Step 14 of admission (contract: limits/order): the code is that of the first violated limit; `Retry-After` is the
 * longest wait over all RPM and TPM limits violated now, 1 to 60 whole seconds (contract: limits/retry-after). A full
 * concurrency limit has no time to name.
 */
export function decideLimits(key: LimitWaits, workspace: LimitWaits): Refusal | null {
  const longestMs = Math.max(key.rpmMs, key.tpmMs, workspace.rpmMs, workspace.tpmMs);
  const seconds = Math.min(60, Math.max(1, Math.ceil(longestMs / 1000)));
  const levels = [
    ['This API key', 'api_key', key],
    ['This workspace', 'workspace', workspace],
  ] as const;
  for (const [who, level, waits] of levels) {
    const { rpm, tpm, concurrency } = waits.limits;
    if (waits.rpmMs > 0) {
      return refusal(`${level}_rpm_exceeded`, `${who} allows ${rpm} requests a minute. ${retryIn(seconds)}`, {
        retryAfterSeconds: seconds,
      });
    }
    if (waits.tpmMs > 0) {
      return refusal(
        `${level}_tpm_exceeded`,
        `${who} allows ${tpm} tokens a minute, which this request would exceed. ${retryIn(seconds)}`,
        { retryAfterSeconds: seconds },
      );
    }
    if (waits.concurrencyFull) {
      return refusal(
        `${level}_concurrency_exceeded`,
        `${who} allows ${concurrency} calls at a time; retry when one of them has ended.`,
      );
    }
  }
  return null;
}

/** The same for the tags of a call, in their order: the message names whose limit it is (contract: tags/rates). */
export function decideTagLimits(tags: readonly BoundTag[], waits: readonly LimitWaits[]): Refusal | null {
  const longestMs = Math.max(0, ...waits.flatMap(({ rpmMs, tpmMs }) => [rpmMs, tpmMs]));
  const seconds = Math.min(60, Math.max(1, Math.ceil(longestMs / 1000)));
  for (const [position, tag] of tags.entries()) {
    const { rpmMs = 0, tpmMs = 0 } = waits[position] ?? {};
    if (rpmMs <= 0 && tpmMs <= 0) continue;
    const { rpm, tpm } = tag.limits;
    const [code, what] =
      rpmMs > 0
        ? (['api_key_rpm_exceeded', `${rpm} requests a minute`] as const)
        : (['api_key_tpm_exceeded', `${tpm} tokens a minute, which this request would exceed`] as const);
    return refusal(code, `${tagTitle(tag)} is limited to ${what}. ${retryIn(seconds)}`, {
      retryAfterSeconds: seconds,
      flag: tagLimitFlag(tag.name),
    });
  }
  return null;
}
