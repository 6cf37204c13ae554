import type { Ask, StreamReader } from '#lib/core/families/family';
import { imageBytes, PARTIAL_BYTES } from '#lib/core/families/images/output';
import { svgUsage, tokensOf, unitsOf } from '#lib/core/families/images/usage';
import { createFigures, type Figures } from '#lib/core/families/reading/figures';
import { objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { addUsage, type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

/** Reads a stream of images: each `completed` event is one image and carries what that one used. */
export function imagesStreamReader(ask: Ask): StreamReader {
  return new ImagesStream(ask);
}

class ImagesStream implements StreamReader {
  readonly #ask: Ask;
  readonly #figures: Figures = createFigures();
  readonly #usage: Usage = usageOf({});
  readonly #nested: { readonly upstreamModel: string; readonly usage: Usage }[] = [];
  #units: readonly string[] = [];
  #serviceTier: string | null = null;
  #report: UsageReport | null = null;
  #outputBytes = 0;
  #said = 0;
  #done = false;
  #failed = false;
  #error: unknown;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  event(name: string | null, data: string): void {
    if (data.trim() === '[DONE]') {
      this.#done = true;
      return;
    }
    if (name === 'error') this.#failed = true;
    const body = objectIn(parseJson(data));
    if (body === null) return;
    const type = textIn(body.type) ?? name ?? '';
    if (type === 'error' || (body.error ?? null) !== null) {
      this.#failed = true;
      this.#error = body.error ?? body;
    }
    if (type.endsWith('.partial_image')) {
      this.#outputBytes += PARTIAL_BYTES;
      this.#said += 1;
    }
    if (!type.endsWith('.completed')) return;
    this.#said += 1;
    addUsage(this.#usage, { ...tokensOf(body, this.#figures), images: 1 });
    this.#outputBytes += imageBytes(body, this.#ask);
    const svg = svgUsage(body, this.#figures);
    if (svg) this.#nested.push(svg);
    this.#units = unitsOf(this.#ask, body);
    this.#serviceTier = textIn(body.service_tier) ?? this.#serviceTier;
    this.#report = null;
  }

  report(): UsageReport | null {
    if (this.#usage.images === 0) return null;
    this.#report ??= {
      usage: { ...this.#usage },
      serviceTier: this.#serviceTier,
      nested: [...this.#nested],
      units: this.#units,
      ...this.#figures.marks(),
    };
    return this.#report;
  }

  outputBytes(): number {
    return this.#outputBytes;
  }

  /** Every image that was asked for has come; this family needs no `[DONE]`. */
  finished(): boolean {
    return this.#done || this.#usage.images >= this.#ask.choices;
  }

  ended(): boolean {
    return this.#done || this.#usage.images > 0;
  }

  said(): number {
    return this.#said;
  }

  gaveReason(): boolean {
    return false;
  }

  failed(): boolean {
    return this.#failed;
  }

  error(): unknown {
    return this.#error;
  }
}
