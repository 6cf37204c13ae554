import { batchOperation, isCustomId } from '#lib/core/batches/line';
import type { Ask, Operation } from '#lib/core/families/family';
import { familyOf } from '#lib/core/families/index';
import { type JsonObject, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { noScan } from '#lib/core/families/scan';
import { meteredUsage, type UsageBounds } from '#lib/core/metering/anomaly';
import type { CostLine } from '#lib/core/metering/cost-line';
import type { Price } from '#lib/core/metering/price-list';
import { priceReport, together } from '#lib/core/metering/price-report';
import { batchTier } from '#lib/core/metering/service-tier';
import { noUsage, type Usage } from '#lib/core/metering/usage';

/** What one line of a batch came to. */
export interface LineEnd {
  readonly customId: string;
  /** HTTP status of its answer; null: it was not answered. */
  readonly status: number | null;
  /** The provider's word for why it has no answer; null: it has one, or the provider gives none. */
  readonly errorCode: string | null;
  /** Nano-dollars. */
  readonly costNano: bigint;
  readonly usage: Usage;
  readonly lines: readonly CostLine[];
  readonly flags: readonly string[];
}

/** What the charge of a line depends on. */
export interface LineTerms {
  readonly endpoint: string;
  /** At which the batch was admitted; null: that version is gone. */
  readonly price: Price | null;
  readonly model: UsageBounds;
  readonly choices: number;
  readonly serverTools: boolean;
  /** What one line of the batch held on average, nano-dollars: the charge of one that reports nothing. */
  readonly heldNano: bigint;
}

/**
 * Reads a line of results (contract: batches/charge): an answer with status 2xx is charged by its usage at the price of
 * batches; anything else is free. Pure.
 * @returns null: it is not the result of a line.
 */
export function readResult(text: string, terms: LineTerms): LineEnd | null {
  const line = objectIn(parseJson(text));
  const customId = textIn(line?.custom_id);
  if (line === null || customId === null || !isCustomId(customId)) return null;
  const told = objectIn(line.result);
  const { status, answer, code } = told === null ? toldByStatus(line) : toldByType(told);
  if (answer === undefined) {
    const errorCode = code !== null && isCustomId(code) ? code : null;
    return { customId, status, errorCode, costNano: 0n, usage: noUsage, lines: [], flags: [] };
  }
  return { customId, status, errorCode: null, ...charge(answer, terms) };
}

/** How a line went. */
interface Told {
  readonly status: number | null;
  /** undefined: it was not answered. */
  readonly answer: unknown;
  /** Why not. */
  readonly code: string | null;
}

/** As files of results have it: `response` with a status, or `error`. */
function toldByStatus(line: JsonObject): Told {
  const response = objectIn(line.response);
  const told = Number(response?.status_code);
  const status = Number.isInteger(told) && told >= 100 && told <= 999 ? told : null;
  const failed = (line.error ?? null) !== null || status === null || status < 200 || status >= 300;
  if (!failed) return { status, answer: response?.body ?? null, code: null };
  const error = objectIn(line.error) ?? objectIn(objectIn(response?.body)?.error);
  return { status, answer: undefined, code: textIn(error?.code) ?? textIn(error?.type) };
}

/** As results of batches of messages have it: `result` with a type, which says whether there is a message. */
function toldByType(result: JsonObject): Told {
  const type = textIn(result.type);
  if (type === 'succeeded') return { status: 200, answer: result.message ?? null, code: null };
  const error = objectIn(result.error);
  return { status: null, answer: undefined, code: textIn((objectIn(error?.error) ?? error)?.type) ?? type };
}

function charge(answer: unknown, terms: LineTerms): Pick<LineEnd, 'costNano' | 'usage' | 'lines' | 'flags'> {
  const { endpoint, price, model, choices, serverTools, heldNano } = terms;
  const operation = batchOperation(endpoint);
  const family = operation && familyOf(operation.family);
  const report = operation && family ? family.readUsage(askOf(operation, choices), answer) : null;
  const held = { costNano: heldNano, usage: noUsage, lines: [] };
  if (!report || report.unread) return { ...held, flags: together(report?.flags ?? [], ['job_unreported']) };
  if (!price) return { ...held, flags: ['job_unpriced'] };
  const priced = priceReport(
    // Whatever tier the answer names, a line of a batch is one.
    { ...report, serviceTier: batchTier },
    {
      model,
      price,
      named: () => [],
      choices,
      serverTools,
      serviceTier: batchTier,
      strict: false,
      holdNano: 0n,
    },
  );
  const { costNano, lines, flags, usage } = priced;
  return { costNano, lines, flags, usage: meteredUsage({ usage, lines, flags }) };
}

/** As far as readers of usage look at it. */
function askOf(operation: Operation, choices: number): Ask {
  return {
    operation,
    params: {},
    model: '',
    stream: false,
    budget: null,
    choices,
    serviceTier: null,
    weight: { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 },
    scan: noScan,
  };
}
