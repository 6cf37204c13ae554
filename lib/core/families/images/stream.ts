import type { Ask } from '#lib/core/families/family';
import { imageBytes, PARTIAL_BYTES } from '#lib/core/families/images/output';
import { svgUsage, tokensOf, unitsOf } from '#lib/core/families/images/usage';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { Figures } from '#lib/core/families/reading/figures';
import { objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { addUsage, type NestedUsage, type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

/** Reads a stream of images: each `completed` event is one image and reports what that one used. */
export class ImagesStream extends EventReader {
  readonly #ask: Ask;
  readonly #figures = new Figures();
  readonly #usage: Usage = usageOf({});
  readonly #nested: NestedUsage[] = [];
  #units: readonly string[] = [];
  #serviceTier: string | null = null;
  #report: UsageReport | null = null;

  constructor(ask: Ask) {
    super();
    this.#ask = ask;
  }

  override event(name: string | null, data: string): void {
    if (data.trim() === '[DONE]') {
      this.end();
      return;
    }
    if (name === 'error') this.failed = true;
    const body = objectIn(parseJson(data));
    if (body === null) return;
    const type = textIn(body.type) ?? name ?? '';
    if (type === 'error' || (body.error ?? null) !== null) this.fail(body.error ?? body);
    if (type.endsWith('.partial_image')) {
      this.outputBytes += PARTIAL_BYTES;
      this.said += 1;
    }
    if (!type.endsWith('.completed')) return;
    this.said += 1;
    addUsage(this.#usage, { ...tokensOf(body, this.#figures), images: 1 });
    this.outputBytes += imageBytes(body, this.#ask);
    const svg = svgUsage(body, this.#figures);
    if (svg) this.#nested.push(svg);
    this.#units = unitsOf(this.#ask, body);
    this.#serviceTier = textIn(body.service_tier) ?? this.#serviceTier;
    this.#report = null;
    this.ended = true;
    // Every image that was asked for has come; this family needs no [DONE].
    this.finished ||= this.#usage.images >= this.#ask.choices;
  }

  override report(): UsageReport | null {
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
}
