import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';

/**
 * The web searches that the provider ran for an answer, by candidate and query: chunks of a stream may
 * repeat them, and empty ones stand for none.
 */
export function searchesIn(chunk: JsonObject): readonly string[] {
  return listIn(chunk.candidates).flatMap((value) => {
    const candidate = objectIn(value);
    const queries = listIn(objectIn(candidate?.groundingMetadata)?.webSearchQueries);
    const index = typeof candidate?.index === 'number' ? candidate.index : 0;
    return queries.flatMap((query) => (textIn(query) === null ? [] : [`${index} ${query}`]));
  });
}
