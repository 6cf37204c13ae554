import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '#lib/core/errors';
import { type Batch, Batches } from '#lib/programs/telemetry/batches';
import { type ExportFile, ExportFiles } from '#lib/programs/telemetry/export-files';
import type { ExportCounts, ExportTask, FromExporter, ToExporter } from '#lib/programs/telemetry/messages';
import { readEnds } from '#lib/programs/telemetry/read-calls';
import { encodeTraces } from '#lib/programs/telemetry/send/encode';
import { delayOf } from '#lib/programs/telemetry/send/pace';
import { type Outcome, openSender } from '#lib/programs/telemetry/send/send';

/** Calls in one request: some megabytes before compression. */
const mostCalls = 1_000;
/** What is given up at once where the journal has no room on the disk. */
const roomBytes = 64 * 1024 * 1024;
/** How often an outage that lasts is told of again. */
const repeatMs = 300_000;

/**
 * Sends to the collector what the files hold until it is told to stop: one request at a time, the same one again
 * until it is taken or refused for good. What it reads stays in the folder until then, so that a kill at any moment
 * repeats calls and loses none.
 */
export class ExportLoop {
  readonly #task: ExportTask;
  readonly #say: (message: FromExporter) => void;
  readonly #files: ExportFiles;
  readonly #batches: Batches;
  readonly #stopping = new AbortController();
  #counts: ExportCounts = { sent: 0, dropped: 0, skipped: 0, rejectedSpans: 0, failures: 0 };
  #mostCalls = mostCalls;
  #chargesTo: string | null = null;
  #wake = new AbortController();
  #failures = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #stopAtMs = Number.POSITIVE_INFINITY;
  #ownNames = new Set<string>();
  /** Whether it has heard of the journal. */
  #begun = false;
  /** The file whose calls the collector may be taking at this moment. */
  #offered: string | null = null;

  /** @throws Error of the file system. */
  constructor(task: ExportTask, say: (message: FromExporter) => void) {
    this.#task = task;
    this.#say = say;
    this.#files = new ExportFiles(task.dir, task.ownerId);
    this.#batches = new Batches(this.#files, task.ownerId);
  }

