import {
  describedLimits,
  type Fate,
  type FateByTarget,
  type FieldTable,
  sampled,
  temperatureOfAnthropic,
} from '#lib/core/translation/fates';

/** What the tables of OpenAI's two protocols share. */

export const carried: Fate = { is: 'carried' };
/** Carried with all that is below it. */
export const opaque: Fate = { is: 'carried', opaque: true };
/** Lost unless the value means the same as leaving the field out. */
export const lostUnless = (...same: readonly unknown[]): Fate => ({
  is: 'lost',
  harmless: (value) => same.includes(value),
});
export const lost: Fate = { is: 'lost' };
/** Either of OpenAI's protocols reads it on the way to the other. */
export const toOpenAi = (...same: readonly unknown[]): FateByTarget => {
  return { rest: lostUnless(...same), chat: carried, responses: carried };
};
export const approximated = (how: string): Fate => ({ is: 'approximated', how, opaque: true });

/** @param why a sentence that names the field and says what to send instead. */
export function refused(why: string, harmless?: (value: unknown) => boolean): Fate {
  return harmless ? { is: 'refused', why, harmless } : { is: 'refused', why };
}

export const isOneOf =
  (...values: readonly unknown[]) =>
  (value: unknown) =>
    values.includes(value);

export const thinkingFate: Fate = approximated('kept for models of the maker that signed it');
export const soundFate: FateByTarget = {
  rest: refused('Models of this protocol do not hear sound; send its text instead of "input_audio".'),
  chat: opaque,
  'generate-content': opaque,
};

export const sharedFields: FieldTable = {
  model: carried,
  stream: carried,
  'stream_options.include_obfuscation': lostUnless(false),
  temperature: { rest: carried, responses: sampled, messages: temperatureOfAnthropic },
  top_p: { rest: carried, responses: sampled, messages: sampled },
  parallel_tool_calls: { rest: carried, 'generate-content': lostUnless(true) },
  prompt_cache_key: toOpenAi(),
  prompt_cache_retention: { ...toOpenAi(), responses: sampled },
  safety_identifier: { ...toOpenAi(), messages: approximated('metadata.user_id') },
  user: { ...toOpenAi(), messages: approximated('metadata.user_id') },
  service_tier: toOpenAi('auto', 'default'),
  top_logprobs: refused(
    'Field "top_logprobs" asks for probabilities, which this model does not report; leave it out.',
    isOneOf(0),
  ),
  moderation: lost,
};

/** @param effort where the effort is. */
export function effortFields(effort: string): FieldTable {
  return {
    [effort]: { rest: approximated('thinking of about that effort'), chat: carried, responses: carried },
  };
}

/** @param at the declaration of a function, `custom` that of a tool of plain text. */
export function toolFields(at: string, custom: string): FieldTable {
  const fields: Record<string, FateByTarget> = {
    [`${at}.parameters`]: opaque,
    [`${at}.strict`]: {
      rest: carried,
      messages: sampled,
      'generate-content': approximated('arguments are validated'),
    },
    [`${custom}.format`]: approximated('a sentence in the description'),
  };
  for (const name of ['name', 'description']) fields[`${at}.${name}`] = fields[`${custom}.${name}`] = carried;
  return fields;
}

/** @param at where the schema of the answer is. */
export function formatFields(at: string): FieldTable {
  return {
    [`${at}.name`]: toOpenAi(),
    [`${at}.description`]: toOpenAi(),
    [`${at}.schema`]: { rest: opaque, messages: describedLimits },
    [`${at}.strict`]: toOpenAi(true),
  };
}

/** @param part a part of a message, or a tool. */
export function cacheFields(part: string): FieldTable {
  return {
    [`${part}.cache_control`]: { rest: lost, messages: opaque },
    [`${part}.prompt_cache_breakpoint`]: {
      rest: lost,
      messages: approximated('cache_control'),
      chat: opaque,
      responses: opaque,
    },
  };
}
