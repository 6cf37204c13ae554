import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import type { Field } from '#lib/core/translation/field';
import { customTool, functionTool, searchTool, type Tool } from '#lib/core/translation/openai/tools';

/** A tool of the client as its calls name it. */
export interface ClientTool extends JsonObject {
  readonly name: string;
  /** The group that it was declared in; null: none. */
  readonly namespace: string | null;
  /** It takes plain text. */
  readonly custom: boolean;
}

/** Names of search tools that are alike in what they do. */
export const isSearch = (type: unknown) =>
  typeof type === 'string' && /^web_search(_preview)?(_\d{4}_\d\d_\d\d)?$/.test(type);

/** The tools of a request: what the model sees, and by its name what the client calls it. */
export interface Tools {
  readonly declared: Tool[];
  readonly byName: Record<string, ClientTool>;
}

/** @param fields declarations, those that items of the input add included. */
export function readTools(fields: readonly Field[]): Tools {
  const tools: Tools = { declared: [], byName: {} };
  for (const tool of fields) addTool(tool, null, tools);
  return tools;
}

function addTool(tool: Field, namespace: string | null, { declared, byName }: Tools): void {
  const type = tool.get('type');
  if (isSearch(type.value)) declared.push(searchTool(tool));
  // It finds tools that were not declared; all that were are declared at once.
  else if (type.value === 'tool_search') return;
  else if (type.value === 'namespace') {
    for (const one of tool.get('tools').items()) addTool(one, tool.get('name').name(), { declared, byName });
  } else if (type.value === 'function' || type.value === 'custom') {
    const name = tool.get('name').name();
    const custom = type.value === 'custom';
    const seen = joinedName(namespace, name);
    declared.push(custom ? customTool(tool, seen) : functionTool(tool, seen));
    byName[seen] = { name, namespace, custom };
  } else type.refuse('names a tool that only runs at OpenAI; send tools of the type "function" or "custom".');
}

/** A tool of a group as models know it that have no groups. */
export function joinedName(namespace: string | null, name: string): string {
  if (namespace === null) return name;
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
}

/** How the client knows the tool that the model called, from the echo of the request. */
export function clientToolOf(echo: JsonObject, seen: string): ClientTool {
  const tool = objectIn(objectIn(echo.toolsByName)?.[seen]);
  return {
    name: textIn(tool?.name) ?? seen,
    namespace: textIn(tool?.namespace),
    custom: tool?.custom === true,
  };
}

/** Tools that items of the input declare. */
export function addedTools(items: readonly Field[]): readonly Field[] {
  return items
    .filter((item) => item.get('type').value === 'additional_tools')
    .flatMap((item) => (listIn(item.get('tools').value).length > 0 ? item.get('tools').items() : []));
}
