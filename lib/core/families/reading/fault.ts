import { type ErrorTexts, type ErrorWords, errorTexts } from '#lib/core/families/reading/error-texts';
import { waitIn } from '#lib/core/families/reading/wait';

/** Whose fault an error of a provider is, and of which kind (contract: families/faults). */
export interface Fault extends ErrorWords {
  /** `operator`: the account, its credential or the catalogue's entry; another provider may well answer. */
  readonly whose: 'client' | 'operator' | 'provider';
  readonly kind: FaultKind;
  /** A wait that the body itself names, ms; null: none. */
  readonly waitMs: number | null;
}

export type FaultKind =
  | 'overload'
  | 'rate_limit'
  | 'quota'
  | 'context_length'
  | 'invalid_request'
  | 'model_gone'
  | 'region'
  | 'credential'
  | 'server'
  | 'unknown';

/** What a provider says about itself or the operator's account, whatever the status. */
export interface Saying {
  readonly whose: 'operator' | 'provider';
  readonly kind: FaultKind;
  /** Matches a whole code, type, status name or reason. */
  readonly code?: RegExp;
  /** Matches from the start of a message: what follows may quote the client. */
  readonly message?: RegExp;
}

/** A family's own words, in addition to those that most protocols share. */
export interface Dialect {
  readonly sayings: readonly Saying[];
  /** The code of a 404 on a path of the family that names nothing else than the model. */
  readonly notFound?: RegExp;
  /** The start of the message of a 403 about a thing that the client names and that is not there. */
  readonly missing?: RegExp;
}

/** A short name of a model, as messages quote it. */
const NAME = '["\'`]?[^\\s"\'`]{1,200}["\'`]?';

