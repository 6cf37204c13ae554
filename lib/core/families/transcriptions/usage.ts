import type { Ask } from '#lib/core/families/family';
import { Figures } from '#lib/core/families/reading/figures';
import { objectIn, textIn } from '#lib/core/families/reading/json';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';

/**
 * Usage of a transcript, whole or at the end of its stream (contract: money/audio-charge): tokens, or the seconds that
 * were heard; without either, the length that the answer or the file has. null: nothing is known.
 */
export function readTranscriptionUsage(ask: Pick<Ask, 'audio'>, answer: unknown): UsageReport | null {
  const body = objectIn(answer);
  if (body === null) return null;
  const usage = objectIn(body.usage);
  const figures = new Figures();
  const heardMs = msOf(usage?.seconds, figures) ?? msOf(body.duration, figures) ?? ask.audio?.fileMs ?? null;
  if (
    usage !== null &&
    textIn(usage.type) !== 'duration' &&
    (usage.input_tokens ?? usage.output_tokens ?? null) !== null
  ) {
    const details = objectIn(usage.input_token_details ?? usage.input_tokens_details) ?? {};
    const input = figures.read(usage.input_tokens, 'input');
    const audioInput = Math.min(figures.read(details.audio_tokens), input);
    const output = figures.read(usage.output_tokens, 'output');
    return reportOf({ input, audioInput, output, audioMs: heardMs ?? 0 }, figures);
  }
  if (heardMs === null) return null;
  const told = (usage?.seconds ?? body.duration ?? null) !== null;
  if (!told) figures.flag('usage_counted');
  return reportOf({ audioMs: heardMs }, figures);
}

/** Of plain text, or of a stream that has not told what it used: only the length of the file is known. */
export function countedUsage({ audio }: Pick<Ask, 'audio'>): UsageReport | null {
  const fileMs = audio?.fileMs ?? null;
  if (fileMs === null) return null;
  const figures = new Figures();
  figures.flag('usage_counted');
  return reportOf({ audioMs: fileMs }, figures);
}

function reportOf(used: Parameters<typeof usageOf>[0], figures: Figures): UsageReport {
  return { usage: usageOf(used), serviceTier: null, nested: [], ...figures.marks() };
}

/** Seconds, perhaps in a string, as whole milliseconds; null: absent, or no length. */
function msOf(value: unknown, figures: Figures): number | null {
  if (value === undefined || value === null) return null;
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds * 1000 <= Number.MAX_SAFE_INTEGER)) {
    figures.flag(typeof seconds === 'number' && seconds < 0 ? 'usage_negative' : 'usage_unreadable');
    return null;
  }
  // Of 8.47 s, floats make 8470.000000000001 ms.
  return Math.round(seconds * 1000);
}
