import { type JsonObject, listIn, objectIn } from '#lib/core/families/reading/json';

/** A tool that an answer calls. */
export interface CalledTool {
  /** The protocol's own id; its place, if it has none. */
  readonly id: string;
  readonly name: string;
  /** JSON; empty: without arguments. */
  readonly input: string;
}

/** The tools that an answer calls, from its events or its whole body, in any of the four protocols. */
export function calledTools(values: readonly JsonObject[]): CalledTool[] {
  const calls = new Map<string, CalledTool>();
  const add = (key: string, name: unknown, input: string, id?: unknown) => {
    const known = calls.get(key) ?? { id: '', name: '', input: '' };
    calls.set(key, {
      id: known.id || textOf(id),
      name: known.name || textOf(name),
      input: known.input + input,
    });
  };
  for (const [at, event] of values.entries()) {
    const choice = membersOf(listIn(event.choices)[0]);
    for (const [place, call] of listIn(membersOf(choice.delta ?? choice.message).tool_calls).entries()) {
      const { index, id, function: called } = membersOf(call);
      add(`${index ?? place}`, membersOf(called).name, textOf(membersOf(called).arguments), id);
    }
    const outputs = event.type === 'response.output_item.done' ? [event.item] : listIn(event.output);
    for (const item of outputs) {
      const { type, name, arguments: input, call_id: id } = membersOf(item);
      if (type === 'function_call') add(textOf(id), name, textOf(input), id);
    }
    for (const [place, block] of [...listIn(event.content), event.content_block].entries()) {
      const { type, id, name, input } = membersOf(block);
      if (type !== 'tool_use') continue;
      const whole = Object.keys(membersOf(input)).length > 0 ? JSON.stringify(input) : '';
      add(`${event.index ?? place}`, name, whole, id);
    }
    const { partial_json: part } = membersOf(event.delta);
    if (typeof part === 'string') add(`${event.index}`, null, part);
    const parts = listIn(membersOf(membersOf(listIn(event.candidates)[0]).content).parts);
    for (const [place, one] of parts.entries()) {
      const { name, args } = membersOf(membersOf(one).functionCall);
      if (typeof name === 'string') add(`${at} ${place}`, name, JSON.stringify(args ?? {}));
    }
  }
  return [...calls.values()].map((call, place) => ({ ...call, id: call.id || `call_${place}` }));
}

function membersOf(value: unknown): JsonObject {
  return objectIn(value) ?? {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
