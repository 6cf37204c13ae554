/** Bodies as clients send them, built the same way every time: what a long call costs depends on its shape. */
export const shapes = {
  small: { about: 'two short messages', bytes: 0, connections: 32 },
  'turns-105k': { about: '105 KB in 60 messages', bytes: 105_000, connections: 8 },
  'turns-500k': { about: '500 KB in 300 messages', bytes: 500_000, connections: 8 },
  'turns-1m': { about: '1 MiB in 600 messages', bytes: 1024 * 1024, connections: 4 },
  'text-1m': { about: 'one string of 1 MiB', bytes: 1024 * 1024, connections: 4 },
  'tools-1m': { about: '1 MiB of tools with JSON schemas', bytes: 1024 * 1024, connections: 4 },
  'numbers-1m': { about: '1 MiB of numbers of one digit', bytes: 1024 * 1024, connections: 4 },
  'picture-4m': { about: 'a picture of 4 MiB as base64', bytes: 4 * 1024 * 1024, connections: 2 },
} as const;

export type Shape = keyof typeof shapes;

/** A request body for a chat model. @param stream whether a stream is asked for. */
export function requestBody(shape: Shape, model: string, stream: boolean): string {
  const streaming = stream ? { stream: true, stream_options: { include_usage: true } } : {};
  return JSON.stringify({ model, ...contents(shape), max_tokens: 256, temperature: 0.7, ...streaming });
}

function contents(shape: Shape): object {
  const { bytes } = shapes[shape];
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
  switch (shape) {
    case 'small':
      return {
        messages: [
          { role: 'system', content: 'You answer in one paragraph.' },
          { role: 'user', content: question.repeat(2) },
        ],
      };
    case 'turns-105k':
      return { messages: turns(60, bytes) };
    case 'turns-500k':
      return { messages: turns(300, bytes) };
    case 'turns-1m':
      return { messages: turns(600, bytes) };
    case 'text-1m':
      return user(prose(bytes));
    case 'tools-1m':
      return { ...user(question), tools: tools(bytes) };
    case 'numbers-1m':
      return { ...user(question), metadata: Array.from({ length: bytes / 2 }, (_, at) => at % 10) };
    case 'picture-4m': {
      const url = `data:image/png;base64,${'iVBORw0KGgo+/Az9'.repeat(bytes / 16)}`;
      return user([
        { type: 'text', text: question },
        { type: 'image_url', image_url: { url } },
      ]);
    }
  }
}

const question = 'What does a gateway in front of model providers do, and what does it cost in time? ';
const paragraph = `${question}\nIt reads the request once, checks it against "limits" and sends it on:\n\n  const answer = await send(request);\n\n`;

/** Text with line breaks and quotes, as prompts have them. */
function prose(bytes: number): string {
  return paragraph.repeat(Math.ceil(bytes / paragraph.length)).slice(0, bytes);
}

function turns(count: number, bytes: number): object[] {
  const each = Math.round(bytes / count) - 40;
  return Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: prose(each),
  }));
}

function tools(bytes: number): object[] {
  const tool = (at: number) => ({
    type: 'function',
    function: {
      name: `tool_${at}`,
      description: question,
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'Where the file is.' },
          lines: { type: 'array', items: { type: 'integer', minimum: 1 } },
          mode: { type: 'string', enum: ['read', 'write', 'append'] },
        },
        required: ['path'],
        additionalProperties: false,
      },
    },
  });
  const count = Math.round(bytes / JSON.stringify(tool(1000)).length);
  return Array.from({ length: count }, (_, at) => tool(at));
}