/** In this order; the first that matches counts. Sources: docs/decisions/faults.md. */
const shared: readonly Saying[] = [
  {
    whose: 'operator',
    kind: 'region',
    code: /^unsupported_country(_region_territory)?$/,
    message:
      /^(user location is not supported|country, region, or territory not supported|(this|the) [a-z ]{0,40}not available in your (country|region))/,
  },
  {
    whose: 'operator',
    kind: 'model_gone',
    code: /^(model_?not_?found|model_(decommissioned|deprecated|terminated|not_available|not_exist)|invalid_model|deploymentnotfound|modelnotopen|invalidendpointormodel\.notfound)$/,
    message: new RegExp(
      `^(the (requested )?model ${NAME} (does not exist|(was |is )?not found|is not available|is no longer|has been (deprecated|decommissioned|retired|removed)|has reached its end)|(publisher )?model ${NAME} ((was|is) )?not found|model:? not found|models/\\S{1,200} is (not found|no longer)|this model\\b.{0,80}\\b(no longer|end of (its )?life|deprecated|retired)|not found the model|(\\[\\d+\\]\\[)?unknown model|invalid model: |no endpoints found for |the provided model identifier is invalid|invocation of model id ${NAME} with on-demand throughput|you don't have access to the model |the api deployment for this resource does not exist|function ${NAME}: not found for account)`,
    ),
  },
  {
    whose: 'operator',
    kind: 'quota',
    code: /^(insufficient_(quota|balance|credits?)|billing_(hard_limit_reached|not_active|limit_user_error|error)|credit_balance_exhausted|exceeded_current_quota_error|arrearage|1113)$/,
    message:
      /^(billing hard limit|your (credit balance is too low|account is not active|prepayment credits are depleted)|(\[\d+\]\[)?insufficient (balance|credits?|funds|quota)|you have reached your (specified )?api usage limits|access denied, please make sure your account is in good standing|your team .{0,80}(used all available credits|spending limit)|account \S{1,100} is suspended)/,
  },
  {
    whose: 'operator',
    kind: 'credential',
    code: /^(invalid_api_key|api_key_(invalid|expired)|invalid_authentication_error|account_(deactivated|disabled)|organization_on_hold)$/,
    message:
      /^([a-z ]{0,40}(api[_ ]?key[_ ](is[_ ])?(not[_ ]valid|invalid)|(invalid|incorrect)[_ ]api[_ ]?key)|(your |the )?api[_ ]?key (has |is )?expired|(this|your) (organization|account|workspace|team|project) (has been|is|was) (disabled|suspended|deactivated|restricted|terminated)|consumer \S{1,200} has been suspended)/,
  },
  {
    whose: 'provider',
    kind: 'server',
    message: /^the request failed due to an error while processing the model/,
  },
  {
    whose: 'provider',
    kind: 'overload',
    code: /^(overloaded|(engine_)?overloaded_error|server_(is_)?overloaded|capacity_exceeded|slow_down)$/,
    message:
      /^((the |this )?(model|engine|server|service) is (currently |temporarily )?overloaded|overloaded)/,
  },
];

/** What error codes mean as a status, if an error is inside a 200. */
const impliedStatus: readonly (readonly [RegExp, number])[] = [
  [/^(authentication_error|unauthenticated)$/, 401],
  [/^(permission_error|permission_denied)$/, 403],
  [/^(not_found_error|not_found|resource_not_found_error)$/, 404],
  [/^(rate_limit_(error|exceeded|reached_error)|resource_exhausted|too_many_requests|throttling.*)$/, 429],
  [/^(api_error|(internal_)?server_error|internal(_error)?|upstream_error|provider_error)$/, 500],
  [/^(unavailable|service_unavailable(_error)?)$/, 503],
  [/^(timeout(_error)?|deadline_exceeded)$/, 504],
  [
    /^(invalid_.*|failed_precondition|out_of_range|bad_request|content_(filter|policy_violation)|moderation_blocked|request_too_large|context_length_exceeded|previous_response_not_found|string_above_max_length)$/,
    400,
  ],
];

const tooLong =
  /maximum context length|context (length|window|size)|(prompt|input|request) is too (long|large)|input token count.{0,60}exceeds|too many (input )?tokens|exceeds the (maximum|model)/;

/** What a client names and may be missing at a provider. */
const things =
  /\b(files?|items?|responses?|conversations?|containers?|vector[ _]?stores?|prompts?|threads?|batch(es)?|cached ?contents?|sessions?|skills?|tools?|voices?|images?|videos?|jobs?|operations?)\b/;

/** A 404 of an address that does not exist, and not of a thing. */
const bareNotFound =
  /^(404 )?((the )?(requested )?(resource|page|path|route|url|endpoint) )?(was )?not found\.?$/;

/** The statuses that a provider, or a proxy before it, uses for its own faults, in addition to all from 500. */
const providerStatuses = new Set([408, 425, 499]);

/** The check of one family. */
export function faultReader({
  sayings,
  ...dialect
}: Dialect): (status: number | null, body: unknown) => Fault {
  const all: readonly Saying[] = [...sayings, ...shared];
  return (status, body) => {
    const texts = errorTexts(body);
    const saying = all.find((one) => says(one, texts));
    const plain = ofStatus(status ?? statusIn(texts), saying, texts, dialect);
    return { ...plain, waitMs: waitIn(texts), ...texts.words };
  };
}

type Plain = Pick<Fault, 'whose' | 'kind'>;

function ofStatus(
  status: number | null,
  saying: Saying | undefined,
  texts: ErrorTexts,
  { notFound, missing }: Omit<Dialect, 'sayings'>,
): Plain {
  const kind = saying?.kind;
  if (status === null) return saying ? own(saying) : silent(texts);
  if (status >= 500 || providerStatuses.has(status)) {
    return saying ? own(saying) : { whose: 'provider', kind: status === 529 ? 'overload' : 'server' };
  }
  if (status === 403 && missing && texts.messages.some((text) => missing.test(text))) {
    return { whose: 'client', kind: 'invalid_request' };
  }
  if (status === 401 || status === 402 || status === 403) {
    const said = saying?.whose === 'operator' ? kind : undefined;
    return { whose: 'operator', kind: said ?? (status === 402 ? 'quota' : 'credential') };
  }
  if (status === 429) return saying ? own(saying) : { whose: 'provider', kind: 'rate_limit' };
  if (saying) return own(saying);
  if (status === 410) return { whose: 'operator', kind: 'model_gone' };
  if (status === 404) return ofNotFound(texts, notFound);
  if (status < 400) return { whose: 'client', kind: 'unknown' };
  return { whose: 'client', kind: isTooLong(texts) ? 'context_length' : 'invalid_request' };
}

/** A 404 that no saying explains: of the model, of an address of the operator's, or of a thing of the client's. */
function ofNotFound({ codes, messages, param }: ErrorTexts, notFound: RegExp | undefined): Plain {
  const client: Plain = { whose: 'client', kind: 'invalid_request' };
  if (param !== null && param !== 'model') return client;
  if ([...messages, ...codes.map((code) => code.replaceAll('_', ' '))].some((text) => things.test(text))) {
    return client;
  }
  const named = param === 'model' || messages.some((text) => /\b(model|deployment)\b/.test(text));
  const family = notFound !== undefined && codes.some((code) => notFound.test(code));
  if (named || family) return { whose: 'operator', kind: 'model_gone' };
  return messages.every((text) => bareNotFound.test(text)) ? { whose: 'operator', kind: 'unknown' } : client;
}

/** An error inside a 200 that says nothing which is known. */
function silent(texts: ErrorTexts): Plain {
  return isTooLong(texts)
    ? { whose: 'client', kind: 'context_length' }
    : { whose: 'provider', kind: 'unknown' };
}

function own({ whose, kind }: Saying): Plain {
  return { whose, kind };
}

function says({ code, message }: Saying, { codes, messages }: ErrorTexts): boolean {
  return codes.some((text) => code?.test(text)) || messages.some((text) => message?.test(text));
}

/** The status that an error inside a 200 gives as its code, or that its code means. */
function statusIn({ codes }: ErrorTexts): number | null {
  const given = codes.find((code) => /^[45]\d\d$/.test(code));
  if (given !== undefined) return Number(given);
  return impliedStatus.find(([name]) => codes.some((code) => name.test(code)))?.[1] ?? null;
}

function isTooLong({ codes, messages }: ErrorTexts): boolean {
  return codes.includes('context_length_exceeded') || messages.some((text) => tooLong.test(text));
}
