import { type Draft, given, type Json, questionOf } from '#lib/console/playground/draft';

type Body = { readonly [name: string]: Json };

/** The voice if none is set: every model of OpenAI has it. */
const USUAL_VOICE = 'alloy';

/** As WAVE, which every browser plays. */
export function speechBody(draft: Draft): Body {
  const voice = draft.settings.voice.trim() || USUAL_VOICE;
  return { model: draft.model, input: questionOf(draft).text, voice, response_format: 'wav' };
}

/** The text, if there is any, tells the model names and words of the recording. */
export function transcriptionBody(draft: Draft): Body {
  return given({ model: draft.model, prompt: questionOf(draft).text || undefined });
}

/** Each line is a text. */
export function embeddingsBody(draft: Draft): Body {
  return { model: draft.model, input: linesOf(draft) };
}

/** The first line is the query, the others are documents. */
export function rerankBody(draft: Draft): Body {
  const [query = '', ...documents] = linesOf(draft);
  return { model: draft.model, query, documents };
}

export function moderationsBody(draft: Draft): Body {
  return { model: draft.model, input: questionOf(draft).text };
}

function linesOf(draft: Draft): string[] {
  return questionOf(draft)
    .text.split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
