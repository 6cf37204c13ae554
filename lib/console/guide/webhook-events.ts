import { z } from 'zod';
import { webhookEvents } from '#lib/control/alerts/events';

interface Described {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Described[];
  readonly description?: string;
}

/** Every event of webhooks with its `data`, as Markdown, made from the code that raises them. Pure. */
export function webhookEventsInMarkdown(): string {
  return Object.entries(webhookEvents)
    .map(([type, { summary, data, example }]) => {
      const { properties = {}, required = [] } = z.toJSONSchema(data);
      const fields = Object.entries(properties).map(([name, field]) =>
        fieldLine(name, field as Described, required.includes(name)),
      );
      const table = ['| `data` | Type | Meaning |', '|---|---|---|', ...fields].join('\n');
      const shown = JSON.stringify({ type, data: example }, null, 2);
      return [
        `### ${type}`,
        summary,
        ...(fields.length > 0 ? [table] : ['`data` is empty.']),
        `\`\`\`json\n${shown}\n\`\`\``,
      ].join('\n\n');
    })
    .join('\n\n')
    .concat('\n');
}

function fieldLine(name: string, field: Described, required: boolean): string {
  const type = field.anyOf ? field.anyOf.map(typeOf).join(' or ') : typeOf(field);
  return `| \`${name}\` | ${type}${required ? '' : ', optional'} | ${field.description ?? ''} |`;
}

function typeOf({ type, const: only }: Described): string {
  return only === undefined ? (type ?? 'any') : `\`${JSON.stringify(only)}\``;
}
