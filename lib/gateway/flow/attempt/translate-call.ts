import { isRefusal } from '#lib/core/errors';
import type { Ask, Operation } from '#lib/core/families/family';
import { familyOf } from '#lib/core/families/index';
import { scan } from '#lib/core/families/scan';
import { writtenOperation } from '#lib/core/families/served';
import {
  type AnswerFacts,
  isTextProtocol,
  type TextProtocol,
  type Unreadable,
} from '#lib/core/translation/conversation';
import type { PlannedCall } from '#lib/gateway/flow/call/call';
import type { Arrival } from '#lib/gateway/flow/lane';
import type { Target } from '#lib/gateway/routing/pure/target';
import { makerOf } from '#lib/gateway/routing/pure/translate';
import { type AnswerTranslation, translateStream, translateWhole } from '#lib/gateway/translation/answer';
import { PackageRun, Unwritable, type Written } from '#lib/gateway/translation/package-run';
import { settleWritten } from '#lib/gateway/translation/pure/settle-written';

/** A call as one target gets it: in its own protocol. */
export interface SentCall extends Pick<PlannedCall, 'ask' | 'family' | 'operation' | 'query' | 'snapshot'> {
  readonly arrival: Pick<Arrival, 'headers'>;
}

/** A call in the protocol of a target that does not speak the client's. */
export interface TranslatedCall {
  readonly sent: SentCall;
  /** The answer's way back. */
  readonly answer: AnswerTranslation;
  readonly from: TextProtocol;
  readonly to: TextProtocol;
  /** Fields of the request that are left out (contract: translation/losses). */
  readonly lost: readonly string[];
  /** Of the translated answer. */
  readonly contentType: string;
  /** The attempt gave no answer that is translated. */
  abandon(): void;
}

/** Headers of the client that mean the same to every protocol. */
const common = ['user-agent', 'traceparent', 'idempotency-key'];

/**
 * Writes a call in the protocol of its target (contract: translation/when).
 * @returns why it cannot be: the target is left out of the plan then.
 */
export async function translateCall(call: PlannedCall, target: Target): Promise<TranslatedCall | Unreadable> {
  const { ask, family, clientRequest } = call;
  const from = family.id;
  const to = target.family;
  if (!clientRequest || !isTextProtocol(from) || !isTextProtocol(to)) return untranslatable;
  const written = clientRequest.writeFor(target);
  if ('message' in written) return written;
  const { stream } = ask;
  const { conversation } = written;
  let run: PackageRun;
  try {
    run = await PackageRun.begin(to, target.offer.upstreamModel, { conversation, stream });
  } catch (error) {
    if (error instanceof Unwritable)
      return { field: '', message: `This model cannot take the request: ${error.message}` };
    throw error;
  }
  const budget = target.injectBudget ?? 0;
  const { body, dropped } = settleWritten(run.written.body, { from, to, conversation, budget });
  const sent = sentCall(call, to, { ...run.written, body });
  if ('message' in sent) {
    run.abandon();
    return sent;
  }
  const facts: AnswerFacts = {
    id: call.id,
    model: ask.requestedModel ?? ask.model,
    createdSeconds: Math.floor(call.startMs / 1000),
    inputTokens: null,
    maker: makerOf(target.model.id),
    echo: clientRequest.echo,
  };
  const elements = from === 'generate-content' && !/(^|&)(\$|%24)?alt=sse(&|;|$)/i.test(call.query);
  const answer = stream ? translateStream(from, run, facts, elements) : translateWhole(from, run, facts);
  const json = elements || !stream;
  return {
    sent,
    answer,
    from,
    to,
    lost: [...new Set([...written.lost, ...dropped])],
    contentType: json ? 'application/json; charset=utf-8' : 'text/event-stream; charset=utf-8',
    abandon: () => run.abandon(),
  };
}

const untranslatable: Unreadable = { field: '', message: 'Requests of this kind are not translated.' };

/** The written request as a client of that protocol would have sent it, so that it is read, sent and metered as one. */
function sentCall(call: PlannedCall, to: TextProtocol, written: Written): SentCall | Unreadable {
  const { ask, snapshot, arrival } = call;
  const family = familyOf(to);
  const name = writtenOperation(to, ask.stream);
  const operation = family?.operations.find((one) => one.name === name);
  if (!family || !operation) throw new Error(`${to} has no operation ${name}`);
  const read = readWritten(written.body, operation, { model: ask.model }, family.readAsk);
  if ('message' in read) return read;
  const headers: Record<string, string> = { ...written.headers };
  for (const one of common) {
    const value = arrival.headers[one];
    if (value !== undefined) headers[one] = value;
  }
  return {
    ask: { ...read, ...family.remembered?.(read) },
    family,
    operation,
    query: written.query,
    snapshot,
    arrival: { headers },
  };
}

function readWritten(
  body: Uint8Array,
  operation: Operation,
  params: Ask['params'],
  readAsk: (
    raw: Pick<Ask, 'operation' | 'params' | 'scan'>,
  ) => ReturnType<NonNullable<PlannedCall['family']>['readAsk']>,
): Ask | Unreadable {
  const scanned = scan(body, operation.fields ?? {});
  if ('fault' in scanned) return { field: '', message: `The request could not be written: ${scanned.fault}` };
  const ask = readAsk({ operation, params, scan: scanned });
  return isRefusal(ask) ? { field: '', message: ask.message } : ask;
}
