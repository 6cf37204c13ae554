import { type Fate, type FieldTable, forced, formatWithSchema } from '#lib/core/translation/fates';
import {
  approximated,
  cacheFields,
  carried,
  effortFields,
  formatFields,
  isOneOf,
  lost,
  lostUnless,
  refused,
  sharedFields,
  soundFate,
  thinkingFate,
  toOpenAi,
  toolFields,
} from '#lib/core/translation/openai/fates';
import { itemTypes } from '#lib/core/translation/responses/read';
import { isSearch } from '#lib/core/translation/responses/tools';

/** Names that OpenAI gives to items; nothing refers to them but items that are refused. */
const itemName: Fate = { is: 'lost', harmless: () => true };
const repeated = approximated('repeated in the answer');

/** What becomes of each field of a request for a response (docs/decisions/translation.md). */
export const fields: FieldTable = {
  ...sharedFields,
  instructions: carried,
  max_output_tokens: carried,
  metadata: repeated,
  stream_options: carried,
  reasoning: carried,
  ...effortFields('reasoning.effort'),
  'reasoning.summary': approximated('thinking as the provider shows it'),
  text: carried,
  'text.format': { rest: carried, messages: formatWithSchema },
  'text.format.type': carried,
  ...formatFields('text.format'),
  'text.verbosity': toOpenAi('medium'),

  input: carried,
  'input[].type': refused(
    'An item of this type is only read by the provider that made it; leave it out of "input".',
    isOneOf(...itemTypes),
  ),
  'input[].id': itemName,
  'input[].status': itemName,
  'input[].role': carried,
  'input[].phase': lost,
  'input[].async': lost,
  'input[].caller': lost,
  'input[].content': carried,
  ...contentFields('input[].content[]'),
  'input[].call_id': carried,
  'input[].name': carried,
  'input[].namespace': approximated('a part of the name of the tool'),
  'input[].arguments': carried,
  'input[].input': approximated('a call of a function with one string'),
  'input[].output': carried,
  ...contentFields('input[].output[]'),
  'input[].summary': thinkingFate,
  'input[].encrypted_content': thinkingFate,
  'input[].action': itemName,
  'input[].tools': approximated('declared from the beginning'),

  tools: carried,
  'tools[].type': {
    rest: refused(
      'A tool of this type only runs at another provider; send tools of the type "function" or "custom".',
      (type) => isSearch(type) || isClientTool(type),
    ),
    chat: refused(
      'A tool of this type only runs at another provider; send tools of the type "function" or "custom".',
      isClientTool,
    ),
  },
  ...toolFields('tools[]', 'tools[]'),
  'tools[].tools': approximated('tools whose names begin with that of the group'),
  'tools[].defer_loading': approximated('declared from the beginning'),
  'tools[].allowed_callers': lost,
  'tools[].async': lost,
  'tools[].output_schema': lost,
  'tools[].search_context_size': approximated("the provider's own search"),
  'tools[].user_location': approximated("the provider's own search"),
  'tools[].filters': approximated("the provider's own search"),
  'tools[].external_web_access': approximated("the provider's own search"),
  tool_choice: { rest: carried, messages: forced },
  'tool_choice.type': carried,
  'tool_choice.name': carried,
  'tool_choice.mode': carried,
  'tool_choice.tools': approximated('only these tools are declared'),
  max_tool_calls: lost,

  include: refused(
    'Field "include" asks for probabilities, which this model does not report; leave "message.output_text.logprobs" out.',
    (value) => Array.isArray(value) && !value.includes('message.output_text.logprobs'),
  ),
  store: lostUnless(false),
  truncation: lostUnless('disabled'),
  prompt_cache_options: lost,
  context_management: lost,
  image: lost,
  access_programs: lost,
  background: refused(
    'Field "background" asks for an answer that can be fetched later, which only its own provider keeps; send false.',
    isOneOf(false),
  ),
  previous_response_id: refused(
    'Field "previous_response_id" names an answer that only its own provider keeps; send its items in "input".',
  ),
  conversation: refused(
    'Field "conversation" names what only its own provider keeps; send the items of the conversation in "input".',
  ),
  prompt: refused(
    'Field "prompt" names a template that only its own provider keeps; send its text as "instructions".',
  ),
};

function isClientTool(type: unknown): boolean {
  return ['function', 'custom', 'namespace', 'tool_search'].some((one) => one === type);
}

/** @param part of a message, or of the result of a tool. */
function contentFields(part: string): FieldTable {
  const stored = refused(
    'Field "file_id" names a file that only one provider keeps; send its content instead.',
  );
  return {
    [`${part}.type`]: carried,
    [`${part}.text`]: carried,
    [`${part}.refusal`]: approximated('text of the answer'),
    [`${part}.annotations`]: itemName,
    [`${part}.logprobs`]: itemName,
    ...cacheFields(part),
    [`${part}.image_url`]: carried,
    [`${part}.detail`]: toOpenAi('auto'),
    [`${part}.file_data`]: carried,
    [`${part}.file_url`]: {
      rest: carried,
      chat: refused(
        'Field "file_url" is not read by models of this protocol; send the content in "file_data".',
      ),
    },
    [`${part}.filename`]: { rest: carried, 'generate-content': lost },
    [`${part}.file_id`]: stored,
    [`${part}.input_audio`]: soundFate,
  };
}
