import { type JsonObject, objectIn } from '#lib/core/families/reading/json';
import type { TextProtocol, Unreadable } from '#lib/core/translation/conversation';

/**
 * What becomes of a field in a translated request (docs/decisions/translation.md).
 * `opaque`: carried with everything below it, such as a JSON schema. `harmless`: a value that means the same as
 * leaving the field out, so that nothing is lost.
 */
export type Fate =
  | { readonly is: 'carried'; readonly opaque?: true }
  | { readonly is: 'approximated'; readonly how: string; readonly opaque?: true }
  | { readonly is: 'lost'; readonly harmless?: (value: unknown) => boolean }
  | {
      readonly is: 'refused';
      readonly why: string;
      readonly harmless?: (value: unknown) => boolean;
      /** What an SDK reads of the error to go on another way. */
      readonly details?: JsonObject;
    };

/** The fate on the way to every other protocol, or to some of them with one for the rest. */
export type FateByTarget = Fate | ({ readonly rest: Fate } & Partial<Record<TextProtocol, Fate>>);

/** Fates by path: `messages[].content[].text`; `[]` is any element. A field that no path names is lost. */
export type FieldTable = Readonly<Record<string, FateByTarget>>;

/** Of fields that packages leave out for models that reject them. */
export const sampled: Fate = {
  is: 'approximated',
  how: 'left out, and named, for models that reject it',
  opaque: true,
};

export const temperatureOfAnthropic: Fate = {
  is: 'approximated',
  how: 'at most 1; left out, and named, for models that reject it',
  opaque: true,
};

/** Of a tool that has to be called: packages let models choose that reject that. */
export const forced: Fate = {
  is: 'approximated',
  how: 'left to the model, and named, for models that reject a forced tool',
};

/** Of the format of an answer, which Anthropic has only with a schema. */
export const formatWithSchema: Fate = {
  is: 'approximated',
  how: 'left out, and named, for JSON without a schema',
};

/** Of a schema that Anthropic gets. */
export const describedLimits: Fate = {
  is: 'approximated',
  how: 'objects are closed, and limits that Anthropic has no keyword for become a part of the description',
  opaque: true,
};

/** Of a client whose protocol does not say whether a schema is strict, to OpenAI's protocols. */
export const strictIfPossible: Fate = {
  is: 'approximated',
  how: 'strict if OpenAI accepts it as that',
  opaque: true,
};

/** What a request loses on its way to a protocol. */
export interface Losses {
  /** Paths of fields that are left out, as `messages[].name`, each once, in the order of the body. */
  readonly lost: readonly string[];
  /** The first field whose loss would change the meaning; null: none. */
  readonly refused: Unreadable | null;
}

/** Reads what a body loses on the way to `target`. Every field of the body is looked up, known or not. */
export function findLosses(body: JsonObject, table: FieldTable, target: TextProtocol): Losses {
  const lost = new Set<string>();
  let refused: Unreadable | null = null;
  const visit = (value: unknown, pattern: string, path: string): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) {
      value.forEach((item, index) => {
        visit(item, `${pattern}[]`, `${path}[${index}]`);
      });
      return;
    }
    const object = objectIn(value);
    if (!object) return;
    for (const [name, child] of Object.entries(object)) {
      if (child === null || child === undefined) continue;
      const childPattern = pattern === '' ? name : `${pattern}.${name}`;
      const childPath = path === '' ? name : `${path}.${name}`;
      const fate = fateOf(table, childPattern, target);
      if (fate.is === 'lost' || fate.is === 'refused') {
        if (fate.harmless?.(child)) continue;
        if (fate.is === 'lost') lost.add(childPattern);
        else {
          const { why, details } = fate;
          refused ??= {
            field: childPath,
            message: named(childPath, child, why),
            ...(details && { details }),
          };
        }
      } else if (!fate.opaque) visit(child, childPattern, childPath);
    }
  };
  visit(body, '', '');
  return { lost: [...lost], refused };
}

/** Longest value that a message repeats, characters. */
const MOST_TOLD = 60;

/** Reasons that begin with the field's name stay as they are; the others are put behind it and its value. */
function named(path: string, value: unknown, why: string): string {
  if (why.startsWith('Field ')) return why;
  const told = typeof value === 'string' && value.length <= MOST_TOLD ? ` is ${JSON.stringify(value)}` : '';
  return `Field "${path}"${told}: ${why}`;
}

function fateOf(table: FieldTable, pattern: string, target: TextProtocol): Fate {
  const fate = Object.hasOwn(table, pattern) ? table[pattern] : undefined;
  if (!fate) return { is: 'lost' };
  return 'is' in fate ? fate : (fate[target] ?? fate.rest);
}
