/** A tool as the chat family declares it, and as other families can be read into. */
export interface Tool {
  readonly name: string;
  readonly parameters: unknown;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** The tool that the answer calls: the one chosen, else one that the prompt names; null for plain text. */
export function chooseTool(tools: readonly Tool[], choice: ToolChoice, prompt: string): Tool | null {
  if (choice === 'none') return null;
  if (typeof choice === 'object') return tools.find((tool) => tool.name === choice.name) ?? null;
  const named = tools.find((tool) => prompt.includes(tool.name));
  return named ?? (choice === 'required' ? (tools[0] ?? null) : null);
}

/** Arguments that satisfy a schema's required properties, as JSON text. */
export function argumentsFor(tool: Tool, prompt: string): string {
  const schema = record(tool.parameters);
  const properties = record(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  const entries = required.map((key) => [key, valueFor(record(properties[String(key)]), prompt)]);
  return JSON.stringify(Object.fromEntries(entries));
}

function valueFor(schema: Record<string, unknown>, prompt: string): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.type === 'number' || schema.type === 'integer') return 42;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'array') return [];
  if (schema.type === 'object') return {};
  return `${prompt.slice(0, 24).toWellFormed()} 世界 🌍`;
}

/** An object to look names up in; anything else is read as an empty one. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
