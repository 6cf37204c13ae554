import { isMap, isNode, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';

/** What is wrong with a file, and where. */
export interface Fault {
  /** Path of the file as given. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly message: string;
}

/** A file that was refused; the message names each line at fault. */
export class FileRefused extends Error {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => `${fault.file}:${fault.line}: ${fault.message}`).join('\n'));
    this.name = 'FileRefused';
    this.faults = faults;
  }
}

/** A checked file, and the line of each of its parts. */
export interface Checked<Value> {
  readonly file: string;
  readonly value: Value;
  lineOf(path: readonly PropertyKey[]): number;
}

/**
 * Reads YAML (JSON is a part of it) and checks it against a schema.
 * @param file name for messages; nothing is opened here.
 * @throws FileRefused that names the lines.
 */
export function readDocument<Shape extends z.ZodType>(
  file: string,
  text: string,
  shape: Shape,
): Checked<z.output<Shape>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, strict: true });
  const broken = document.errors.map((error) => ({
    file,
    line: lines.linePos(error.pos[0]).line,
    message: error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'cannot be read',
  }));
  if (broken.length > 0) throw new FileRefused(broken);

  const lineOf = (path: readonly PropertyKey[]): number => {
    for (let depth = path.length; depth >= 0; depth--) {
      const offset = offsetOf(document.contents, path.slice(0, depth));
      if (offset !== null) return lines.linePos(offset).line;
    }
    return 1;
  };
  const checked = shape.safeParse(document.toJS() ?? {}, { reportInput: true });
  if (!checked.success) {
    throw new FileRefused(
      checked.error.issues
        .flatMap((issue) => faultsOf(issue))
        .map(({ path, message }) => ({
          file,
          line: lineOf(path),
          message: path.length > 0 ? `${dotted(path)}: ${message}` : message,
        })),
    );
  }
  return { file, value: checked.data, lineOf };
}

type Issue = z.core.$ZodIssue;
interface Located {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** An unknown key is at fault itself, not the map that contains it. */
function faultsOf(issue: Issue): Located[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      message: 'is not a known key: remove it',
    }));
  }
  if (issue.code === 'invalid_key') {
    return [{ path: issue.path, message: issue.issues[0]?.message ?? issue.message }];
  }
  const missing = 'input' in issue && issue.input === undefined && issue.code !== 'custom';
  return [{ path: issue.path, message: missing ? 'is missing' : issue.message }];
}

/** Offset of the key or item at a path; null when the path leads nowhere. */
function offsetOf(root: unknown, path: readonly PropertyKey[]): number | null {
  if (path.length === 0) return isNode(root) ? (root.range?.[0] ?? null) : null;
  const last = path.at(-1);
  const parent = path.slice(0, -1).reduce<unknown>(step, root);
  if (isMap(parent)) {
    const pair = parent.items.find((item) => String(item.key) === String(last));
    return isNode(pair?.key) ? (pair.key.range?.[0] ?? null) : null;
  }
  const node = step(parent, last ?? '');
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}

function step(node: unknown, key: PropertyKey): unknown {
  if (isMap(node)) return node.items.find((item) => String(item.key) === String(key))?.value;
  if (typeof node === 'object' && node !== null && 'items' in node && Array.isArray(node.items)) {
    return node.items[Number(key)];
  }
  return undefined;
}

/** ["models", 0, "price"] → "models[0].price". */
function dotted(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part),
    '',
  );
}
