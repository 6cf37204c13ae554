import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '#lib/core/errors';
import { type Batch, Batches } from '#lib/programs/telemetry/batches';
import { ExportFiles } from '#lib/programs/telemetry/export-files';
import type { ExportCounts, ExportTask, FromExporter, ToExporter } from '#lib/programs/telemetry/messages';
import { readEnds } from '#lib/programs/telemetry/read-calls';
import { encodeTraces } from '#lib/programs/telemetry/send/encode';
import { delayOf } from '#lib/programs/telemetry/send/pace';
import { type Outcome, openSender, type Sender } from '#lib/programs/telemetry/send/send';

/** Calls in one request: some megabytes before compression. */
const mostCalls = 1_000;
/** How much is given up at once if the journal has no room on the disk. */
const roomBytes = 64 * 1024 * 1024;
/** How often a continuing outage is logged again, ms. */
const repeatMs = 300_000;

/**
 * Sends the calls in the files to the collector until it is told to stop: one request at a time, repeated until it is
 * accepted or rejected permanently. The calls stay in the folder until then, so that a kill at any moment repeats calls
 * and loses none.
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
  /** Whether it has been told about the journal. */
  #begun = false;
  /** The file whose calls the collector may be taking at this moment. */
  #offered: string | null = null;
  readonly #sender: Sender;

  /** @throws Error of the file system. */
  constructor(task: ExportTask, say: (message: FromExporter) => void) {
    this.#task = task;
    this.#say = say;
    this.#files = new ExportFiles(task.dir, task.ownerId);
    this.#batches = new Batches(this.#files, task.ownerId);
    this.#sender = openSender(task.settings);
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
        // Does not wait for an unavailable collector.
        if (this.#failures > 0) this.#stopping.abort();
        else setTimeout(() => this.#stopping.abort(), message.withinMs).unref();
    }
  }

  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const more = this.#begun && (await this.#round());
      this.#tell();
      if (more) continue;
      // A last check for waiting calls is enough when it stops.
      if (this.#stopAtMs !== Number.POSITIVE_INFINITY) break;
      this.#wake = new AbortController();
      await rest(this.#task.everyMs, this.#wake.signal);
    }
    await this.#sender.close();
    this.#tell();
    this.#say({ kind: 'stopped' });
  }

  /** @returns whether more is already waiting. */
  async #round(): Promise<boolean> {
    try {
      const batch = this.#batches.next(this.#mostCalls);
      if (!batch) return false;
      if (batch.count > 0 && !(await this.#deliver(batch))) return true;
      this.#counts.skipped += batch.unreadable;
      batch.done();
      if (batch.file === null) this.#chargesTo = this.#files.chargesTo;
      return true;
    } catch (error) {
      this.#logFault(error);
      return false;
    }
  }

  /** @returns false if it is not done: it is read again. */
  async #deliver(batch: Batch): Promise<boolean> {
    const body = encodeTraces(this.#originOf(batch.ownerId), batch.spans);
    for (;;) {
      this.#offered = batch.file?.name ?? null;
      const outcome = await this.#sender.send(body, this.#stopping.signal);
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
      await rest(delayMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return false;
      if (batch.file && !this.#files.list().some(({ name }) => name === batch.file?.name)) return false;
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

  /** Drops the oldest files until the backlog is within its limit; the file being written always stays. */
  #trim(): void {
    const waiting = this.#files.list().reduce((sum, file) => sum + this.#files.extent(file).size, 0);
    const excess = waiting - this.#task.settings.backlogBytes;
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
    const files = this.#files.list();
    const shelved = new Set(files.map(({ name }) => name));
    const done = [...this.#ownNames].filter((name) => !shelved.has(name));
    const backlogBytes = files.reduce(
      (sum, file) => sum + this.#files.extent(file).size - this.#files.position(file),
      0,
    );
    this.#say({ kind: 'state', counts: { ...this.#counts }, backlogBytes, done, chargesTo: this.#chargesTo });
  }
}

/** Waits until the time is over or the signal is aborted. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}
