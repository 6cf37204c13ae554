import { textTokens } from '#tools/sandbox/content/tokens';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import { base64Of, likeness, vectorOf } from '#tools/sandbox/content/vector';
import {
  type Answer,
  type Dialect,
  freeOfCharge,
  plainFrame,
  type ReceivedRequest,
  whole,
} from '#tools/sandbox/dialect';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';
import { reported } from '#tools/sandbox/scenario/bend';
import {
  errorObject,
  invalidValue,
  missingParameter,
  ProviderFault,
} from '#tools/sandbox/scenario/provider-fault';

const USUAL_DIMENSIONS = 64;
const MOST_INPUTS = 2_048;

/** A request whose answer is one JSON body without any generated text. */
interface InputAsk {
  readonly model: string;
  readonly prompt: string;
  readonly inputTokens: number;
  /** The answer without its usage. */
  readonly body: object;
}

/** Embeddings as api.openai.com returns them, as numbers or in Base64. */
export const embeddings = dialectOf('embeddings', (asked) => {
  const inputs = inputsIn(asked.input, 'input');
  const dimensions = asked.dimensions ?? USUAL_DIMENSIONS;
  if (typeof dimensions !== 'number' || !Number.isInteger(dimensions) || dimensions < 1 || dimensions > 4_096)
    throw invalidValue('dimensions', String(dimensions));
  const data = inputs.map(({ text }, index) => {
    const vector = vectorOf(text, dimensions);
    const embedding = asked.encoding_format === 'base64' ? base64Of(vector) : vector;
    return { object: 'embedding', index, embedding };
  });
  return { inputs, body: { object: 'list', data } };
});

/** Scores of documents, best first, in the shape that rerankers share. */
export const rerank = dialectOf('rerank', (asked) => {
  const [query] = inputsIn(asked.query, 'query');
  const documents = inputsIn(asked.documents, 'documents');
  if (!query) throw missingParameter('query');
  const sought = vectorOf(query.text, USUAL_DIMENSIONS);
  const results = documents
    .map(({ text }, index) => ({
      index,
      relevance_score: text === query.text ? 1 : likeness(sought, vectorOf(text, USUAL_DIMENSIONS)) * 0.9,
      ...(asked.return_documents === true ? { document: { text } } : {}),
    }))
    .sort((one, other) => other.relevance_score - one.relevance_score);
  const top = typeof asked.top_n === 'number' ? asked.top_n : documents.length;
  return { inputs: [query, ...documents], body: { results: results.slice(0, top) } };
});

const harms = ['harassment', 'hate', 'illicit', 'self-harm', 'sexual', 'violence'];
const otherHarms = [
  'harassment/threatening',
  'hate/threatening',
  'illicit/violent',
  'self-harm/instructions',
];
const categories = [...harms, ...otherHarms, 'self-harm/intent', 'sexual/minors', 'violence/graphic'];
/** The same value for each category, except for violence. */
const perCategory = <T>(value: T, violence: T) =>
  Object.fromEntries(categories.map((name) => [name, name === 'violence' ? violence : value]));

/** Categories of harm; text that contains the word FORBIDDEN has one. Its answers report no usage. */
export const moderations = dialectOf(
  'moderations',
  (asked) => {
    const inputs = inputsIn(asked.input, 'input');
    const results = inputs.map(({ text }) => {
      const flagged = text.includes('FORBIDDEN');
      return {
        flagged,
        categories: perCategory(false, flagged),
        category_scores: perCategory(0.01, flagged ? 0.97 : 0.01),
        category_applied_input_types: perCategory(['text'], ['text']),
      };
    });
    return { inputs, body: { results } };
  },
  false,
);

interface Input {
  readonly text: string;
  readonly tokens: number;
}

function dialectOf(
  id: string,
  read: (asked: Record<string, unknown>) => { readonly inputs: readonly Input[]; readonly body: object },
  reports = true,
): Dialect {
  return {
    id,
    handles: (method, path) => method === 'POST' && path === `/${id}`,
    open(seen) {
      const asked = readJson(seen.body);
      if (typeof asked.model !== 'string') throw new ProviderFault(400, 'you must provide a model parameter');
      const { inputs, body } = read(asked);
      const ask: InputAsk = {
        model: asked.model,
        prompt: inputs[0]?.text ?? '',
        inputTokens: inputs.reduce((sum, { tokens }) => sum + tokens, 0),
        body,
      };
      return {
        model: ask.model,
        stream: false,
        prompt: ask.prompt,
        answer: (_base, behaviour) => answerOf(seen, ask, behaviour, reports),
      };
    },
    errorBody: (fault) => JSON.stringify({ error: errorObject(fault, 'invalid_request_error') }),
    errorEvent: (fault) => plainFrame(null, { error: errorObject(fault, 'invalid_request_error') }),
  };
}

function answerOf({ id }: ReceivedRequest, ask: InputAsk, { usage }: Behaviour, reports: boolean): Answer {
  const figures = reported(usage, (bend) => ({
    prompt_tokens: bend(ask.inputTokens),
    total_tokens: bend(ask.inputTokens),
  }));
  const told = reports && figures !== undefined ? { usage: figures } : {};
  return whole({ id, model: ask.model, ...ask.body, ...told }, reports ? figures : undefined, {
    ...freeOfCharge,
    inputTokens: ask.inputTokens,
  });
}

/** A string, a list of strings or parts, a list of tokens, or a list of those. */
function inputsIn(value: unknown, name: string): Input[] {
  if (value === undefined || value === null) throw missingParameter(name);
  const list = Array.isArray(value) && typeof value[0] !== 'number' ? value : [value];
  if (list.length === 0 || list.length > MOST_INPUTS) {
    throw new ProviderFault(400, `'${name}' must have 1 to ${MOST_INPUTS} items.`, 'invalid_value', name);
  }
  return list.map((one: unknown) => {
    if (Array.isArray(one)) return { text: one.join(' '), tokens: one.length };
    const text = typeof one === 'string' ? one : record(one).text;
    if (typeof text !== 'string' || text === '') throw invalidValue(name, String(text));
    return { text, tokens: textTokens(text) };
  });
}
