import type { LanguageModelV4Source, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { JsonObject } from '#lib/core/families/reading/json';
import type { AnswerPart } from '#lib/core/translation/conversation';
import { figuresOf, type TokenFigures } from '#lib/core/translation/usage-figures';

/** What both of OpenAI's writers need. */

type TextEnd = Extract<AnswerPart, { type: 'text-end' }>;
type Citation = NonNullable<TextEnd['citations']>[number];

/** Tokens of an answer; null: the provider has not said how many. */
export function tokensOf(usage: LanguageModelV4Usage): TokenFigures | null {
  const { inputTokens, outputTokens } = usage;
  return inputTokens.total === undefined && outputTokens.total === undefined ? null : figuresOf(usage);
}

export interface UrlCitation extends JsonObject {
  readonly url: string;
  readonly title: string;
  readonly start_index: number;
  readonly end_index: number;
}

/** The places that an answer cites; a source without a place in the text is told once, at its end. */
export class Citations {
  readonly #unplaced = new Map<string, UrlCitation>();
  readonly #told = new Set<string>();

  source(source: LanguageModelV4Source): void {
    const citation = urlCitation({ source });
    if (citation && !this.#told.has(citation.url)) this.#unplaced.set(citation.url, citation);
  }

  /** The citations of a text that has ended. */
  placed(citations: readonly Citation[] | undefined): readonly UrlCitation[] {
    const placed = (citations ?? []).map(urlCitation).filter((one) => one !== null);
    for (const { url } of placed) {
      this.#told.add(url);
      this.#unplaced.delete(url);
    }
    return placed;
  }

  takeUnplaced(): readonly UrlCitation[] {
    const rest = [...this.#unplaced.values()];
    for (const { url } of rest) this.#told.add(url);
    this.#unplaced.clear();
    return rest;
  }
}

function urlCitation({ source, startIndex, endIndex }: Citation): UrlCitation | null {
  if (source.sourceType !== 'url') return null;
  const { url, title } = source;
  return { url, title: title ?? url, start_index: startIndex ?? 0, end_index: endIndex ?? startIndex ?? 0 };
}

/** The part of a call's final arguments that was not streamed yet. */
export function restOf(input: string, streamed: string): string {
  return input.startsWith(streamed) ? input.slice(streamed.length) : '';
}
