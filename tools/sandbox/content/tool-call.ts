import { valueFor } from '#tools/sandbox/content/schema';

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

/** Arguments that follow the tool's schema, as JSON text. */
export function argumentsFor(tool: Tool, prompt: string): string {
  return JSON.stringify(valueFor({ type: 'object', ...record(tool.parameters) }, prompt));
}

/** An object to look names up in; anything else is read as an empty one. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