  hear(message: ToExporter): void {
    switch (message.kind) {
      case 'files':
        this.#begun = true;
        this.#files.note(message.own);
        this.#ownNames = new Set(message.own.map(({ name }) => name));
        this.#trim();
        return;
      case 'addresses':
        this.#batches.addresses = new Map(message.addresses);
        return;
      case 'remembered':
        if (!this.#batches.remember(message.call)) this.#counts.skipped++;
        return;
      case 'charges':
        this.#batches.putCharges(message.charges, message.to);
        this.#chargesTo = null;
        return;
      case 'room':
        this.#giveUp(roomBytes, 'the disk is full');
        return;
      case 'stop':
        this.#stopAtMs = performance.now() + message.withinMs;
        this.#wake.abort();
        // A collector that is away is not waited for.
        if (this.#failures > 0) this.#stopping.abort();
        else setTimeout(() => this.#stopping.abort(), message.withinMs).unref();
    }
  }

  async run(): Promise<void> {
    const sender = openSender(this.#task.settings);
    while (!this.#stopping.signal.aborted) {
      const more = this.#begun && (await this.#round(sender.send));
      this.#tell();
      if (more) continue;
      // On the way out one look for what is there is enough.
      if (this.#stopAtMs !== Number.POSITIVE_INFINITY) break;
      await this.#rest(this.#task.everyMs);
    }
    await sender.close();
    this.#tell();
    this.#say({ kind: 'stopped' });
  }

  /** @returns whether more waits already. */
  async #round(
    send: (body: Uint8Array<ArrayBuffer>, stop: AbortSignal) => Promise<Outcome>,
  ): Promise<boolean> {
    try {
      const batch = this.#batches.next(this.#mostCalls);
      if (!batch) return false;
      if (batch.count > 0 && !(await this.#deliver(batch, send))) return true;
      this.#counts.skipped += batch.unreadable;
      batch.done();
      this.#noteCharges(batch);
      return true;
    } catch (error) {
      this.#logFault(error);
      return false;
    }
  }

  /** @returns false when it is not done with: it is read again. */
  async #deliver(
    batch: Batch,
    send: (body: Uint8Array<ArrayBuffer>, stop: AbortSignal) => Promise<Outcome>,
  ): Promise<boolean> {
    const body = encodeTraces(this.#originOf(batch.ownerId), batch.spans);
    for (;;) {
      this.#offered = batch.file?.name ?? null;
      const outcome = await send(body, this.#stopping.signal);
      this.#offered = null;
      if (outcome.kind === 'accepted') return this.#accepted(batch, outcome);
      if (outcome.kind === 'refused') return this.#refused(batch, outcome);
      if (this.#stopping.signal.aborted) return false;
      this.#counts.failures++;
      this.#failures++;
      this.#lament(outcome.message);
      this.#tell();
      const delayMs = delayOf(this.#failures, outcome.askedMs, Math.random());
      if (performance.now() + delayMs > this.#stopAtMs) this.#stopping.abort();
      await this.#restThrough(delayMs);
      if (this.#stopping.signal.aborted) return false;
      if (batch.file && !this.#isShelved(batch.file)) return false;
    }
  }

  #accepted(batch: Batch, { rejected, message }: Extract<Outcome, { kind: 'accepted' }>): boolean {
    if (this.#failures > 0) this.#log('info', 'telemetry: the collector takes calls again');
    this.#failures = 0;
    this.#toldAtMs = Number.NEGATIVE_INFINITY;
    this.#mostCalls = Math.min(mostCalls, this.#mostCalls * 2);
    this.#counts.sent += batch.count;
    this.#counts.rejectedSpans += rejected;
    if (rejected > 0) {
      this.#log(
        'warn',
        `telemetry: the collector rejected ${rejected} of ${batch.spans.length} spans: ${message}`,
      );
    } else if (message !== '') this.#log('info', `telemetry: the collector says: ${message}`);
    return true;
  }

  #refused(batch: Batch, { tooLarge, message }: Extract<Outcome, { kind: 'refused' }>): boolean {
    this.#failures = 0;
    if (tooLarge && batch.count > 1 && batch.file !== null) {
      this.#mostCalls = Math.max(1, Math.floor(batch.count / 2));
      return false;
    }
    this.#counts.dropped += batch.count;
    this.#log(
      'error',
      `telemetry: the collector refused ${batch.count} calls, which are dropped: ${message}`,
    );
    return true;
  }

  /** The oldest files go until what waits is within its limit; the file that is being written always stays. */
  #trim(): void {
    const excess = this.#waitingBytes() - this.#task.settings.backlogBytes;
    if (excess > 0) this.#giveUp(excess, 'TELEMETRY_BACKLOG_BYTES is reached');
  }

  #giveUp(bytes: number, why: string): void {
    try {
      this.#skipOldest(bytes, why);
    } catch (error) {
      this.#logFault(error);
    }
  }

  #skipOldest(bytes: number, why: string): void {
    let [left, calls] = [bytes, 0];
    for (const file of this.#files.list()) {
      const { size, current } = this.#files.extent(file);
      if (left <= 0 || current) break;
      if (file.name === this.#offered) continue;
      for (const { call, unreadable } of readEnds(file.path, this.#files.position(file), size))
        if (call !== null || unreadable) calls++;
      this.#files.remove(file);
      left -= size;
    }
    if (calls === 0) return;
    this.#counts.skipped += calls;
    this.#log('error', `telemetry: ${why}: the oldest ${calls} calls are skipped`);
  }

  #waitingBytes(): number {
    return this.#files.list().reduce((sum, file) => sum + this.#files.extent(file).size, 0);
  }

  #isShelved(file: ExportFile): boolean {
    return this.#files.list().some(({ name }) => name === file.name);
  }

  #noteCharges({ file }: Batch): void {
    if (file === null) this.#chargesTo = this.#files.chargesTo;
  }

  #originOf(ownerId: string): Parameters<typeof encodeTraces>[0] {
    const { settings, version } = this.#task;
    const own = new Map<string, string>([
      ['service.version', version],
      ['service.instance.id', ownerId],
    ]);
    return {
      resource: [...new Map([...own, ...settings.resource])],
      scope: { name: 'model-gateway', version },
    };
  }

  #lament(why: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#toldAtMs < repeatMs) return;
    this.#toldAtMs = nowMs;
    this.#log('warn', `telemetry: the collector takes no calls, which are kept and sent again: ${why}`);
  }

  #logFault(error: unknown): void {
    this.#log('error', `telemetry cannot be read: ${messageOf(error)}`);
  }

  #log(level: 'warn' | 'error' | 'info', message: string): void {
    this.#say({ kind: 'log', level, message });
  }

  #tell(): void {
    const shelved = new Set(this.#files.list().map(({ name }) => name));
    const done = [...this.#ownNames].filter((name) => !shelved.has(name));
    const counts = { ...this.#counts };
    const backlogBytes = this.#files
      .list()
      .reduce((sum, file) => sum + this.#files.extent(file).size - this.#files.position(file), 0);
    this.#say({ kind: 'state', counts, backlogBytes, done, chargesTo: this.#chargesTo });
  }

  /** Until a stop is asked for, or the time is over. */
  async #rest(ms: number): Promise<void> {
    this.#wake = new AbortController();
    if (this.#stopAtMs === Number.POSITIVE_INFINITY) await this.#restUntil(ms, this.#wake.signal);
  }

  /** Although a stop is asked for. */
  async #restThrough(ms: number): Promise<void> {
    await this.#restUntil(ms, this.#stopping.signal);
  }

  async #restUntil(ms: number, signal: AbortSignal): Promise<void> {
    await pause(ms, undefined, { signal }).catch(() => undefined);
  }
}
