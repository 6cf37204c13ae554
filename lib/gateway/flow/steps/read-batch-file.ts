import { createHash } from 'node:crypto';
import { atLine, type BatchLine, readLine } from '#lib/core/batches/line';
import { isBlank, LongLine, linesOf } from '#lib/core/batches/lines';
import { isRefusal, type Refusal, Refused, refusal } from '#lib/core/errors';
import type { Keeper } from '#lib/core/facts/credential';
import type { Resource, ResourceReference } from '#lib/core/facts/resource';
import { isBatchFile, uploadedFile } from '#lib/core/families/chat/files';
import { applyEdits } from '#lib/core/families/edits';
import { type Ask, type BatchWeight, budgetToInject } from '#lib/core/families/family';
import type { Scan, Upload } from '#lib/core/families/scan';
import { checkBudget, checkModel } from '#lib/gateway/admission/pure/decide';
import { addLine } from '#lib/gateway/admission/pure/estimate';
import { type AskedCall, extendCall, type PlannedCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { findOwned, unknown } from '#lib/gateway/flow/steps/own-resource';
import { planPlacedCall } from '#lib/gateway/flow/steps/plan-call';
import { onDisk } from '#lib/gateway/flow/upload/read-upload';
import type { Spool } from '#lib/gateway/flow/upload/spool';
import { resolveNames } from '#lib/gateway/routing/names/resolve';
import type { Target } from '#lib/gateway/routing/pure/target';

/** Lines of one file; a provider takes so many in one batch. */
const MOST_LINES = 50_000;
const MOST_LINE_BYTES = 8 * 1024 * 1024;
/** Rewritten bytes that are collected before they are written to the disk. */
const WRITE_BYTES = 64 * 1024;
/** A model's name may be longer at the provider, and a budget may be added, in each line. */
const MOST_GROWTH_BYTES = 400;
/** Stored things that lines may refer to; each is looked up once. */
const MOST_REFERENCES = 1_000;

/**
 * Plans an upload, and reads a file of requests first: each line is checked as a call would be, and written again with
 * the provider's name of the model (contract: batches/read, batches/bad-line). Memory: a line and the print of each
 * `custom_id`.
 * @throws Refused that names the line.
 */
export async function planUpload(runtime: Runtime, call: AskedCall): Promise<PlannedCall> {
  if (!isBatchFile(call.ask)) return planPlacedCall(runtime, call);
  const reader = new BatchFileReader(runtime, call);
  return reader.read();
}

class BatchFileReader {
  readonly #runtime: Runtime;
  readonly #call: AskedCall;
  readonly #upload: Upload;
  readonly #ids = new Set<string>();
  readonly #kept = new Map<string, Resource>();
  #keeper: Keeper | null;
  #planned: PlannedCall | null = null;
  #model = '';
  #weight: BatchWeight = nothing;

  constructor(runtime: Runtime, call: AskedCall) {
    const { upload } = call.ask.scan;
    if (!upload || !runtime.uploads) throw new Error('a file of requests is an upload');
    this.#runtime = runtime;
    this.#call = call;
    this.#upload = upload;
    this.#keeper = call.pinned;
  }

  async read(): Promise<PlannedCall> {
    const { start, bytes } = uploadedFile(this.#call.ask);
    const { uploads } = this.#runtime;
    if (!uploads) throw new Error('a file of requests is an upload');
    const { arrival, snapshot } = this.#call;
    const most = bytes + Math.min(MOST_LINES, bytes) * MOST_GROWTH_BYTES;
    const spool = await onDisk(uploads.open(snapshot.key.id, most));
    arrival.body.onRelease(() => {
      spool.remove().catch((error: unknown) => this.#runtime.report(error, this.#call.id));
    });
    const written = await this.#rewrite(spool, start, start + bytes);
    spool.received();
    if (!this.#planned) throw new Refused(empty());
    const { ask } = this.#call;
    const upload = withFile(this.#upload, { start, end: start + bytes, written, spool });
    const scan: Scan = { ...ask.scan, upload };
    return extendCall(this.#planned, { ask: { ...this.#planned.ask, scan, batch: this.#weight } });
  }

  /** @returns bytes of the file as it is sent. */
  async #rewrite(spool: Spool, from: number, to: number): Promise<number> {
    const writer = new SpoolWriter(spool);
    let number = 0;
    try {
      for await (const line of linesOf(this.#upload.read(from, to), MOST_LINE_BYTES)) {
        number += 1;
        if (isBlank(line)) continue;
        await writer.write(await this.#take(number, line));
      }
    } catch (error) {
      if (!(error instanceof LongLine)) throw error;
      throw new Refused(atLine(number + 1, invalid('it is longer than 8 MiB; send a shorter request.')));
    }
    await writer.end();
    return writer.bytes;
  }

  /** Checks a line. @returns what is sent for it. */
  async #take(number: number, bytes: Uint8Array): Promise<Uint8Array> {
    const line = readLine(bytes);
    if (isRefusal(line)) throw new Refused(atLine(number, line));
    const checked = this.#check(number, line);
    if (isRefusal(checked)) throw new Refused(atLine(number, checked));
    if (checked.references) await this.#pin(number, checked.references);
    this.#planned ??= this.#plan(line);
    const target = this.#targetOf(checked, this.#planned);
    this.#weight = addLine(this.#weight, checked, target, this.#terms());
    const injected = checked.budget === null ? target.injectBudget : null;
    const edits = line.family.edits(checked, target.offer, injected);
    const body = applyEdits(checked.scan.body, edits);
    return Buffer.concat([bytes.subarray(0, line.start), body, bytes.subarray(line.end), lineEnd]);
  }

  #check(number: number, line: BatchLine): Ask | Refusal {
    const { snapshot } = this.#call;
    const print = createHash('sha256').update(line.customId).digest('base64').slice(0, 22);
    if (this.#ids.has(print)) return invalid('Another line has the same "custom_id"; give each its own.');
    if (number > MOST_LINES) return invalid(`A file may have ${MOST_LINES} lines; send more than one file.`);
    this.#ids.add(print);
    const catalogue = this.#runtime.catalogue();
    const named = resolveNames(line.ask, line.family.id, snapshot, catalogue);
    if (isRefusal(named)) return named;
    if (this.#weight.lines > 0) {
      if (named.model !== this.#model) {
        return invalid(`All lines of a file must name one model; the lines before name ${this.#model}.`);
      }
      if (line.endpoint !== this.#weight.endpoint) {
        return invalid(
          `All lines of a file must have one "url"; the lines before have ${this.#weight.endpoint}.`,
        );
      }
    }
    const refused = checkModel(named.model, snapshot, catalogue) ?? checkBudget(named, snapshot.key);
    if (refused) return refused;
    this.#model = named.model;
    this.#weight = { ...this.#weight, endpoint: line.endpoint };
    return named;
  }

  /** What lines refer to must be the workspace's own, and stored where the file goes (contract: jobs/pinning). */
  async #pin(number: number, references: readonly ResourceReference[]): Promise<void> {
    for (const { kind, id, required } of references) {
      const name = `${kind} ${id}`;
      if (this.#kept.has(name)) continue;
      if (this.#kept.size >= MOST_REFERENCES) {
        throw new Refused(
          atLine(number, invalid(`The lines refer to over ${MOST_REFERENCES} stored things.`)),
        );
      }
      const found = await findOwned(this.#runtime, this.#call, kind, id);
      if (found === null) {
        if (required) throw new Refused(atLine(number, unknown(kind)));
        continue;
      }
      this.#kept.set(name, found);
      this.#keeper ??= found;
      const { providerId, credential } = this.#keeper;
      const planned = this.#planned?.plan.targets[0];
      const there =
        providerId === found.providerId &&
        credential === found.credential &&
        (!planned || (planned.offer.provider.id === providerId && planned.credential.name === credential));
      if (!there) {
        throw new Refused(
          atLine(
            number,
            invalid(
              'It refers to something that another provider or account stores than the lines before; send these lines in a file of their own, with the first line referring to it.',
            ),
          ),
        );
      }
    }
  }

  #plan(line: BatchLine): PlannedCall {
    const call = extendCall(this.#call, { pinned: this.#keeper });
    return planPlacedCall(this.#runtime, call, { model: this.#model, family: line.family.id });
  }

  #targetOf(ask: Ask, { plan }: PlannedCall): Target {
    const [target] = plan.targets;
    if (!target) throw new Refused(plan.failure ?? empty());
    const { maxOutputTokens } = this.#call.snapshot.key;
    return { ...target, injectBudget: budgetToInject(ask, maxOutputTokens, target.model) };
  }

  #terms() {
    const { key, workspace } = this.#call.snapshot;
    return { keyMaximum: key.maxOutputTokens, strict: workspace.strict, previousTokens: 0 };
  }
}

const lineEnd = Buffer.from('\n');
const nothing: BatchWeight = {
  endpoint: '',
  lines: 0,
  textTokens: 0,
  imageTokens: 0,
  soundTokens: 0,
  outputTokens: 0,
  mostInput: 0,
  mostOutput: 0,
  choices: 1,
  serverTools: 0,
  caches: 0,
};

/** Writes small pieces to the disk together. */
class SpoolWriter {
  bytes = 0;
  readonly #spool: Spool;
  #pieces: Uint8Array[] = [];
  #waiting = 0;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece);
    this.#waiting += piece.length;
    this.bytes += piece.length;
    if (this.#waiting >= WRITE_BYTES) await this.end();
  }

  async end(): Promise<void> {
    if (this.#waiting === 0) return;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#waiting = 0;
    await onDisk(this.#spool.append(whole));
  }
}

/** The upload with another file in the place [start, end). */
function withFile(
  upload: Upload,
  { start, end, written, spool }: { start: number; end: number; written: number; spool: Spool },
): Upload {
  const after = start + written;
  return {
    ...upload,
    bytes: upload.bytes - (end - start) + written,
    read: async function* (from, to) {
      if (from < start) yield* upload.read(from, Math.min(to, start));
      if (to > start && from < after)
        yield* spool.read(Math.max(from, start) - start, Math.min(to, after) - start);
      if (to > after) yield* upload.read(Math.max(from, after) - after + end, to - after + end);
    },
  };
}

function invalid(message: string): Refusal {
  return refusal('invalid_body', message);
}

function empty(): Refusal {
  return invalid('The file has no lines; send one request a line, as JSON.');
}
