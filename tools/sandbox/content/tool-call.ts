import { valueFor } from '#tools/sandbox/content/schema';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** A declared tool, in a form that all families share. */
export interface Tool {
  readonly name: string;
  readonly parameters: unknown;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** The tool that the answer calls: the chosen one, otherwise one that the prompt names; null: plain text. */
export function chooseTool(tools: readonly Tool[], choice: ToolChoice, prompt: string): Tool | null {
  if (choice === 'none') return null;
  if (typeof choice === 'object') return tools.find((tool) => tool.name === choice.name) ?? null;
  const named = tools.find((tool) => prompt.includes(tool.name));
  return named ?? (choice === 'required' ? (tools[0] ?? null) : null);
}

/** Arguments that follow the tool's schema, as JSON text. */
export function argumentsFor(tool: Tool, prompt: string): string {
  return JSON.stringify(valueFor({ type: 'object', ...record(tool.parameters) }, prompt));
}

/** Arguments as an object; if a budget cut them off, they are not JSON, and the object is empty. */
export function argumentsIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** The JSON object in a body. @param message what the family says if it is not JSON. @throws ProviderFault 400. */
export function readJson(
  body: Buffer,
  message = 'We could not parse the JSON body of your request.',
): Record<string, unknown> {
  try {
    return record(JSON.parse(body.toString('utf8')));
  } catch {
    throw new ProviderFault(400, message);
  }
}

/** An object for looking up names; anything else becomes an empty one. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
