import { isBlank, linesOf } from '#lib/core/batches/lines';
import { type LineEnd, readResult } from '#lib/core/batches/result';
import type { BatchResults, JobSight } from '#lib/core/facts/job';
import { familyOf } from '#lib/core/families/index';
import { askProvider, type ProviderParts } from '#lib/gateway/jobs/ask-provider';
import type { CollectTerms, LineStore } from '#lib/gateway/jobs/batches/line-store';
import type { StoredJob } from '#lib/gateway/jobs/job-store';

/**
 * Reads the results of a batch that has ended, and writes what each line came to. It may be killed at any moment and
 * run again: a line that is written stays as it is.
 * @returns false: not all of it could be read now.
 */
export type Collect = (job: StoredJob, view: JobSight['view'], signal: AbortSignal) => Promise<boolean>;

interface CollectParts extends ProviderParts {
  readonly lines: LineStore;
  /** The job stays this process's own for a while longer. */
  renew(callId: string): Promise<void>;
}

/** Lines that are written together. */
const MOST_AT_ONCE = 500;
/** A result may repeat what was asked, or have a long answer. */
const MOST_LINE_BYTES = 64 * 1024 * 1024;

export function createCollect(parts: CollectParts): Collect {
  return async (job, view, signal) => {
    const terms = await parts.lines.terms(job.callId);
    if (!terms) return true;
    const collected = new Collected(parts, job, terms);
    for (const results of familyOf(job.family)?.jobs?.results?.(job, view) ?? []) {
      if (!(await collected.read(results, signal))) return false;
    }
    return true;
  };
}

class Collected {
  readonly #parts: CollectParts;
  readonly #job: StoredJob;
  readonly #terms: CollectTerms;
  #lines = 0;
  #waiting: LineEnd[] = [];

  constructor(parts: CollectParts, job: StoredJob, terms: CollectTerms) {
    this.#parts = parts;
    this.#job = job;
    this.#terms = terms;
  }

  async read({ path, file }: BatchResults, signal: AbortSignal): Promise<boolean> {
    const answer = await askProvider(this.#parts, this.#job, { path, accept: '*/*', signal });
    if (!answer) return false;
    const { status, body } = answer;
    if (status < 200 || status >= 300) {
      body.on('error', () => {});
      body.destroy();
      return false;
    }
    const counted = counting(body);
    for await (const line of linesOf(counted.pieces, MOST_LINE_BYTES)) {
      if (isBlank(line)) continue;
      // More results than lines would be another batch's, or made up.
      if (this.#lines >= this.#terms.count) continue;
      const end = readResult(decoder.decode(line), this.#terms);
      if (!end) continue;
      this.#lines += 1;
      this.#waiting.push(end);
      if (this.#waiting.length >= MOST_AT_ONCE) await this.#write();
    }
    await this.#write();
    if (file) await this.#keep(file, counted.bytes());
    return true;
  }

  async #keep({ id, purpose }: NonNullable<BatchResults['file']>, bytes: number): Promise<void> {
    const { callId, id: batch, createdAtMs } = this.#job;
    await this.#parts.lines.keepFile(callId, id, {
      id,
      object: 'file',
      bytes,
      created_at: Math.floor(createdAtMs / 1000),
      filename: `${batch}_${purpose}.jsonl`,
      purpose: 'batch_output',
      status: 'processed',
    });
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const lines = this.#waiting;
    this.#waiting = [];
    await this.#parts.lines.add(this.#job.callId, lines);
    await this.#parts.renew(this.#job.callId);
  }
}

const decoder = new TextDecoder();

function counting(body: AsyncIterable<Uint8Array>) {
  let bytes = 0;
  async function* pieces() {
    for await (const piece of body) {
      bytes += piece.length;
      yield piece;
    }
  }
  return { pieces: pieces(), bytes: () => bytes };
}
