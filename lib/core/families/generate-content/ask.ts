import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask, RawAsk } from '#lib/core/families/family';
import { readReferences } from '#lib/core/families/generate-content/references';
import { readObject, readText, readWhole, takeAll } from '#lib/core/families/reading/fields';
import { weigh } from '#lib/core/families/reading/weight';

/** Where a body of this family carries inline media (`inlineData.data`). */
export const contentMediaKeys: ReadonlySet<string> = new Set(['data']);

/** Tools that the provider runs without reading anything new from outside. */
const searchless = /\.(codeExecution|mcpServers)$/;

/**
 * What a call of this family asks for: the model by its path, the rest by its body. Of countTokens there
 * is nothing more to read than the model (contract: families/path-model).
 */
export function readContentAsk(raw: RawAsk): Ask | Refusal {
  const { operation, params, scan } = raw;
  const read = takeAll({
    // The path decides; a name in the body is replaced with it, so it only has to be one.
    named: readText(scan, 'model'),
    counted: readObject(scan, 'generateContentRequest'),
    nested: readText(scan, 'generateContentRequest.model'),
    config: readObject(scan, 'generationConfig'),
    budget: readWhole(scan, 'generationConfig.maxOutputTokens', 0),
    choices: readWhole(scan, 'generationConfig.candidateCount', 1),
    serviceTier: readText(scan, 'serviceTier'),
    references: readReferences(scan),
  });
  if (isRefusal(read)) return read;
  const { budget, choices, serviceTier, references } = read;
  const serverTools = scan.collected.map(({ path }) => path).filter((path) => path.startsWith('tools[]'));
  return {
    ...raw,
    model: params.model ?? '',
    stream: operation.name === 'content.stream',
    budget,
    choices: choices ?? 1,
    serviceTier,
    weight: weigh(scan, contentMediaKeys, serverTools.filter((path) => !searchless.test(path)).length),
    ...(serverTools.length > 0 ? { serverTools: true } : {}),
    ...(references.length > 0 ? { references } : {}),
  };
}
